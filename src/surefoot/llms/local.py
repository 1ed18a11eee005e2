"""A language model in this process: llama.cpp through xllamacpp, on the CPU, without network."""

import secrets
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock
from typing import Any

from xllamacpp import CommonParams, Server

from surefoot.llms._abilities import abilities
from surefoot.llms._base import BaseLLM, Call
from surefoot.llms._replies import Malformed, Reported, StreamedReply, chat_request
from surefoot.models import fetch, registry
from surefoot.network import Network
from surefoot.run import cancel
from surefoot.run.manifest import cores
from surefoot.types import Completion
from surefoot.types.errors import ComponentError, ConfigError, ContextOverflow, ModelError, on_one_line

Take = Callable[[Any], bool]

_SEED = 1
_GLANCE = 0.2  # seconds; on Windows, a wait without an end hears no Ctrl-C
_PATIENCE = 1.0
"""Seconds that an interrupted answer has to end; it may still be reading its prompt, and then ends later."""


class Local(BaseLLM):
    """A GGUF model run in this process; the first call fetches it, if need be, and loads it for good.

    `model` is a name in `surefoot.models.registry.REGISTRY` or the path of a `.gguf` file. `threads` None: all cores of
    this process but one. `context` is the most tokens of a prompt and its answer together. `network` None: the model is
    fetched without restrictions. Several threads may call at once; llama.cpp answers one after the other. `thoughts`:
    tokens for thoughts before the answer, within the context; 0: none; None: as the model's name says
    (`_abilities.TABLE`).
    """

    def __init__(
        self,
        model: str = "smollm2-135m-instruct-q4_1",
        threads: int | None = None,
        context: int = 4096,
        network: Network | None = None,
        thoughts: int | None = None,
    ) -> None:
        known = [name for name, file in registry.REGISTRY.items() if file.file.endswith(".gguf")]
        if model not in known and not model.endswith(".gguf"):
            raise ConfigError(f"no language model called {model!r}; there are: {', '.join(known)}, or a .gguf file")
        self.name = model if model in known else Path(model).stem
        self.thoughts = abilities(self.name, None if thoughts is None else {"thoughts": thoughts}).thoughts
        """Tokens that an answer may have beyond `max_tokens`, for thoughts."""
        self._model = model
        self._network = network
        self._threads = threads or max(1, cores() - 1)
        self._context = context
        self._lock = Lock()
        self._loaded: Server | None = None

    def answer(self, call: Call) -> Completion:
        """The model's reply to the messages: the same every time, whatever was asked before.

        `schema` becomes a grammar: it enforces types, names, enumerations and bounds of integers, not bounds of other
        numbers; text cut off by `max_tokens` is not whole JSON. An exception from `on_text` ends the answer and is
        raised. Raises ModelError for a model that is missing or does not load, ContextOverflow for too long a prompt.
        """
        most = call.max_tokens + self.thoughts
        answer = StreamedReply(most, call.on_text, thinks=self.thoughts > 0)
        usage = {"include_usage": True}
        request = chat_request(replace(call, max_tokens=most), seed=_SEED, stream=True, stream_options=usage)
        server = self._server()
        try:
            raised = interruptible(lambda take: server.handle_chat_completions(request, take), answer.take)
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"{self.name} cannot take the request: {on_one_line(error)}") from error
        if isinstance(raised, Reported):
            raise _explained(raised.error, self.name)
        if isinstance(raised, Malformed):
            raise ModelError(f"{self.name} sent {raised}; ask again")
        if raised:
            raise raised
        if not answer.finish:
            raise ModelError(f"{self.name} ended in the middle of its answer; ask again")
        return answer.completion(self.name)

    def _server(self) -> Server:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load(self._hideout(), 0, secrets.token_urlsafe(32))
            return self._loaded

    def _hideout(self) -> str:
        """The address that the server insists on listening at, though no client connects: a socket in a folder that is
        closed to other users, or, on Windows, loopback behind a secret key."""
        if sys.platform == "win32":
            return "127.0.0.1"
        # A socket's path may have some 100 characters; with a longer TMPDIR the model would seem not to load.
        parent = "/tmp" if len(tempfile.gettempdir()) > 60 else None  # noqa: S108 # nosec B108 # a folder of its own is made there
        folder = tempfile.mkdtemp(prefix="surefoot-", dir=parent)
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return f"{folder}/llama.sock"

    def _load(self, host: str, port: int, key: str) -> Server:
        known = self._model in registry.REGISTRY
        file = fetch.ensure(self._model, self._network) if known else Path(self._model).expanduser()
        if not file.is_file():
            raise ModelError(f"no model file {file}; give the path of a .gguf file")
        try:
            server = Server(self._params(file, host, port, key))
            # One that goes before its loop has begun waits for its end for ever; this waits for the loop.
            server.handle_completions({"prompt": "", "max_tokens": 0}, lambda _: True)
        except (RuntimeError, ValueError) as error:
            check = "surefoot doctor --deep" if known else "another .gguf file"
            raise ModelError(f"{file} does not load as a model; try: {check} ({on_one_line(error)})") from error
        return server

    def _params(self, file: Path, host: str, port: int, key: str) -> CommonParams:
        params = CommonParams()
        params.model.path = str(file)
        params.model_alias = {self.name}
        params.n_ctx = self._context
        params.n_parallel = 1
        params.cache_ram_mib = 0
        # Reusing the start that a prompt shares with the last one changes sums in their last digits, and so words: of
        # ten questions that begin alike, four were answered otherwise after another one than alone.
        params.cache_prompt = False
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        params.hostnames, params.port, params.api_keys = [host], port, [key]
        params.ui = False
        params.warmup = False  # 0.9 s against 0.55 s to load, and the first answer comes no sooner for it
        params.verbosity = -1  # llama.cpp's log would go to the process's stderr
        return params


def interruptible(work: Callable[[Take], object], take: Callable[[Any], None]) -> BaseException | None:
    """Do the work in a thread of its own, with a callback that takes each chunk and is True where no more is wanted.
    Returns what `take` raised; raises what the work raises.

    Python hears Ctrl-C only between its own steps in the main thread, where llama.cpp would swallow it and go on. So
    that thread waits here; once it is interrupted, or the question is cancelled, the answer ends with its next piece.
    """
    stopped = Event()
    raised: list[BaseException] = []

    def guarded(chunk: Any) -> bool:
        # C++ swallows what a callback raises, Ctrl-C too: it is kept here and raised later.
        try:
            take(chunk)
        except BaseException as error:  # noqa: BLE001
            raised.append(error)
        return bool(raised) or stopped.is_set()

    pool = ThreadPoolExecutor(1)
    running = pool.submit(copy_context().run, work, guarded)
    pool.shutdown(wait=False)
    try:
        while not wait([running], _GLANCE).done:
            cancel.check()
    except BaseException:
        stopped.set()
        wait([running], _PATIENCE)
        raise
    running.result()
    return raised[0] if raised else None


def _explained(error: object, model: str) -> ComponentError:
    if isinstance(error, dict) and "n_prompt_tokens" in error:
        sizes = f"{error['n_prompt_tokens']} tokens against a context of {error.get('n_ctx')}"
        remedy = "give it fewer passages or a larger context"
        return ContextOverflow(f"the prompt is too long for {model}: {sizes}; {remedy}")
    return ModelError(f"{model} cannot answer: {on_one_line(Reported(error))}")
