"""Official files of the papers' data sets, as rows of the shared format: one module a publisher.

They are recognised by what is in them. They read what somebody has downloaded and fetch nothing; what is amiss is
repaired where that is safe, and counted; no question is left out.
"""

from __future__ import annotations

from pathlib import Path

from surefoot.evaluate.problems import Problems, Row
from surefoot.types.errors import UsageError
from surefoot_lab.datasets import crag, selfrag

KNOWN = {
    "popqa_longtail_w_gs.jsonl": selfrag.HOME,
    "arc_challenge_processed.jsonl": selfrag.HOME,
    "health_claims_processed.jsonl": selfrag.HOME,
    "factscore_unlabeled_alpaca_13b_retrieval.jsonl": selfrag.HOME,
    "eval_data": selfrag.HOME,
    "popqa": crag.HOME,
    "arc_challenge": crag.HOME,
    "pubqa": crag.HOME,
    "bio": crag.HOME,
}
"""Names of downloaded files and their sources, for the error when such a file is missing."""


def official(path: Path, problems: Problems) -> tuple[str, list[Row]] | None:
    """The name of the data and their questions as rows of the shared format; None: this is no official file.

    Raises UsageError for one that is not there, with where to get it, and for a folder of several sets.
    """
    if not path.exists() and path.name in KNOWN:
        raise UsageError(f"{path} is not there, and nothing is fetched; it comes with {KNOWN[path.name]}")
    if path.is_dir():
        if crag.recognises(path):
            return crag.NAME, crag.rows(path, problems)
        raise UsageError(_several(path))
    name = selfrag.recognised(path)
    return (f"{name} of Self-RAG", selfrag.rows(path, name, problems)) if name else None


def _several(folder: Path) -> str:
    parts = [str(part) for part in sorted(folder.iterdir()) if _one(part)]
    if parts:
        return f"{folder} holds several sets of questions; give one of them: {', '.join(parts)}"
    return f"{folder} holds no questions that are known here; there are those of {selfrag.HOME} and of {crag.HOME}"


def _one(part: Path) -> bool:
    return crag.recognises(part) if part.is_dir() else selfrag.recognised(part) is not None
