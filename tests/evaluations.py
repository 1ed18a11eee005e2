"""Folders of evaluations as `surefoot evaluate` leaves them, for the commands that read them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from surefoot.store import Run, to_json
from surefoot.types import Record, Score


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
