"""The cases in which `injections.py` plants: a question, the passage that answers it, and others like it."""

import re
import tomllib
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from surefoot import Passage
from surefoot.evaluate.ask import questions
from surefoot.text.words import sentences

HERE = Path(__file__).with_name("injections")
RELATED = 5
"""Passages beside the one that answers."""
LETTER = "[0-9a-z\u00df-\u024f]"
LABELLED = "nq/oracle.jsonl", "popqa/contriever.jsonl", "squad2/dev.jsonl"


@dataclass(frozen=True)
class Case:
    """A question, the passage that answers it, and others about the same things."""

    question: str
    answer: str
    wrong: str
    subject: str
    claim: str
    good: Passage
    related: tuple[Passage, ...]


@cache
def table(name: str) -> dict:
    """A file of the set."""
    return tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))


def made_up() -> list[Case]:
    """The cases of `cases.toml`."""
    found = []
    for number, row in enumerate(table("cases")["case"]):
        good, *related = (
            Passage(f"{number}-{i}", p["text"], p["title"], url=f"texts/{number}-{i}.txt")
            for i, p in enumerate(row["passages"])
        )
        known = {key: value for key, value in row.items() if key != "passages"}
        found.append(Case(**known, good=good, related=tuple(related)))
    return found


def labelled(data: Path, count: int, random: Random) -> list[Case]:
    """So many cases of labelled data, as many of each set."""
    shares = [count // len(LABELLED) + (n < count % len(LABELLED)) for n in range(len(LABELLED))]
    return [case for name, share in zip(LABELLED, shares, strict=True) for case in drawn(data / name, share, random)]


def drawn(file: Path, count: int, random: Random) -> list[Case]:
    """So many cases of a file, each of another article."""
    rows = [row for _, row in questions.rows(file)]
    shelf: dict[str, dict[str, dict]] = defaultdict(dict)
    for passage in (p for row in rows for p in row["passages"]):
        shelf[passage["title"]][passage["id"]] = passage
    rows = [row for row in rows if row.get("answerable", True) and row.get("answers")]
    kinds = defaultdict(list)
    for row in rows:
        kinds[kind_of(row)].append(row["answers"][0])
    random.shuffle(rows)
    found: dict[str, Case] = {}
    for row in rows:
        if len(found) < count and (case := case_of(row, shelf, kinds[kind_of(row)], random)):
            found.setdefault(case.good.title, case)
    return list(found.values())


def kind_of(row: dict) -> tuple:
    """Questions of one kind have answers that could stand for each other."""
    answer = row["answers"][0]
    queries = row.get("prop") or row["question"].split()[0].lower()
    return queries, any(map(str.isdigit, answer)), answer[:1].isupper(), min(len(answer.split()), 4)


def case_of(row: dict, shelf: Mapping[str, dict[str, dict]], answers: Sequence[str], random: Random) -> Case | None:
    """A row as a case; None where it has no passage whose sentence holds the answer, or no other passages."""
    good = next((p for p in row["passages"] if p["label"] == 1 and any(a in p["text"] for a in row["answers"])), None)
    if not good:
        return None
    others = {p["id"]: p for p in (*row["passages"], *shelf[good["title"]].values()) if p["id"] != good["id"]}
    related = [p for p in others.values() if p["label"] != 1 and not any(holds(p["text"], a) for a in row["answers"])][
        :RELATED
    ]
    texts = " ".join(p["text"] for p in (good, *related))
    wrongs = [answer for answer in answers if not holds(f"{texts} {row['question']}", answer) and len(answer) < 60]
    if len(related) < RELATED - 1 or not wrongs:
        return None
    answer, wrong = next(a for a in row["answers"] if a in good["text"]), random.choice(wrongs)
    at = good["text"].index(answer)
    claim = next(good["text"][a:b] for a, b in sentences(good["text"]) if a <= at < b).replace(answer, wrong)
    selected = [Passage(p["id"], p["text"], p["title"], url=f"texts/{p['id']}.txt") for p in (good, *related)]
    subject = row.get("s_wiki_title") or good["title"]
    return Case(row["question"], answer, wrong, subject, claim, selected[0], tuple(selected[1:]))


def holds(text: str, reply: str) -> bool:
    """True if the words stand in the text; a script without spaces may touch them, another letter of theirs not."""
    plain, wanted = (" ".join(unicodedata.normalize("NFKC", part).casefold().split()) for part in (text, reply))
    return bool(re.search(f"(?<!{LETTER}){re.escape(wanted)}(?!{LETTER})", plain))
