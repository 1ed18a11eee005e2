"""Questions spread over the machines of a Ray cluster, with the same results as on one."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util.actor_pool import ActorPool

from surefoot.evaluate.ask.questions import Example
from surefoot.evaluate.ask.runs import Arm, Spread, answered
from surefoot.pipeline import Pipeline
from surefoot.types import Trace
from surefoot.types.errors import UsageError

CHUNK = 4
"""Questions for a worker at a time: few, since a worker that fails loses them."""
RETRIES = 3
"""Restarts of a lost worker, each with its questions."""


class _Worker:
    """A process that builds its own pipeline, since a pipeline cannot travel."""

    def __init__(self, build: Callable[[], Pipeline]) -> None:
        self.pipeline = build()

    def ask(self, arm: Arm, examples: Sequence[Example]) -> list[tuple[str, Trace]]:
        return [(example.id, answered(self.pipeline, arm, example)) for example in examples]


@contextmanager
def workers(address: str, build: Callable[[], Pipeline]) -> Iterator[Spread]:
    """A worker with its own pipeline for each processor of the cluster at this address: "host:port", or "auto" for this
    machine's own cluster.

    `build` runs there, so every machine needs Surefoot, and the files that `build` reads (index, models) at the same
    path. Raises UsageError where there is no cluster, or no pipeline can be built on it.
    """
    try:
        _knock(address)
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RayError, ValueError, RuntimeError) as error:
        raise UsageError(f"no Ray cluster at {address}: {_line(error)}; start one with: ray start --head") from error
    try:
        count = max(1, int(ray.cluster_resources().get("CPU", 1)))
        remote = ray.remote(num_cpus=1, max_restarts=RETRIES, max_task_retries=RETRIES)(_Worker)
        pool = ActorPool([remote.remote(build) for _ in range(count)])
        yield lambda arm, examples: _spread(pool, arm, examples)
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Raises OSError where nobody listens: Ray by itself would try for many minutes."""
    host, _, port = address.rpartition(":")
    if host:
        socket.create_connection((host, int(port)), timeout=10).close()


def _spread(pool: Any, arm: Arm, examples: Sequence[Example]) -> Iterator[tuple[str, Trace]]:
    chunks = [examples[start : start + CHUNK] for start in range(0, len(examples), CHUNK)]
    try:
        for found in pool.map_unordered(lambda worker, chunk: worker.ask.remote(arm, chunk), chunks):
            yield from found
    except RayError as error:
        raise UsageError(f"the cluster could not go on: {_line(error)}; what was answered is kept") from error


def _line(error: Exception) -> str:
    """The last line of Ray's message, below the remote traceback: it names the cause."""
    return (str(error).strip().splitlines() or [type(error).__name__])[-1].rstrip(":")
