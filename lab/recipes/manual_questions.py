"""Makes labelled questions of software manuals, by what the manuals hold by themselves.

    python recipes/manual_questions.py MANUALS OUT     # folders MANUALS/PACKAGE, one for each in manual_questions.toml

A heading is a question that its section answers, a sentence "To do X, use Y" one that says where its answer stands, and
so are terms with their meanings, options with their defaults, rows of tables, the words of a link, and the NAME of a
manual page. The passages that the question's words also find, and those around the right one, are the negatives. No
person has judged the labels. The manuals are read and cut as an index reads and cuts them, so that the passages look as
they will at work; half of the questions that repeat a heading take it out of the titles.

Writes `train.jsonl`, and one file for each package whose use is dev, in the format of `surefoot_lab.datasets.pairs`.
"""

import argparse
import json
import logging
import random
import re
import sqlite3
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from manual_wording import JOINT, PLAIN, AskedPassage, ReadManual, questions_of, read
from surefoot.documents import discover
from surefoot.evaluate.ask.questions import hashed
from surefoot.run.store import write_text
from surefoot.text.blocks import parts
from surefoot.text.words import content_words, fold
from surefoot.types import Passage
from surefoot_lab.train.examples import find

_log = logging.getLogger(__name__)

PACKAGES = Path(__file__).with_suffix(".toml")
EACH = 70
"""Questions of one kind and one manual, at most."""
NEGATIVES, DEV_NEGATIVES = 5, 9
"""Passages of a question that do not answer it, at most."""


def reworded(question: str, chance: random.Random) -> str:
    """The question as a person might type it: sometimes in other words, as keywords, or with a slip."""
    if chance.random() < 0.35:
        known = [word for word in PLAIN if re.search(rf"(?<!\w){word}(?!\w)", question)]
        for word in chance.sample(known, min(2, len(known))):
            question = re.sub(rf"(?<!\w){word}(?!\w)", PLAIN[word], question, count=1)
    drawn = chance.random()
    if drawn < 0.18 and len(content_words(question)) > 1:
        question = " ".join(content_words(question))
    elif drawn < 0.4:
        question = question.lower().rstrip("?.")
    elif drawn < 0.8:
        question = question[:1].upper() + question[1:]
    return slipped(question, chance) if chance.random() < 0.06 else question


def slipped(question: str, chance: random.Random) -> str:
    """The question with two letters of a word swapped, or one left out; as it is where no word is long enough."""
    if long := list(re.finditer(r"[A-Za-z]{5,}", question)):
        match = chance.choice(long)
        at = chance.randrange(match.start() + 1, match.end() - 1)
        slip = question[at + 1] + question[at] if chance.random() < 0.5 else question[at]
        question = question[:at] + slip + question[at + 2 :]
    return question


def _search(manual: ReadManual) -> Callable[[str], list[int]]:
    """BM25 over the passages of a manual, titles counting double, as in an index: finds the numbers of the 16 that best
    match a question's words, best first."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE lexicon USING fts5(title, text, tokenize = 'porter unicode61')")
    rows = ((number, passage.title, passage.text) for number, passage in enumerate(manual.passages))
    db.executemany("INSERT INTO lexicon (rowid, title, text) VALUES (?, ?, ?)", rows)
    sql = "SELECT rowid FROM lexicon WHERE lexicon MATCH ? ORDER BY bm25(lexicon, 2.0, 1.0), rowid LIMIT 16"

    def find(question: str) -> list[int]:
        terms = list(dict.fromkeys(re.findall(r"[^\W_]+", " ".join(content_words(question)))))[:32]
        match = " OR ".join(f'"{term}"' for term in terms)
        return [number for (number,) in db.execute(sql, (match,))] if match else []

    return find


def rows(package: str, manual: ReadManual, dev: bool, each: int = EACH, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Questions of a manual with labelled passages: at most `each` of a kind."""
    chance = random.Random(f"{seed} {package}")
    kinds: dict[str, list[AskedPassage]] = defaultdict(list)
    for one in questions_of(manual, chance):
        kinds[one.kind].append(one)
    search = _search(manual)
    seen: set[str] = set()
    for kind, every in kinds.items():
        left = each
        for one in chance.sample(every, len(every))[: each * 2]:
            key = f"{kind} {fold(one.question)}"
            if not left:
                break
            if key in seen or (dev and not one.answers and kind not in ("heading", "faq", "link")):
                continue
            seen.add(key)
            left -= 1
            asked = replace(one, question=reworded(" ".join(one.question.split()), chance))
            page = next(page for page in manual.pages if one.number in page)
            yield {
                "id": f"{package}-{len(seen)}",
                "item": f"{package} {manual.passages[page.start].title}",
                "kind": kind,
                "question": asked.question,
                "answers": list(one.answers),
                "passages": _passages(asked, manual, page, search, dev, chance),
            }


def _passages(
    one: AskedPassage,
    manual: ReadManual,
    page: range,
    search: Callable[[str], list[int]],
    dev: bool,
    chance: random.Random,
) -> list[dict[str, Any]]:
    """The right passage, in nine of ten questions that are learned from, and wrong ones near it, in any order."""
    right = manual.passages[one.number]
    bare = one.repeats and chance.random() < 0.5
    cut = not dev and chance.random() < 0.25
    around = [number for number in range(one.number - 3, one.number + 4) if number in page and number != one.number]
    near, around = (
        [number for number in some if not _may_answer(one, right, manual.passages[number])]
        for some in (search(one.question), around)
    )
    wrong = chance.sample(around, min(len(around), 2))
    # To learn from, not always the nearest, which are the likeliest to be right after all.
    wrong += near if dev else chance.sample(near[:10], min(len(near), 10, NEGATIVES - len(wrong)))
    labels = [] if not dev and chance.random() < 0.1 else [(one.number, 1)]
    labels += [(number, 0) for number in list(dict.fromkeys(wrong))[:DEV_NEGATIVES]]
    found = []
    for number, label in labels:
        passage, answers = manual.passages[number], one.answers if label else ()
        title = passage.title.rpartition(JOINT)[0] or passage.title if bare else passage.title
        text = _strip(passage.text, answers, chance) if cut and (answers or not label) else passage.text
        found.append({"id": passage.id, "title": title, "text": text, "label": label})
    return chance.sample(found, len(found))


def _may_answer(one: AskedPassage, right: Passage, other: Passage) -> bool:
    """True if another passage may answer too: of the same section or one below it, of the same text, or with an answer
    beside the thing that is asked about."""
    if other.title == right.title or other.title.startswith(right.title + JOINT) or other.text == right.text:
        return True
    heading = right.title.rpartition(JOINT)[2]
    if fold(other.title.rpartition(JOINT)[2]) == fold(heading) or (one.repeats and find([heading], other.text)):
        return True
    named = bool(find([one.subject], f"{other.title} {other.text}"))
    if one.answers:
        return bool(find(one.answers, other.text)) and (named or not one.subject or len(one.answers[0]) > 30)
    return named


def _strip(text: str, answers: Sequence[str], chance: random.Random) -> str:
    """One unit of a passage, with the header, term or sentence that leads it: where an answer stands, else any."""
    units = [(unit, part.lead) for part in parts(text) for unit in part.units]
    spans = find(answers, text)
    holding = [(unit, lead) for unit, lead in units if any(unit[0] <= a and b <= unit[1] for a, b in spans)]
    if not units or (answers and not holding):
        return text
    (start, end), lead = chance.choice(holding or units)
    return f"{text[slice(*lead)]}\n{text[start:end]}" if lead else text[start:end]


def made(manuals: Path, package: str, about: dict[str, Any], out: Path) -> list[str]:
    """The lines of a package's questions, from `out` where an earlier run left them."""
    path = out / f"{package}.jsonl"
    if not path.exists():
        wanted = discover.Patterns(tuple(about.get("include", ("*.html",))))
        manual = read(manuals / about.get("path", package), wanted)
        found = rows(package, manual, about.get("use") == "dev", about.get("each", EACH))
        write_text(path, "".join(f"{json.dumps(row)}\n" for row in found))
        _log.info("%s: %d passages", package, len(manual.passages))
    return path.read_text(encoding="utf-8").splitlines(keepends=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files for the packages that are there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("manuals", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--packages", type=Path, default=PACKAGES, help="the packages and their licences")
    inputs = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    learned: list[str] = []
    for package, about in tomllib.loads(inputs.packages.read_text(encoding="utf-8")).items():
        lines = made(inputs.manuals, package, about, inputs.out)
        learned += [] if about.get("use") == "dev" else lines
    # In the order of a hash, so that the first ones are of all packages.
    write_text(inputs.out / "train.jsonl", "".join(sorted(learned, key=hashed)))


if __name__ == "__main__":
    main()
