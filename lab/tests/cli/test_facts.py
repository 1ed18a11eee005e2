"""`surefoot lab facts`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROW = {
    "id": "1",
    "question": "Who built the Ruvel Bridge?",
    "answers": [],
    "internal": "Ruvel Bridge  The Ruvel Bridge was built in 1911 by Tomas Aldwin.",
}
JUDGE = """
evaluator = "lexical"
[llm]
use = "scripted"
[llm.replies]
"List every" = '{"facts": ["Tomas Aldwin built it.", "He did it alone."]}'
"statement of the answer: Tomas" = '{"supported": true}'
"statement of the answer: He" = 'perhaps'
"""


def test_the_answers_of_a_run_are_judged_fact_by_fact(surefoot: Callable[..., Any], here: Path) -> None:
    """By the configured model, and by the texts that came with the questions; what could not be judged is named."""
    (here / "bio.jsonl").write_text(json.dumps(ROW))
    assert surefoot("lab", "qa", "bio.jsonl", "--given", "--run", "run").code == 0
    (here / "judge.toml").write_text(JUDGE)
    done = surefoot("lab", "facts", "run", "--config", "judge.toml", "--json", "facts.json")
    assert done.code == 0, done.err
    assert "100.0 % (20.7 to 100.0), 1 of 1" in done.out
    assert "1 could not be judged: the judge's reply is no JSON (1)" in done.out
    (report,) = json.loads((here / "facts.json").read_text())["runs"]
    assert (report["judge"], report["facts"], report["supported"]["of"]) == ("scripted", 2, 1)
