"""`POST /feedback`."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter

from surefoot.index.storage import now
from surefoot.server.feedback import Mark
from surefoot.server.problems import invalid, missing
from surefoot.server.request_bodies import JsonRoute
from surefoot.server.service import RequestCaller

router = APIRouter(route_class=JsonRoute)
LONGEST = 2000
"""Characters of a reason, at most."""


@router.post("/feedback", status_code=204)
def post_feedback(mark: Mark, caller: RequestCaller) -> None:
    """Store a user's opinion of an answer (`useful`) or of one of its passages (`passage`, `answers`); null takes it
    back."""
    if mark.useful is not None if mark.passage else mark.answers is not None:
        raise invalid("send `useful` for an answer, or `passage` and `answers` for one of its passages")
    if len(mark.reason) > LONGEST:
        raise invalid(f"`reason` has {len(mark.reason):,} characters, and at most {LONGEST:,} are stored; shorten it")
    collection, trace = caller.trace(mark.trace)
    if mark.passage is not None and mark.passage not in {one.id for one in (*trace.passages, *trace.external)}:
        raise missing("passage")
    caller.service.feedback.add(collection, trace, replace(mark, at=now()))
