"""`POST /feedback`."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from surefoot.index.storage import now
from surefoot.server.bodies import body
from surefoot.server.feedback import Mark
from surefoot.server.problems import invalid, missing
from surefoot.server.questions import found
from surefoot.server.service import service, visible

LONGEST = 2000
"""Characters of a reason, at most."""


async def post_feedback(request: Request) -> Response:
    """Keep what a user thinks of an answer (`useful`) or of one of its passages (`passage`, `answers`); null takes it
    back."""
    here = service(request)
    mark = await body(request, Mark, here.settings.body_bytes)
    if mark.useful is not None if mark.passage else mark.answers is not None:
        raise invalid("send `useful` for an answer, or `passage` and `answers` for one of its passages")
    if len(mark.reason) > LONGEST:
        raise invalid(f"`reason` has {len(mark.reason):,} characters, and at most {LONGEST:,} are kept; shorten it")
    collection, trace = await asyncio.to_thread(found, here, visible(request), mark.trace)
    if mark.passage is not None and mark.passage not in {one.id for one in (*trace.passages, *trace.external)}:
        raise missing("passage")
    kept = Mark(mark.trace, mark.useful, mark.passage, mark.answers, mark.reason, now())
    await asyncio.to_thread(here.feedback.add, collection, trace, kept)
    return Response(status_code=204)


ROUTES = [Route("/feedback", post_feedback, methods=["POST"])]
