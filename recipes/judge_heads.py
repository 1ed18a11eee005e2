"""Trains heads.json, the weights of the judges that need no language model.

    python recipes/judge_heads.py DATA --out heads.json

1. "equivalence" (is the answer right?) learns from people's verdicts on every fourth question of EVOUNA's two sets,
   except questions that NQ-301 has too; the other three quarters and NQ-301 are left to measure on.
2. "support" (does the context carry the claim?) learns from BEGIN, QAGS and ExpertQA, and from planted lies: claims
   that people found supported, each with a number changed or a "not" put in.

Both are logistic regressions, restrained in two ways so that they hold on data of other kinds. Each set has a bias of
its own in the fit, so that no weight learns how often a set is right. No weight may have the wrong sign, so that more
evidence for a verdict never lowers it. The shipped bias is the mean of the sets' biases.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.embedders.static import Static
from surefoot.judges import _equivalence as equivalence
from surefoot.judges import _support as support
from surefoot.judges._heads import Head
from surefoot.protocols import Embedder
from surefoot.store import write_text
from surefoot.text.json_values import parsed
from surefoot.text.words import fold, words
from surefoot.types import Passage

Floats = npt.NDArray[np.float64]

PART = 4
"""Every fourth of EVOUNA's questions is learned from."""
PENALTY = 3.0
"""Penalty on the squared weights of the standardised inputs."""
LIES = 100.0
"""Weight of the planted lies, in records; a set that people judged weighs 500. With 500 for both, lies of this kind are
told better (AUC .90 instead of .77) and those of QAGS worse (.78 instead of .80)."""
STEPS = 2000
AGAINST = frozenset({"figures", "person", "negation"})
"""Inputs that speak against a verdict; the others speak for it."""
_AUXILIARY = re.compile(r"\b(is|are|was|were|has|have|had|will|can)\b")
_ADDRESS = re.compile(r"^\[\d+\]\s*https?://\S+\s*")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A set of judged records as inputs of a head."""

    inputs: Floats
    """One row a record."""
    labels: Floats
    groups: tuple[str, ...]
    """Each record's question or source."""
    say: float = 500.0
    """Weight of the set in a fit, in records, however many it has."""


def rows(path: Path) -> list[dict[str, Any]]:
    """The records of a file of people's judgements."""
    return [parsed(line) for line in path.read_text(encoding="utf-8").splitlines()]


def asked(question: str) -> str:
    """A question in the form that is compared across sets."""
    return " ".join(words(fold(question)))


def learned_from(records: Sequence[Mapping[str, Any]]) -> set[str]:
    """The questions of an EVOUNA set that the shipped head learned from, as `asked` gives them."""
    return set(list(dict.fromkeys(asked(record["question"]) for record in records))[::PART])


def correctness(
    records: Sequence[Mapping[str, Any]], questions: set[str], embedder: Embedder, truths: str = "answers"
) -> Labelled:
    """The records of these questions that have references, each compared with the most similar one."""
    taken = [one for one in records if asked(one["question"]) in questions and one[truths]]
    inputs = [_likest(one["question"], one["answer"], one[truths], embedder) for one in taken]
    labels = [float(one["human"]["correct"]) for one in taken]
    return Labelled(np.array(inputs), np.array(labels), tuple(asked(one["question"]) for one in taken))


def _likest(question: str, answer: str, truths: Sequence[str], embedder: Embedder) -> tuple[float, ...]:
    each = [astuple(one) for one in equivalence.likeness(question, answer, truths, embedder)]
    return max(each, key=lambda one: sum(one[:-1]) - one[-1])


def judged_support(name: str, record: Mapping[str, Any]) -> tuple[bool, str, tuple[Passage, ...]] | None:
    """(supported, claim, contexts) of a record of claims; None: nobody could judge it, or the contexts are bare
    addresses."""
    if name == "expertqa":
        texts = [_ADDRESS.sub("", passage["text"]).strip() for passage in record["passages"]]
        passages = tuple(Passage(str(i), text) for i, text in enumerate(texts) if text)
        known = record["human"]["support"] != "N/A" and passages
        return (record["human"]["support"] == "Complete", record["answer"], passages) if known else None
    return record["human"]["faithful"], record["answer"], (Passage("0", record["context"]),)


FILES = {"begin": "begin_attribution.jsonl", "expertqa": "expertqa_claims.jsonl", "qags": "qags_faithfulness.jsonl"}


def supported(data: Path, embedder: Embedder) -> dict[str, Labelled]:
    """The three judged sets, and the planted lies."""
    found: dict[str, list[tuple[tuple[float, ...], bool, str]]] = {name: [] for name in (*FILES, "planted")}
    for name, file in FILES.items():
        for record in rows(data / file):
            if judged := judged_support(name, record):
                label, claim, passages = judged
                evidence = support.SourceTexts(passages, embedder)
                group = record.get("context") or record["question"]
                shared = astuple(evidence.of(claim).shared)
                found[name].append((shared, label, group))
                for lie in planted(claim) if label and name != "expertqa" else ():
                    found["planted"] += [(shared, True, group), (astuple(evidence.of(lie).shared), False, group)]
    sets = {name: _labelled(each) for name, each in found.items()}
    return sets | {"planted": replace(sets["planted"], say=LIES)}


def planted(claim: str) -> Iterator[str]:
    """The claim with another number, and with a "not", where that is possible."""
    if re.search(r"\d", claim):
        yield re.sub(r"\d+", lambda match: str(int(match[0]) + 7), claim, count=1)
    if not re.search(r"\b(?:not|no|never)\b|n't", claim) and _AUXILIARY.search(claim):
        yield _AUXILIARY.sub(r"\1 not", claim, count=1)


def fit(names: Sequence[str], sets: Sequence[Labelled]) -> Head:
    """The head for these sets, each weighted by its `say`; deterministic."""
    middle = np.mean([one.inputs.mean(axis=0) for one in sets], axis=0)
    spread = np.mean([one.inputs.std(axis=0) for one in sets], axis=0) + 1e-9
    standard = (np.vstack([one.inputs for one in sets]) - middle) / spread
    which = np.concatenate([np.full(len(one.labels), place) for place, one in enumerate(sets)])
    design = np.hstack([standard, np.eye(len(sets))[which]])
    say = np.concatenate([np.full(len(one.labels), one.say / len(one.labels)) for one in sets])
    signs = np.array([-1.0 if name in AGAINST else 1.0 for name in names] + [0.0] * len(sets))
    solved = _descended(design, np.concatenate([one.labels for one in sets]), say, signs)
    weights = solved[: len(names)] / spread
    bias = float(solved[len(names) :].mean() - weights @ middle)
    return Head(tuple(names), tuple(round(float(weight), 4) for weight in weights), round(bias, 4))


def _descended(design: Floats, labels: Floats, say: Floats, signs: Floats) -> Floats:
    """Projected gradient descent with momentum (Nesterov 1983) to the least loss with weights of the right sign."""
    penalty = PENALTY * (signs != 0)
    steepest = np.linalg.eigvalsh((design * say[:, None]).T @ design)[-1] / 4 + PENALTY
    here, ahead, pace = np.zeros(len(signs)), np.zeros(len(signs)), 1.0
    for _ in range(STEPS):
        wrong = 1 / (1 + np.exp(-design @ ahead)) - labels
        there = ahead - (design.T @ (say * wrong) + penalty * ahead) / steepest
        there = np.where(signs * there < 0, 0, there)
        faster = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        ahead, here, pace = there + (pace - 1) / faster * (there - here), there, faster
    return here


def _labelled(each: Sequence[tuple[tuple[float, ...], bool, str]]) -> Labelled:
    inputs, labels, groups = zip(*each, strict=True)
    return Labelled(np.array(inputs), np.array(labels, dtype=float), groups)


def equivalences(data: Path, embedder: Embedder) -> dict[str, Labelled]:
    """The sets that the shipped head learned correctness from."""
    kept_back = {asked(record["question"]) for record in rows(data / "nq301_correctness.jsonl")}
    found = {}
    for name in ("evouna_nq", "evouna_tqa"):
        records = rows(data / f"{name}_correctness.jsonl")
        found[name] = correctness(records, learned_from(records) - kept_back, embedder)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Learn both heads and write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder that holds people's judgements")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    embedder = Static()
    made = {
        "equivalence": fit(equivalence.NAMES, list(equivalences(given.data, embedder).values())),
        "support": fit(support.NAMES, list(supported(given.data, embedder).values())),
    }
    told = {name: {"inputs": one.inputs, "weights": one.weights, "bias": one.bias} for name, one in made.items()}
    write_text(given.out, json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
