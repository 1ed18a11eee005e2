"""Are the conflicts that are shown conflicts, and are those that are there shown?

    python benchmarks/conflicts.py DATA [--each 120] [--half fit] [--grades FILE] [--show]

Pairs of passages of one question, the first as of the corpus and the second as from outside. Made by rules from
labelled passages of PopQA and Natural Questions, each passage beside one that is the same but for
- another answer: that of another question of the same relation, or the number moved (a conflict);
- a negation in the sentence that answers (a conflict);
- the last sentence, footnotes, or an alias for the answer (none).

Natural, as they stand in the data: two passages that both hold an answer (none); a report and the one in which people
changed what it says (RGB, a conflict). A passage that is graded INCORRECT is not kept, as in the pipeline, so that
nothing in it conflicts.

`--half` takes the questions whose id hashes so: the rule was chosen on `fit`. `--grades` keeps the grades in a file,
for another run over the same pairs; `--show` prints each pair that is judged wrongly.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import surefoot
from surefoot.evaluate.ask.questions import hashed, rows
from surefoot.evidence.merge import conflicts
from surefoot.run.store import from_json, to_json
from surefoot.stats.figures import wilson
from surefoot.text.words import fold, sentences
from surefoot.types import Action, Conflict, Grade, Passage, Strip

MADE = ("popqa/wikidata_paragraphs", "popqa/e5", "nq/oracle")
NATURAL = ("nq/e5", "popqa/e5", "popqa/contriever", "hotpotqa/dev_distractor", "rgb/en_fact")
VERB = re.compile(r"\b(is|was|are|were|has|had|did|does|will|can)\b")
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PassagePair:
    """Two passages of a question, and whether they answer it differently."""

    kind: str
    question: str
    one: Passage
    other: Passage
    differ: bool
    half: str


def place(answer: str, text: str) -> re.Match[str] | None:
    return re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text)


def answering(row: Row) -> Iterator[tuple[Row, str]]:
    """Passages that hold an answer, with that answer as they have it, where it is longer than three letters."""
    for one in row.get("passages", []):
        if one.get("label") == 1:
            found = next((a for a in row["answers"] if len(a) > 3 and place(a, one["text"])), None)
            if found:
                yield one, found


def moved(answer: str, chance: random.Random) -> str | None:
    """The answer with its last number changed; None where it has none."""
    numbers = [*re.finditer(r"\d+", answer)]
    if not numbers:
        return None
    last = numbers[-1]
    return f"{answer[: last.start()]}{int(last[0]) + chance.randint(3, 20)}{answer[last.end() :]}"


def pair(kind: str, row: Row, one: Row, text: str, differ: bool, title: str | None = None) -> PassagePair:
    half = "fit" if hashed(str(row["id"]))[0] % 2 else "test"
    own = Passage("corpus", one["text"], one["title"] or "")
    return PassagePair(
        kind,
        row["question"],
        own,
        Passage("outside", text, own.title if title is None else title, "external"),
        differ,
        half,
    )


def constructed(data: Path, chance: random.Random) -> Iterator[PassagePair]:
    for name in MADE:
        every = [row for _, row in rows(data / f"{name}.jsonl") if row.get("answers")]
        rivals = defaultdict(list)
        for row in every:
            rivals[row.get("prop", "")].append(row["answers"][0])
        for row in every:
            for one, answer in list(answering(row))[:1]:
                yield from changed(row, one, answer, rivals[row.get("prop", "")] if row.get("prop") else [], chance)


def changed(row: Row, one: Row, answer: str, rivals: list[str], chance: random.Random) -> Iterator[PassagePair]:
    text = one["text"]
    there = place(answer, text)
    assert there
    golds = " ".join(map(fold, row["answers"]))
    other = moved(answer, chance) or next(
        (r for r in chance.sample(rivals, len(rivals)) if not set(fold(r).split()) & set(golds.split())), None
    )
    if other:
        swapped = re.sub(rf"(?<!\w){re.escape(answer)}(?!\w)", lambda _: other, text)
        kind = "another number" if re.search(r"\d", answer) else "another name"
        yield pair(kind, row, one, swapped, differ=True)
    sentence = next(((a, b) for a, b in sentences(text) if a <= there.start() < b), None)
    if sentence and (verb := VERB.search(text, sentence[0], sentence[1])):
        yield pair("a negation", row, one, f"{text[: verb.end()]} not{text[verb.end() :]}", differ=True)
    ranges = sentences(text)
    if len(ranges) > 1 and there.end() <= ranges[-1][0]:
        yield pair("last sentence cut", row, one, text[: ranges[-1][0]].rstrip(), differ=False)
    yield pair("footnotes", row, one, text.replace(". ", ".[1] ").replace(", ", " , "), differ=False)
    alias = next((a for a in row["answers"] if fold(a) != fold(answer) and len(a) > 3), None)
    if alias:
        yield pair("an alias", row, one, text[: there.start()] + alias + text[there.end() :], differ=False)


def natural(data: Path) -> Iterator[PassagePair]:
    for name in NATURAL:
        for _, row in rows(data / f"{name}.jsonl"):
            good = [p for p in row.get("passages", []) if p.get("label") == 1]
            if len(good) > 1 and good[0]["text"] != good[1]["text"]:
                yield pair(f"two of {name}", row, good[0], good[1]["text"], differ=False, title=good[1]["title"] or "")
            false = [p for p in row.get("passages", []) if p.get("source") == "rgb-counterfactual"]
            if good and false:
                yield pair("a changed report", row, good[0], false[0]["text"], differ=True)


def drawn(pairs: list[PassagePair], each: int, chance: random.Random) -> list[PassagePair]:
    """At most so many of each kind."""
    kinds = defaultdict(list)
    for one in pairs:
        kinds[one.kind].append(one)
    return [one for some in kinds.values() for one in chance.sample(some, min(each, len(some)))]


def graded(pairs: list[PassagePair], file: Path | None) -> list[tuple[Grade, ...]]:
    known: dict[str, Any] = json.loads(file.read_text()) if file and file.exists() else {}
    found = []
    for one in pairs:
        key = hashed(f"{one.question}\n{one.one.text}\n{one.other.title}\n{one.other.text}", 16).hex()
        if key not in known:
            known[key] = to_json(surefoot.grade(one.question, [one.one, one.other]))
        found.append(tuple(from_json(Grade, grade) for grade in known[key]))
    if file:
        file.write_text(json.dumps(known))
    return found


def shown(one: PassagePair, grades: tuple[Grade, ...]) -> tuple[Conflict, ...]:
    passages = (one.one, one.other)
    strips = [
        Strip(p.id, 0, len(p.text), p.text, None, kept=True)
        for p, grade in zip(passages, grades, strict=True)
        if grade.label not in (None, Action.INCORRECT)
    ]
    return conflicts(passages, grades, strips)


def share(count: int, of: int) -> str:
    interval = wilson(count, of)
    if interval is None:
        return "–"
    return f"{count / of:.1%} [{interval[0]:.1%}, {interval[1]:.1%}] ({count} of {of})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--each", type=int, default=120, help="pairs of a kind, at most, over both halves")
    parser.add_argument("--half", choices=["fit", "test"])
    parser.add_argument("--grades", type=Path)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    chance = random.Random(0)
    for origin, every in (("constructed", constructed(given.data, chance)), ("natural", natural(given.data))):
        pairs = [p for p in drawn([*every], given.each, chance) if given.half in (None, p.half)]
        told = [shown(*both) for both in zip(pairs, graded(pairs, given.grades), strict=True)]
        kinds, counts = (
            Counter(p.kind for p in pairs),
            Counter(p.kind for p, found in zip(pairs, told, strict=True) if found),
        )
        differ = {p.kind: p.differ for p in pairs}
        hits, false = (sum(counts[kind] for kind in kinds if differ[kind] is is_one) for is_one in (True, False))
        real = sum(kinds[kind] for kind in kinds if differ[kind])
        print(f"\n{origin}, {len(pairs)} pairs\n\n| pairs | a conflict? | shown |\n| --- | --- | --- |")
        for kind, of in kinds.items():
            print(f"| {kind} | {'yes' if differ[kind] else 'no'} | {share(counts[kind], of)} |")
        print(f"\nprecision {share(hits, hits + false)}; recall {share(hits, real)}; ", end="")
        print(f"false alarms {share(false, len(pairs) - real)}")
        for p, found in zip(pairs, told, strict=True) if given.show else ():
            if bool(found) is not p.differ:
                said = [(one.local_says, one.external_says) for one in found]
                print(f"  {p.kind}: {p.question} | {p.one.title} | {p.other.title} | {said or p.one.text[:150]}")


if __name__ == "__main__":
    main()
