"""`/evaluations`: the runs of `surefoot evaluate`, for the page of whoever sits at this machine.

A run is of no collection, so that no key can open one: they are shown only where nobody needs a key.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from surefoot.evaluate.report.page import page, policy, read
from surefoot.server.problems import missing
from surefoot.server.replies import HTML
from surefoot.server.service import Caller, RequestCaller
from surefoot.types.errors import SurefootError

router = APIRouter()


@router.get("/evaluations")
def get_evaluations(caller: RequestCaller) -> dict[str, Any]:
    """List the evaluations below the folder of runs, the latest first."""
    lines = [line for run in _runs(caller) if (line := _line(run))]
    return {"evaluations": sorted(lines, key=lambda line: line["created"], reverse=True)}


def _line(run: Path) -> dict[str, Any] | None:
    try:
        contents = read(run)
    except SurefootError:  # half written, or damaged; `surefoot view` says why
        return None
    created = str(contents.about.get("created", ""))
    return {"name": run.name, "created": created, "records": len(contents.records), "summaries": contents.summaries}


@router.get("/evaluations/{name}", response_class=Response, responses=HTML)
def get_evaluation(name: str, caller: RequestCaller) -> Response:
    """Return the page of one evaluation, for a frame of the page."""
    run = next((run for run in _runs(caller) if run.name == name), None)
    if run is None:
        raise missing("evaluation")
    headers = {"Content-Security-Policy": f"{policy()}; frame-ancestors 'self'"}
    return Response(page(read(run)), media_type="text/html; charset=utf-8", headers=headers)


def _runs(caller: Caller) -> Iterator[Path]:
    """The folders of the evaluations that this client may see."""
    if caller.trusted_client:
        yield from (file.parent for file in Path(caller.service.settings.runs).glob("*/records.jsonl"))
