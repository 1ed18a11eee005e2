"""Folders of evaluations as `surefoot evaluate` leaves them, and diagnoses in the form that a model is asked for."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from surefoot.evaluate.report.form import TEXTS
from surefoot.run.store import Run, to_json
from surefoot.types import Diagnosis, Record, Score


def written(folder: Path, values: Mapping[str, Sequence[float | None]], judge: str = "j") -> Path:
    """Records r0, r1, …, and a score of each metric for each; None: unscored. The domain is law or food by turns."""
    length = max(map(len, values.values()))
    records = [Record(f"r{n}", f"question {n}?", tags={"domain": ("law", "food")[n % 2]}) for n in range(length)]
    folder.mkdir()
    (folder / "records.jsonl").write_text("".join(json.dumps(to_json(record)) + "\n" for record in records))
    run = Run(folder, {"what": "evaluation"}, file="scores.jsonl")
    for metric, all_of_it in values.items():
        for n, one in enumerate(all_of_it):
            missing = "" if one is not None else "timed out"
            run.add(f"r{n}\t{metric}", Score(f"r{n}", metric, one, unscored_because=missing, judge=judge))
    return folder


def as_report(diagnosis: Diagnosis) -> dict[str, Any]:
    """The diagnosis as the report object that `form.violations` checks."""
    items = [{name: getattr(item, name) for name in ("priority", *TEXTS)} for item in diagnosis.items]
    tops = ("executive_summary", "executive_summary_gist", "strategic_conclusion")
    return {"insights": items, **{name: getattr(diagnosis, name) for name in tops}}
