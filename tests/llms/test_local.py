"""The model in this process: quiet, private, and clear about what it cannot do."""

import _thread
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from surefoot.models import registry
from surefoot.types import Completion, Message
from surefoot.types.errors import ConfigError, ContextOverflow, ModelError

local = pytest.importorskip("surefoot.llms.local")
HELLO = [Message("user", "Say hello.")]


@pytest.fixture(scope="module")
def llm() -> local.Local:
    """The default model with a small context."""
    llm = local.Local(threads=1, context=512)
    try:
        registry.path(llm.name)
    except ModelError as error:
        pytest.skip(str(error))
    return llm


def test_an_unknown_model_is_answered_with_the_known_ones() -> None:
    """A name that is neither known nor a file is refused when the object is built."""
    with pytest.raises(
        ConfigError, match="no language model called 'minilm-int8'; there are: smollm2-135m-instruct-q4_1"
    ):
        local.Local("minilm-int8")


@pytest.mark.parametrize("what", ["not on this machine", pytest.param("damaged", marks=pytest.mark.slow)])
def test_a_missing_or_damaged_model_names_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, what: str
) -> None:
    """The first call says how to get it; building the object does not. A file of the right size, all zeros, is not
    shown to llama.cpp."""
    monkeypatch.setenv("SUREFOOT_MODELS", str(tmp_path))
    monkeypatch.setenv("SUREFOOT_OFFLINE", "1")
    llm = local.Local()
    file = registry.REGISTRY[llm.name]
    if what == "damaged":
        with (tmp_path / file.file).open("wb") as hollow:
            hollow.truncate(file.size)
    with pytest.raises(ModelError, match=f"{what}.* surefoot models pull smollm2-135m-instruct-q4_1"):
        llm.complete(HELLO)


def test_a_file_that_is_no_model_is_an_error_and_nothing_is_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What llama.cpp says to itself stays there."""
    (tmp_path / "junk.gguf").write_bytes(b"GGUF" + bytes(1000))
    with pytest.raises(ModelError, match=r"junk\.gguf does not load as a model"):
        local.Local(str(tmp_path / "junk.gguf")).complete(HELLO)
    assert capfd.readouterr() == ("", "")


class Thinker:
    """Stands where llama.cpp does, and sends these pieces."""

    def __init__(self, *deltas: dict[str, str]) -> None:
        self.sent = [*({"delta": delta} for delta in deltas), {"delta": {}, "finish_reason": "stop"}]
        self.asked: dict[str, Any] = {}

    def handle_chat_completions(self, asked: dict[str, Any], take: Callable[[dict[str, Any]], bool]) -> None:
        """Answer, and note what was asked."""
        self.asked = asked
        for choice in self.sent:
            take({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 800}})


def thinking(model: str, thinker: Thinker, **options: Any) -> tuple[Completion, list[str]]:
    """The completion of a model of this name, and the pieces that were handed on."""
    llm, heard = local.Local(model, **options), list[str]()
    llm._loaded = thinker
    return llm.complete(HELLO, max_tokens=7, on_text=heard.append), heard


def test_a_model_that_thinks_has_tokens_for_it_and_its_thoughts_are_no_part_of_the_text() -> None:
    """As its file's name says, or the configuration; they are counted."""
    for model, options in (("~/Qwen3-4B-Q4_K_M.gguf", {}), ("mine.gguf", {"thoughts": 4096})):
        thinker = Thinker({"content": "<think>" + "x" * 20_000}, {"content": "</think>\n\nOla"}, {"content": " Vint"})
        said, heard = thinking(model, thinker, **options)
        assert (said.text, said.completion_tokens, said.truncated) == ("Ola Vint", 800, False)
        assert heard == ["Ola", " Vint"]
        assert thinker.asked["max_tokens"] == 7 + 4096


def test_a_known_model_that_does_not_load_names_the_check(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its hash is the right one, so the check says that the fault is elsewhere."""
    junk = registry.ModelFile("junk", "", "MIT", 4, hashlib.sha256(b"junk").hexdigest(), "junk.gguf", ())
    monkeypatch.setitem(registry.REGISTRY, "junk", junk)
    monkeypatch.setenv("SUREFOOT_MODELS", str(tmp_path))
    (tmp_path / "junk.gguf").write_bytes(b"junk")
    with pytest.raises(ModelError, match="surefoot doctor --deep"):
        local.Local("junk").complete(HELLO)


@pytest.mark.slow
def test_a_long_prompt_is_refused_with_its_length(llm: local.Local) -> None:
    """The message has both numbers; whether or not it is streamed."""
    with pytest.raises(ContextOverflow, match=r"too long for .*: \d{3,} tokens against a context of 512"):
        llm.complete([Message("user", "word " * 700)], on_text=print)


@pytest.fixture
def heard() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt, also in a shell's background job, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.usefixtures("heard")
def test_an_answer_can_be_interrupted(llm: local.Local) -> None:
    """Ctrl-C between two words ends the answer, although it passes through C++."""
    with pytest.raises(KeyboardInterrupt):
        llm.complete(HELLO, max_tokens=300, on_text=lambda _: signal.raise_signal(signal.SIGINT))


@pytest.mark.usefixtures("heard")
def test_what_is_done_for_the_model_can_be_interrupted_while_it_says_nothing() -> None:
    """Ctrl-C comes to the thread that waits, which tells the answer to end with its next piece."""
    ended = threading.Event()

    def work(take: Callable[[object], bool]) -> None:
        threading.Timer(0.05, _thread.interrupt_main).start()
        while not take({}):
            time.sleep(0.01)
        ended.set()

    with pytest.raises(KeyboardInterrupt):
        local.interruptible(work, lambda _: None)
    assert ended.is_set()


@pytest.mark.slow
def test_the_same_question_has_the_same_answer_whatever_came_before(llm: local.Local) -> None:
    """Nothing of an earlier prompt is reused; with llama.cpp's prompt cache on, this very pair differs."""
    first, other = _about_hut("Juniper", 1859, "Jo"), _about_hut("Alder", 1850, "Ada")
    alone = llm.complete(first, max_tokens=24)
    llm.complete(other, max_tokens=24)
    assert llm.complete(first, max_tokens=24) == alone


def _about_hut(name: str, year: int, builder: str) -> list[Message]:
    rules = "Answer from the passages only. Cite with [n]. If they do not say, answer: I do not know."
    question = f"Question: Who built the {name} hut and when?"
    return [
        Message("system", rules),
        Message("user", f"[1] The {name} hut was built in {year} by {builder}.\n\n{question}"),
    ]


ALONE = """
import tempfile
from pathlib import Path
from surefoot.llms.local import Local
from surefoot.types import Message
llm = Local(threads=1, context=512)
llm.complete([Message("user", "Hi")], max_tokens=2)
links = [fd.readlink().name for fd in Path("/proc/self/fd").iterdir() if fd.is_symlink()]
mine = {link[8:-1] for link in links if link.startswith("socket:")}
tables = [Path("/proc/self/net", name).read_text().splitlines()[1:] for name in ("tcp", "tcp6")]
ports = [line for table in tables for line in table if line.split()[9] in mine]
folder = next(Path(tempfile.gettempdir()).glob("surefoot-*"))
Path(tempfile.gettempdir(), "report").write_text(f"{len(mine)} {len(ports)} {folder.stat().st_mode & 0o777:o}")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_port_is_opened_and_nothing_is_printed_or_left_behind(llm: local.Local) -> None:
    """In a process of its own: one socket, not of TCP, in a folder closed to others that is gone at the end."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        environment = os.environ | {"TMPDIR": folder}
        done = subprocess.run(
            [sys.executable, "-c", ALONE], env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert Path(folder, "report").read_text() == "1 0 700"
        assert [file.name for file in Path(folder).iterdir()] == ["report"]


@pytest.mark.slow
def test_the_first_calls_of_several_threads_load_one_model(llm: local.Local) -> None:
    """All get an answer, from the same server."""
    fresh = local.Local(threads=1, context=512)
    with ThreadPoolExecutor(3) as pool:
        assert len(set(map(id, pool.map(lambda _: fresh._server(), range(3))))) == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="keeps to one core")
def test_a_model_that_goes_before_it_was_asked_is_gone(llm: local.Local) -> None:
    """Ten times, on one core: llama.cpp would wait for a thread that had not begun."""
    code = "import os; from surefoot.llms.local import Local; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    code += "for _ in range(10): Local(threads=1, context=512)._server()"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)
