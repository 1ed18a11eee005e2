"""A RAG system of any make, asked by a command or an address: JSON in, JSON out, with the levers that its user names.

It gets `{"question": …, "config": {lever: value, …}}` and answers `{"answer": …, "contexts": […]}`, or `{"error": …}`.
A command reads such lines on standard input and writes a line for each; it may go on or end after any answer. An
address gets each question as a POST. Fields may have any name that `surefoot evaluate` reads.
"""

import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Timer
from typing import IO, Any
from urllib.parse import urlsplit

from surefoot.config.settings import Config, read_file
from surefoot.evaluate.ask.questions import Example, hashed
from surefoot.evaluate.ask.runs import Arm, Spread
from surefoot.evaluate.diagnose.remedies import Levers
from surefoot.evaluate.diagnose.settings import SYSTEM
from surefoot.evaluate.improve.plan import ImprovementPlan
from surefoot.evaluate.patch import Patch
from surefoot.evaluate.problems import Problems
from surefoot.evaluate.records import rows
from surefoot.network import Network
from surefoot.run.recorder import Recorder
from surefoot.text import toml_values
from surefoot.text.json_values import parsed, spelled
from surefoot.types import Answer, Step, Trace
from surefoot.types.errors import SurefootError, UsageError

Ask = Callable[[Any], Any]
"""Asks with a value of JSON, and gives one. Raises SurefootError, OSError or ValueError."""
PATIENCE = 120.0
"""Seconds for one answer."""
LONGEST_REASON = 300
"""Characters of the reason of a failure."""


@dataclass(frozen=True, slots=True)
class ForeignSystem:
    """A system behind a command or an http(s) address, with its levers: the first value of each is in effect."""

    target: str
    levers: Levers
    ask: Ask

    @property
    def config(self) -> Config:
        """The values in effect."""
        return {SYSTEM: {key: values[0] for key, values in self.named.items()}}

    @property
    def named(self) -> dict[str, Sequence[Any]]:
        """The levers' values by their names."""
        return {key: values for (_, key), values in self.levers.items()}

    @property
    def about(self) -> dict[str, Any]:
        """What a run records of it; of the command, which may hold a key, only a hash."""
        return {"system": hashed(self.target, 16).hex(), "levers": {k: [*values] for k, values in self.named.items()}}

    def changed(self, config: Config, patch: Patch, outside: bool = False) -> Config:
        """The configuration with the patch. Raises UsageError for what is no value of a lever, and for no change."""
        for key, value in ((key, value) for of in patch.values() for key, value in of.items()):
            if value not in self.levers.get((SYSTEM, key), ()):
                raise UsageError(f"the levers have no {key} = {toml_values.spelled(value)}")
        made = {SYSTEM: {**config[SYSTEM], **patch.get(SYSTEM, {})}}
        if made == config:
            raise UsageError("it changes nothing: all of it is set so already")
        return made

    @contextmanager
    def spreading(self, config: Config) -> Iterator[Spread]:
        """Asks one question after the other with this configuration."""

        def spread(arm: Arm, examples: Sequence[Example]) -> Iterator[tuple[str, Trace]]:
            return ((one.id, _trace(self.ask, one.question, config)) for one in examples)

        yield spread


@contextmanager
def opened(target: str, levers: Levers, allow: Sequence[str] = ("*",)) -> Iterator[ForeignSystem]:
    """The system at work: one process of a command answers under all configurations. `allow`: the hosts that may be
    asked, as `[network]` has them."""
    if urlsplit(target).scheme in ("http", "https"):
        yield ForeignSystem(target, levers, _posting(target, allow))
        return
    with tempfile.TemporaryFile() as complaints:
        running = _Command(target, complaints)
        try:
            yield ForeignSystem(target, levers, running.ask)
        finally:
            running.end()


@contextmanager
def of_system(plan: ImprovementPlan, target: str, levers: Path) -> Iterator[ImprovementPlan]:
    """The plan for another system, which is at work meanwhile, with the levers of a file in place of our settings.
    Raises UsageError for a file that is not as `levers_of` takes it."""
    with opened(target, levers_of(levers), plan.config["network"]["allow"]) as theirs:
        yield replace(
            plan,
            config=theirs.config,
            spreading=theirs.spreading,
            about={**plan.about, **theirs.about},
            levers=theirs.levers,
            change=theirs.changed,
        )


def levers_of(path: Path) -> Levers:
    """The levers of a TOML file: names, each with the list of its values. Raises UsageError."""
    found = read_file(path)
    if unfit := [name for name, values in found.items() if not isinstance(values, list) or len(values) < 2]:
        raise UsageError(f"{path}: {unfit[0]} must be a list of two values or more, the one in effect first")
    return {(SYSTEM, name): tuple(values) for name, values in found.items()}


def _trace(ask: Ask, question: str, config: Config) -> Trace:
    """The system's answer as a trace without the steps of ours; a failure is its error."""
    begun, recorder = time.monotonic(), Recorder(question, config)
    try:
        reply = ask({"question": question, "config": config[SYSTEM]})
        if not isinstance(reply, Mapping):
            raise UsageError("it answered with JSON that is no object")
        if reply.get("error"):
            raise UsageError(str(reply["error"]))
        [found] = rows.records([("the answer", {**reply, "question": question})], "the answer", Problems(), {})[1]
        if found.answer is None:
            raise UsageError("it answered with no answer under a known name")
    except (SurefootError, OSError, ValueError) as error:
        return recorder.finish(error=_brief(str(error)))
    step = Step("answer", time.monotonic() - begun)
    recorder.note(passages=found.contexts or (), answer=Answer(found.answer), steps=(step,))
    return recorder.finish()


def _brief(text: str) -> str:
    """The beginning of a reason, on one line."""
    return " ".join(text.split())[:LONGEST_REASON]


def _posting(url: str, allow: Sequence[str]) -> Ask:
    network = Network(allow=allow, seconds=PATIENCE, spacing=0, retries=0)

    def ask(request: Any) -> Any:
        reply = network.post(url, request, keep=False, trusted=True)
        if reply.status != 200:
            raise UsageError(f"it answered HTTP {reply.status}: {_brief(reply.body.decode(errors='replace'))}")
        return parsed(reply.body)

    return ask


@dataclass
class _Command:
    """A command's process, started for the first question, and again where it has ended."""

    command: str
    complaints: IO[bytes]
    process: subprocess.Popen[bytes] | None = None

    def ask(self, request: Any) -> Any:
        """The JSON of its line. Raises UsageError, with its last words, where a fresh process gives none."""
        fresh = self.process is None
        self.process = process = self.process or self._started()
        late = Timer(PATIENCE, process.kill)
        late.start()
        try:
            line = self._line(process, request)
        finally:
            late.cancel()
        if line.strip():
            return parsed(line)
        status = self.end()
        if not fresh and status >= 0:  # it ends after each answer, or may have spent on others what this one needs
            return self.ask(request)
        self.complaints.seek(0)
        last = self.complaints.read().decode(errors="replace").strip().rpartition("\n")[2]
        raise UsageError(f"the command ended without an answer (status {status}): {last or 'it says nothing'}")

    def end(self) -> int:
        """End the process; its exit status, below 0 where it had to be killed."""
        process, self.process = self.process, None
        if process is None:
            return 0
        try:
            process.communicate(timeout=1)  # closes its input, at which it should end
        except (OSError, ValueError, subprocess.TimeoutExpired):
            process.kill()
        return process.wait()

    def _started(self) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(shlex.split(self.command), stdin=pipe, stdout=pipe, stderr=self.complaints)
        except (OSError, ValueError) as error:
            raise UsageError(f"the command cannot be started: {error}") from error

    @staticmethod
    def _line(process: subprocess.Popen[bytes], request: Any) -> bytes:
        if process.stdin is None or process.stdout is None:
            return b""
        with suppress(OSError):
            process.stdin.write(f"{spelled(request)}\n".encode())
            process.stdin.flush()
        return process.stdout.readline()
