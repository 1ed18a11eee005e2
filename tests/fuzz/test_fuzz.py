"""The harness sees what it is for, and a short run of it finds nothing."""

import gzip
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from fuzz import worker
from fuzz.mutation import Files, mutated
from fuzz.targets import Broken, Target
from fuzz.worker import Outcome, Workers
from surefoot.types.errors import UsageError

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes as Linux shows them"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]
HARNESS = Path(__file__).parent
VALID: list[Files] = [
    {"a.json": b'{"id": 1, "list": [1, {"deep": "text"}]}', "b.jsonl": b'{"id": "x"}\n{"id": "y"}\n'},
    {"a.toml": b'[llm]\nuse = "scripted"\n', "a.csv": b"id,text\n1,x\n"},
    {"a.html": b"<p>one <b>two</b></p>", "a.md": b"# One\n\ntwo\n", "a.txt": "drei Bäume".encode()},
    {"a.pdf": b"%PDF-1.4\n1 0 obj << /Type /Page /Kids [2 0 R] >> endobj", "a.docx": b"PK", "a.db": b"SQLite format 3"},
    {"a.txt.gz": gzip.compress(b"one", mtime=0), "a.rst": b"A\n=\n\none\n", "README": b"one\ntwo\n"},
]

Ran = Callable[[Callable[[Path], None]], Outcome]


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ran]:
    """Runs a function as a target, on one file. Its process is a fork of this one, however large that has become."""
    workers = Workers(tmp_path / "worker")
    monkeypatch.setattr(worker, "MOST_MEMORY", worker._resident(os.getpid()) + 300_000_000)

    def run(does: Callable[[Path], None]) -> Outcome:
        monkeypatch.setitem(worker.TARGETS, "mine", Target(does))
        return workers.run("mine", {"input.txt": b"input"})

    yield run
    workers.close()


def _raises(error: Exception) -> Callable[[Path], None]:
    def does(folder: Path) -> None:
        raise error

    return does


def test_an_error_that_says_what_to_do_is_no_fault(ran: Ran) -> None:
    """It is how everything that is wrong with a file is to end."""
    assert ran(_raises(UsageError("mend the file"))).fault == ""


def test_a_case_sees_its_files_and_nothing_of_the_one_before(ran: Ran) -> None:
    """In a folder of its own, which it may write to."""

    def does(folder: Path) -> None:
        assert [path.name for path in folder.iterdir()] == ["input.txt"]
        Path("written.txt").write_text("x")

    assert [ran(does).fault, ran(does).fault] == ["", ""]


@pytest.mark.parametrize(
    ("does", "key"),
    [
        (_raises(KeyError("x")), "KeyError: outside"),
        (_raises(Broken("a promise")), "broken: a promise"),
        (lambda folder: os._exit(3), "died: exit code 3"),
        (lambda folder: os.kill(os.getpid(), 11), "died: SIGSEGV"),
        (lambda folder: Path("../escaped").write_text("x"), "forbidden"),
        (lambda folder: Path("input.txt").rename("../../escaped"), "forbidden"),
        (lambda folder: os.system("true"), "forbidden"),
        (lambda folder: socket.create_connection(("192.0.2.1", 9), timeout=0.1), "forbidden"),
    ],
)
def test_what_no_input_may_bring_about_is_a_fault(ran: Ran, does: Callable[[Path], None], key: str) -> None:
    """Another exception, a promise not kept, a crash, a file elsewhere, a program, a connection."""
    outcome = ran(does)
    assert key in outcome.key.replace("Forbidden: outside", "forbidden")


def test_a_case_that_exceeds_its_bounds_is_ended(ran: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of time; of memory, as soon as it is seen; and of output. The next one runs."""

    def endless(folder: Path) -> None:
        while True:
            pass

    def large(folder: Path) -> None:
        pieces = [os.urandom(10_000_000)]
        while True:
            pieces.append(os.urandom(10_000_000))
            time.sleep(0.02)

    def wordy(folder: Path) -> None:
        for number in range(3):
            Path(f"{number}").write_bytes(bytes(500))

    assert ran(large).key == "memory"
    for limit, most, does, key in (("MOST_SECONDS", 0.5, endless, "seconds"), ("MOST_WRITTEN", 1000, wordy, "output")):
        with monkeypatch.context() as limited:
            limited.setattr(worker, limit, most)
            assert ran(does).key.startswith(key)
    assert ran(lambda folder: None).fault == ""


@pytest.mark.parametrize("files", VALID)
def test_a_seed_determines_the_case(files: Files) -> None:
    """The same dice make the same files, and most of the time other ones than were given."""
    for number in range(60):
        once, again = (mutated(Random(f"1 {number}"), files, [files]) for _ in range(2))
        assert once == again
    others = [mutated(Random(f"{number}"), files, [files]) for number in range(20)]
    assert sum(other != files for other in others) > 15


@pytest.mark.slow
def test_a_short_run_ends_without_a_fault(tmp_path: Path) -> None:
    """The first attacks on every target; `python tests/fuzz --minutes 60` is the long one."""
    done = subprocess.run(
        [sys.executable, HARNESS, "--seconds", "20", "--seed", "1", "--out", tmp_path / "faults"],
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
