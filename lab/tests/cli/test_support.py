"""`surefoot lab verifier`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

EVIDENCE = "The Ruvel Bridge was built in 1911 by Tomas Aldwin. It is of iron."
CLAIMS = [
    {"set": "bridge", "evidence": EVIDENCE, "claim": "Tomas Aldwin built the Ruvel Bridge in 1911.", "label": 1},
    {"set": "bridge", "evidence": EVIDENCE, "claim": "Anna Kreel built it.", "label": 0, "spans": [[0, 10]]},
    {"set": "other", "evidence": EVIDENCE, "claim": "It is of iron.", "label": 1},
]


def test_the_figures_of_each_set_are_shown_and_written(indexed: Callable[..., Any], here: Path) -> None:
    """AUC beside shared words, precision, open verdicts and words; the same as JSON."""
    (here / "claims.jsonl").write_text("".join(json.dumps(row) + "\n" for row in CLAIMS))
    done = indexed("lab", "verifier", "claims.jsonl", "--json", "report.json", "--set", "verifier.use=lexical")
    assert done.code == 0
    assert "ROUGE-L" in done.out
    assert any(line.split()[:3] == ["bridge", "2", ".500"] for line in done.out.splitlines())
    report = json.loads((here / "report.json").read_text())
    ranked, verdicts = report["ranking"], report["verdicts"]
    assert report["verifier"] == "lexical"
    assert [row["set"] for row in ranked] == ["bridge", "other", "mean"]
    assert (ranked[0]["ROC-AUC"]["value"], bool(ranked[1]["ROC-AUC"]["undefined"])) == (1.0, True)
    assert (verdicts[0]["supported, and is"]["count"], verdicts[0]["words F1"]) == (1, 1.0)
