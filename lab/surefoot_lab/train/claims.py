"""The verifier's examples: claims with the evidence to judge them by, labelled by people or made by rules.

Every file is divided by document, by a hash of the evidence: `train` is learned from, `fit` is for choices and
calibration, `test` only measures. No example shares a long sentence of its evidence with the other two.
"""

import json
import random
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from surefoot.evaluate.ask.questions import rows
from surefoot.run import manifest
from surefoot.types.errors import UsageError
from surefoot_lab.train.examples import Row, TrainingExample, long_sentences, normal, percentile, sections
from surefoot_lab.train.statements import Asked, statements

Part = Literal["train", "fit", "test"]
PARTS: tuple[Part, ...] = get_args(Part)

SHIPPED = Path(__file__).with_name("verifier.toml")
"""The sets that the shipped weights learned from, and those that measure them."""
FORMS = ("support", "begin", "expertqa", "qags", "questions")
"""Formats of files: labelled claims; the judge files of these names; and questions with passages, of which claims are
made."""
SPOKEN = 0.4
BARE = 8
"""Words of a claim without a full stop up to which it is no sentence."""
UNREAD = ("indonli", "ocnli", "farstail")
"""Sets in languages that the vocabulary does not hold; no choice is made by them."""

_TALK: dict[str, list[str]] = tomllib.loads(Path(__file__).with_name("talk.toml").read_text(encoding="utf-8"))


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
    positive: float = 1.0
    rate: float | None = None
    answers: bool = True

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise ValueError(f"form of {self.name} cannot be {self.form!r}; there are: {', '.join(FORMS)}")

    @property
    def decides(self) -> bool:
        """True for claims that people labelled, and that the vocabulary can read: choices are made by them."""
        return self.form != "questions" and self.name not in UNREAD


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
        self.claims: dict[Part, dict[str, list[TrainingExample]]] = {key: {} for key in PARTS}
        files = {source.file: data / f"{source.file}.jsonl" for source in listed}
        self.about = {
            "sets": [asdict(source) for source in listed],
            "data": {f"{name}.jsonl": manifest.fingerprint(path) for name, path in files.items()},
        }
        for source in listed:
            for key, some in _divided(files[source.file], source).items():
                self.claims[key][source.name] = some
        measured = [c for name in ("fit", "test") for some in self.claims[name].values() for c in some]
        held = {key for claim in measured for key in long_sentences(claim.evidence)}
        for source in listed:
            some = self.claims["train"][source.name] if source.learn else []
            self.claims["train"][source.name] = [c for c in some if held.isdisjoint(long_sentences(c.evidence))]

    def examples(self, seed: int) -> list[TrainingExample]:
        """One pass over what is to be learned, the same for the same seed: each set cut to its `most`, so many copies.

        The made ones come sooner on average, and those that people labelled later.
        """
        chance = random.Random(seed)  # noqa: S311
        keyed: list[tuple[float, TrainingExample]] = []
        for source in self.listed:
            some = self.claims["train"][source.name]
            picked = chance.sample(some, min(source.most or len(some), len(some)))
            late = 0.0 if source.form == "questions" else 0.4
            copied = [claim for claim in picked for _ in range(source.copies)]
            keyed += [(chance.random() + late, spoken(claim, chance)) for claim in copied]
        return [claim for _, claim in sorted(keyed, key=lambda pair: pair[0])]


def spoken(claim: TrainingExample, chance: random.Random) -> TrainingExample:
    """The claim as it is or, for a share `SPOKEN`, in the words that an answer would put around it (talk.toml), some
    around others."""
    while chance.random() < SPOKEN:
        whole = claim.text.rstrip(" .")
        bare = whole == claim.text.strip() and len(whole.split()) <= BARE
        before, after = chance.choice(_TALK["around"] + _TALK["answers"] * bare).split("{}")
        spans = claim.spans and tuple((len(before) + a, len(before) + min(b, len(whole))) for a, b in claim.spans)
        claim = replace(claim, text=f"{before}{whole}{after}", spans=spans)
    return claim


def _divided(path: Path, source: ClaimSource) -> dict[Part, list[TrainingExample]]:
    """The claims of a file, weighted, by part."""
    found: dict[Part, list[TrainingExample]] = {key: [] for key in PARTS}
    if source.form == "questions":
        for key in PARTS:
            found[key] += statements(_asked(path, key), source.name, source.answers)
    else:
        for _, row in rows(path):
            mine = source.form != "support" or row["set"] == source.name
            if mine and (claim := _claim(row, source.form)):
                found[part(claim.evidence)].append(claim)
    return {
        key: [replace(one, weight=source.positive) if one.label else one for one in some] for key, some in found.items()
    }


def _asked(path: Path, wanted: Part) -> Iterator[Asked]:
    """Question, answers and passages of each row, with the passages of this part alone."""
    for _, row in rows(path):
        passages = [(p.get("title") or "", p["text"], p.get("label")) for p in row.get("passages", ())]
        mine = [p for p in passages if part(p[1]) == wanted]
        if mine:
            reply = [str(row["long_answer"])] if row.get("long_answer") else [str(a) for a in row.get("answers", ())]
            yield row["question"], reply, mine


def _claim(row: Row, form: str) -> TrainingExample | None:
    """The claim of a row; None where nobody could judge it."""
    if form == "support":
        label = int(row["label"])
        marked = tuple((int(a), int(b)) for a, b in row.get("spans") or ()) or None
        context = str(row.get("question") or row.get("context") or "")
        return TrainingExample(row["claim"], context, row["evidence"], label, () if label else marked)
    if form == "expertqa":
        if row["human"]["support"] == "N/A" or not row["passages"]:
            return None
        label = int(row["human"]["support"] == "Complete")
        evidence = "\n\n".join(p["text"] for p in row["passages"])
    else:
        label, evidence = int(row["human"]["faithful"]), row["context"]
    context = "" if form == "qags" else row["question"]
    return TrainingExample(row["answer"], context, evidence, label, () if label else None)


def read(path: Path, limit: int | None = None) -> dict[str, list[TrainingExample]]:
    """The claims of a file in the format of the support files, by their set; at most so many of each, drawn at random.

    Raises UsageError for a file that is missing or of another format.
    """
    found: dict[str, list[TrainingExample]] = {}
    for number, row in rows(path):
        try:
            claim = _claim(row, "support")
            found.setdefault(str(row["set"]), []).extend([claim] if claim else [])
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"{path}, line {number} is no labelled claim: {error!r}") from error
    chance = random.Random(0)  # noqa: S311
    return {name: chance.sample(some, min(limit or len(some), len(some))) for name, some in found.items()}


def lines(claims: Iterable[TrainingExample], name: str) -> str:
    """The claims in the format of the support files, a line each."""
    found = []
    for i, one in enumerate(claims):
        row = {"id": f"{name}-{i}", "set": name, "question": one.context, "evidence": one.evidence, "claim": one.text}
        found.append({**row, "label": one.label, **({"spans": one.spans} if one.spans else {})})
    return "".join(json.dumps(row) + "\n" for row in found)
