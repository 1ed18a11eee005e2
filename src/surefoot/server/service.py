"""All that the endpoints share, and what a request may see of it."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from surefoot.server.conversations import Conversations
from surefoot.server.feedback import Feedback
from surefoot.server.jobs import Jobs
from surefoot.server.keys import COLLECTION, Key
from surefoot.server.library import Library
from surefoot.server.metrics import Metrics
from surefoot.server.problems import missing
from surefoot.server.settings import ServerSettings
from surefoot.server.traces import Traces
from surefoot.server.workers import Workers


@dataclass(frozen=True, slots=True)
class Service:
    """The parts of a running server."""

    settings: ServerSettings
    library: Library
    workers: Workers
    jobs: Jobs
    traces: Traces
    conversations: Conversations
    feedback: Feedback
    metrics: Metrics


def service(request: Request) -> Service:
    """The server that this request came to."""
    return request.app.state.service  # type: ignore[no-any-return]


def inside(request: Request) -> bool:
    """Whether the request comes from this machine, to a server that asks nobody for a key."""
    return request.state.key is None


def visible(request: Request) -> tuple[str, ...]:
    """The collections that a request may see, the one first that is meant where none is named. Where `?collection=`
    names one, that alone. Raises Problem for a foreign one just as for one that is not there."""
    named = request.query_params.get("collection")
    if named is not None:
        return (chosen(request, named),)
    return opened(service(request), request.state.key)


def opened(here: Service, key: Key | None) -> tuple[str, ...]:
    """The collections that a key opens, the one first that is meant where none is named; without a key, all."""
    return here.library.names() if key is None else key.collections


def chosen(request: Request, named: str | None, *, new: bool = False) -> str:
    """The collection that a request names, or that is meant where it names none; `new`: it need not be there yet.

    Raises Problem for a foreign one just as for one that is not there.
    """
    return meant(service(request), request.state.key, named, new=new)


def meant(here: Service, key: Key | None, named: str | None, *, new: bool = False) -> str:
    """`chosen`, by the key itself."""
    if key is not None:
        name = named or key.collections[0]
        allowed = name in key.collections
    else:
        name = named or here.library.default
        allowed = bool(COLLECTION.fullmatch(name)) and (new or here.library.has(name))
    if not allowed:
        raise missing("collection")
    return name
