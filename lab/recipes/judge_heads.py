"""Trains heads.json, the weights of the judges that need no language model.

    python recipes/judge_heads.py DATA --out heads.json

1. "equivalence" (is the answer right?) learns from people's verdicts on every fourth question of EVOUNA's two sets,
   except questions that NQ-301 has too; the other three quarters and NQ-301 are left to measure on.
2. "support" (does the context carry the claim?) learns from BEGIN, QAGS and ExpertQA, and from planted lies: claims
   that people found supported, each with a number changed or a "not" put in.

Both are logistic regressions, made by `surefoot.stats.calibration.fit`.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.embedders.static import Static
from surefoot.judges import _equivalence as equivalence, _support as support
from surefoot.run.store import write_text
from surefoot.text.json_values import parsed
from surefoot.text.words import fold, words
from surefoot.types import Passage
from surefoot.types.protocols import Embedder
from surefoot_lab.heads import Labelled, fit

PART = 4
"""Every fourth of EVOUNA's questions is learned from."""
LIES = 100.0
"""Weight of the planted lies, in records; a set that people judged weighs 500. With 500 for both, lies of this kind are
told better (AUC .90 instead of .77) and those of QAGS worse (.78 instead of .80)."""
AGAINST = frozenset({"figures", "person", "negation"})
"""Inputs that speak against a verdict; the others speak for it."""
_AUXILIARY = re.compile(r"\b(is|are|was|were|has|have|had|will|can)\b")
_ADDRESS = re.compile(r"^\[\d+\]\s*https?://\S+\s*")


def rows(path: Path) -> list[dict[str, Any]]:
    """The records of a file of people's judgements."""
    return [parsed(line) for line in path.read_text(encoding="utf-8").splitlines()]


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


def _labelled(each: Sequence[tuple[tuple[float, ...], bool, str]]) -> Labelled:
    inputs, labels, groups = zip(*each, strict=True)
    return Labelled(np.array(inputs), np.array(labels, dtype=float), groups)


def equivalences(data: Path, embedder: Embedder) -> list[Labelled]:
    """The sets that the shipped head learned correctness from."""
    kept_back = {question_key(record["question"]) for record in rows(data / "nq301_correctness.jsonl")}
    each = [rows(data / f"{name}_correctness.jsonl") for name in ("evouna_nq", "evouna_tqa")]
    return [correctness(records, learned_from(records) - kept_back, embedder) for records in each]


def main(arguments: Sequence[str] | None = None) -> None:
    """Learn both heads and write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder that holds people's judgements")
    parser.add_argument("--out", type=Path, required=True)
    inputs = parser.parse_args(arguments)
    embedder = Static()
    made = {
        "equivalence": fit(equivalence.NAMES, equivalences(inputs.data, embedder), AGAINST),
        "support": fit(support.NAMES, list(supported(inputs.data, embedder).values()), AGAINST),
    }
    results = {name: {"inputs": one.inputs, "weights": one.weights, "bias": one.bias} for name, one in made.items()}
    write_text(inputs.out, json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
