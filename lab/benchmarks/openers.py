"""Do openers and offers of help change what counts as an answer's claims?

    python benchmarks/openers.py DATA

DATA holds judge/evouna_nq_correctness.jsonl and support/*.jsonl, in the formats of those sets.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from surefoot.judges._support import claims
from surefoot.text.openers import claiming

BEFORE = (
    "Sure, here is the answer:",
    "Sure! Here's what I found:",
    "Certainly! Here is the answer to your question.",
)
BEHIND = ("Let me know if you have any other questions.", "I hope that helps!")
ANSWERS = 300


def main(data: Path) -> None:
    """Print for each phrase how many answers claim something else with it, and then the claims taken for none."""
    rows = map(json.loads, (data / "judge/evouna_nq_correctness.jsonl").open(encoding="utf-8"))
    correct = [row["answer"].rstrip(". ") for row in rows if row["human"]["correct"] and row["answer"].strip()]
    right = correct[:ANSWERS]
    for phrase in (*BEFORE, *BEHIND):
        said = [f"{phrase} {one}." if phrase in BEFORE else f"{one}. {phrase}" for one in right]
        changed = sum(claims(one) != claims(f"{bare}.") for one, bare in zip(said, right, strict=True))
        print(f"{phrase}: other claims in {changed} of {len(right)}")
    taken, total = Counter[int](), 0
    for path in sorted((data / "support").glob("*.jsonl")):
        for row in map(json.loads, path.open(encoding="utf-8")):
            total += 1
            if not claiming(row["claim"]):
                taken[row["label"]] += 1
                print(f"  {row['label']} {row['claim']}")
    print(f"of {total:,} labelled claims taken for none: {taken[1]} with label 1, {taken[0]} with label 0")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
