"""The verifier's lessons: sentences with the evidence to judge them by, labelled by people or made by rules.

Every file is divided by document, by a hash of the evidence: `train` is learned from, `fit` is for choices and
calibration, `test` only measures. No lesson shares a long sentence of its evidence with the other two.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from surefoot.evaluate.ask.questions import rows
from surefoot.run import manifest
from surefoot.types.errors import UsageError
from surefoot_lab.train.sources import Row, Spans, long_sentences, normal, percentile, sections
from surefoot_lab.train.statements import MadeStatement, Passage, statements

Part = Literal["train", "fit", "test"]
PARTS: tuple[Part, ...] = get_args(Part)

SHIPPED = Path(__file__).with_name("verifier.toml")
"""The sets that the shipped weights learned from, and those that measure them."""
FORMS = ("support", "begin", "expertqa", "qags", "questions")
"""Formats of files: labelled claims; the judge files of these names; and questions with passages, of which claims are
made."""


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A sentence, the evidence to judge it by, and whether that carries it."""

    text: str
    context: str
    """The question, or the sentences before; empty where there is none."""
    evidence: str
    label: int
    """1: the evidence carries all of it."""
    spans: Spans | None
    """Its unsupported words; empty: there are none; None: unknown."""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class ClaimSource:
    """A section of verifier.toml, where its keys are explained. Raises ValueError for an impossible value."""

    name: str
    file: str
    licence: str
    form: str = "support"
    learn: bool = False
    most: int | None = None
    copies: int = 1
    weight: float = 1.0
    positive: float = 1.0
    rate: float | None = None
    answers: bool = True

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise ValueError(f"form of {self.name} cannot be {self.form!r}; there are: {', '.join(FORMS)}")


def sources(path: Path = SHIPPED) -> list[ClaimSource]:
    """The sections of a file of sets. Raises ConfigError for an unknown key or value."""
    return sections(path, "sets", lambda name, keys: ClaimSource(name, **keys))


@cache
def part(evidence: str) -> Part:
    """The use of a document, by a hash of its text: 70 of 100 to learn from, 10 to fit, 20 to measure."""
    share = percentile(normal(evidence))
    return "test" if share < 20 else "fit" if share < 30 else "train"


class ClaimSets:
    """The claims of all files, by part and set. Raises UsageError for a file that is missing or of another format."""

    def __init__(self, data: Path, listed: Sequence[ClaimSource]) -> None:
        self.listed = tuple(listed)
        self.claims: dict[Part, dict[str, list[LabelledClaim]]] = {key: {} for key in PARTS}
        self.about = {
            "sets": [asdict(source) for source in listed],
            "data": {f"{s.file}.jsonl": manifest.fingerprint(data / f"{s.file}.jsonl") for s in listed},
        }
        for source in listed:
            for key, some in _divided(data / f"{source.file}.jsonl", source).items():
                self.claims[key][source.name] = some
        measured = [c for name in ("fit", "test") for some in self.claims[name].values() for c in some]
        held = {key for claim in measured for key in long_sentences(claim.evidence)}
        train = self.claims["train"]
        for source in listed:
            if source.name in train:
                some = train[source.name] if source.learn else []
                train[source.name] = [c for c in some if held.isdisjoint(long_sentences(c.evidence))]

    def lessons(self, seed: int) -> list[LabelledClaim]:
        """One pass over what is to be learned, the same for the same seed: each set cut to its `most`, so many copies.

        The made ones come sooner on average, and those that people labelled later.
        """
        chance = random.Random(seed)  # noqa: S311
        keyed: list[tuple[float, LabelledClaim]] = []
        for source in self.listed:
            some = self.claims["train"].get(source.name, [])
            picked = chance.sample(some, min(source.most or len(some), len(some)))
            late = 0.0 if source.form == "questions" else 0.4
            keyed += [(chance.random() + late, claim) for claim in picked for _ in range(source.copies)]
        return [claim for _, claim in sorted(keyed, key=lambda pair: pair[0])]


def _divided(path: Path, source: ClaimSource) -> dict[Part, list[LabelledClaim]]:
    """The claims of a file, by part."""
    if source.form == "questions":
        return {
            key: [_made(one, source) for one in statements(_asked(path, key), source.name, source.answers)]
            for key in PARTS
        }
    reader = {"support": _support, "begin": _begin, "expertqa": _expertqa, "qags": _qags}[source.form]
    found: dict[Part, list[LabelledClaim]] = {key: [] for key in PARTS}
    for _, row in rows(path):
        if claim := reader(row, source.name):
            found[part(claim.evidence)].append(_weighted(claim, source))
    return found


def _weighted(claim: LabelledClaim, source: ClaimSource) -> LabelledClaim:
    return replace(claim, weight=source.weight * (source.positive if claim.label else 1.0))


def _made(statement: MadeStatement, source: ClaimSource) -> LabelledClaim:
    one = LabelledClaim(statement.text, statement.question, statement.evidence, statement.label, statement.spans)
    return _weighted(one, source)


def _asked(path: Path, wanted: Part) -> Iterator[tuple[str, list[str], list[Passage]]]:
    """Question, answers and passages of each row, with the passages of this part alone."""
    for _, row in rows(path):
        passages = [(p.get("title") or "", p["text"], p.get("label")) for p in row.get("passages", ())]
        mine = [p for p in passages if part(p[1]) == wanted]
        if mine:
            reply = [str(row["long_answer"])] if row.get("long_answer") else [str(a) for a in row.get("answers", ())]
            yield row["question"], reply, mine


def _support(row: Row, name: str) -> LabelledClaim | None:
    if row["set"] != name:
        return None
    label = int(row["label"])
    marked = tuple((int(a), int(b)) for a, b in row.get("spans") or ())
    spans: Spans | None = () if label else marked or None
    return LabelledClaim(row["claim"], _context(row), row["evidence"], label, spans)


def _context(row: Mapping[str, Any]) -> str:
    """The question; the sentences before, where there is none."""
    return str(row.get("question") or row.get("context") or "")


def _begin(row: Row, name: str) -> LabelledClaim | None:
    label = int(row["human"]["faithful"])
    return LabelledClaim(row["answer"], row["question"], row["context"], label, () if label else None)


def _expertqa(row: Row, name: str) -> LabelledClaim | None:
    if row["human"]["support"] == "N/A" or not row["passages"]:
        return None
    label = int(row["human"]["support"] == "Complete")
    evidence = "\n\n".join(p["text"] for p in row["passages"])
    return LabelledClaim(row["answer"], row["question"], evidence, label, () if label else None)


def _qags(row: Row, name: str) -> LabelledClaim | None:
    label = int(row["human"]["faithful"])
    return LabelledClaim(row["answer"], "", row["context"], label, () if label else None)


def read(path: Path, limit: int | None = None) -> dict[str, list[LabelledClaim]]:
    """The claims of a file in the format of the support files, by their set; at most so many of each, drawn at random.

    Raises UsageError for a file that is missing or of another format.
    """
    found: dict[str, list[LabelledClaim]] = {}
    for number, row in rows(path):
        try:
            claim = _support(row, row["set"])
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"{path}, line {number} is no labelled claim: {error!r}") from error
        found.setdefault(str(row["set"]), []).extend([claim] if claim else [])
    chance = random.Random(0)  # noqa: S311
    return {name: chance.sample(some, min(limit or len(some), len(some))) for name, some in found.items()}


def lines(claims: Iterable[LabelledClaim], name: str) -> str:
    """The claims in the format of the support files, a line each."""
    return "".join(
        json.dumps({"id": f"{name}-{i}", "set": name, "question": c.context, "evidence": c.evidence, "claim": c.text,
                    "label": c.label, **({"spans": c.spans} if c.spans else {})}) + "\n"
        for i, c in enumerate(claims)
    )  # fmt: skip
