"""`/evaluations`: the runs of `surefoot evaluate`, for the page of whoever sits at this machine.

A run is of no collection, so that no key can open one: they are shown only where nobody needs a key.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from surefoot.evaluate.report.page import page, policy, read
from surefoot.server.problems import missing
from surefoot.server.service import inside, service
from surefoot.types.errors import SurefootError


async def get_evaluations(request: Request) -> Response:
    """The evaluations below the folder of runs, the latest first."""
    return JSONResponse({"evaluations": await asyncio.to_thread(_listed, _folder(request))})


def _listed(folder: Path | None) -> list[dict[str, Any]]:
    found = [line for place in (_runs(folder) if folder else ()) if (line := _line(place))]
    return sorted(found, key=lambda line: line["created"], reverse=True)


def _runs(folder: Path) -> list[Path]:
    return [place.parent for place in folder.glob("*/records.jsonl")]


def _line(place: Path) -> dict[str, Any] | None:
    try:
        contents = read(place)
    except SurefootError:  # half written, or damaged; `surefoot view` says why
        return None
    created = str(contents.about.get("created", ""))
    return {"name": place.name, "created": created, "records": len(contents.records), "summaries": contents.summaries}


async def get_evaluation(request: Request) -> Response:
    """The page of one evaluation, for a frame of the page."""
    folder, name = _folder(request), request.path_params["name"]
    if folder is None or name not in {place.name for place in _runs(folder)}:
        raise missing("evaluation")
    text = await asyncio.to_thread(lambda: page(read(folder / name)))
    headers = {"Content-Security-Policy": f"{policy()}; frame-ancestors 'self'"}
    return Response(text, media_type="text/html; charset=utf-8", headers=headers)


def _folder(request: Request) -> Path | None:
    """The folder of runs; None: this request may not see them."""
    return Path(service(request).settings.runs) if inside(request) else None


ROUTES = [
    Route("/evaluations", get_evaluations, methods=["GET"]),
    Route("/evaluations/{name}", get_evaluation, methods=["GET"]),
]
