"""Trains head.json, the weights by which the judge of factuality compares an answer with a short reference.

    python recipes/judge_heads.py DATA --out head.json

A logistic regression, made by `surefoot_lab.heads.fit`. It learns from people's verdicts on every fourth question of
EVOUNA's two sets, except questions that NQ-301 has too; the other three quarters and NQ-301 are left to measure on.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.embedders.static import Static
from surefoot.evaluate.ask import questions
from surefoot.judges import _equivalence as equivalence
from surefoot.run.store import write_text
from surefoot.text.words import fold, words
from surefoot.types.protocols import Embedder
from surefoot_lab.heads import Labelled, fit

PART = 4
"""Every fourth of EVOUNA's questions is learned from."""
AGAINST = frozenset({"figures"})
"""Inputs that speak against a verdict; the others speak for it."""


def rows(path: Path) -> list[dict[str, Any]]:
    """The records of a file of people's judgements."""
    return [row for _, row in questions.rows(path)]


def question_key(question: str) -> str:
    """A question in the form that is compared across sets."""
    return " ".join(words(fold(question)))


def learned_from(records: Sequence[Mapping[str, Any]]) -> set[str]:
    """The questions of an EVOUNA set that the shipped head learned from, as `question_key` gives them."""
    return set(list(dict.fromkeys(question_key(record["question"]) for record in records))[::PART])


def correctness(records: Sequence[Mapping[str, Any]], questions: set[str], embedder: Embedder) -> Labelled:
    """The records of these questions that have references, each compared with the most similar one."""
    taken = [one for one in records if question_key(one["question"]) in questions and one["answers"]]
    inputs = [_likest(one["question"], one["answer"], one["answers"], embedder) for one in taken]
    return _labelled(
        [(i, one["human"]["correct"], question_key(one["question"])) for i, one in zip(inputs, taken, strict=True)]
    )


def _likest(question: str, answer: str, truths: Sequence[str], embedder: Embedder) -> tuple[float, ...]:
    each = [astuple(one) for one in equivalence.likeness(question, answer, truths, embedder)]
    return max(each, key=lambda one: sum(one[:-1]) - one[-1])


def _labelled(each: Sequence[tuple[tuple[float, ...], bool, str]]) -> Labelled:
    inputs, labels, groups = zip(*each, strict=True)
    return Labelled(np.array(inputs), np.array(labels, dtype=float), groups)


def equivalences(data: Path, embedder: Embedder) -> list[Labelled]:
    """The sets that the shipped head learned correctness from."""
    kept_back = {question_key(record["question"]) for record in rows(data / "nq301_correctness.jsonl")}
    each = [rows(data / f"{name}_correctness.jsonl") for name in ("evouna_nq", "evouna_tqa")]
    return [correctness(records, learned_from(records) - kept_back, embedder) for records in each]


def main(arguments: Sequence[str] | None = None) -> None:
    """Learn the head and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder that holds people's judgements")
    parser.add_argument("--out", type=Path, required=True)
    inputs = parser.parse_args(arguments)
    made = fit(equivalence.NAMES, equivalences(inputs.data, Static()), AGAINST)
    results = {"inputs": made.inputs, "weights": made.weights, "bias": made.bias}
    write_text(inputs.out, json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
