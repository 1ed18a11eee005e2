"""Files and pages are read by processes that can be killed, and that nobody has to kill."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import attacks
from surefoot.documents import limits
from surefoot.documents.loaders import DocumentProblem, Unreadable
from surefoot.documents.reader_pool import Readers
from surefoot.documents.reading import Article, Reading, Request
from surefoot.documents.storable import CutDocument
from surefoot.index.readers import READERS
from surefoot.index.splitter import LONGEST
from surefoot.types.errors import UsageError


@pytest.fixture
def folder(tmp_path):
    return tmp_path


@pytest.fixture
def fresh():
    """Readers that no other test has used."""
    made = Readers((sys.executable, "-m", "surefoot.index.cutting_worker"))
    yield made
    made.end()


def file(path: Path, content: bytes | str = "The glacier.", known: bytes | None = None) -> Request:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Request(path.name, "a/path", path.stat().st_size, str(path), known=known)


def read(*requests: Request, by: Readers = READERS) -> list[tuple[list[CutDocument | DocumentProblem], Reading]]:
    return [([item for _, item in reading.items()], reading) for reading in by.files(requests)]


def said(items: list[CutDocument | DocumentProblem]) -> list[str]:
    return [item.reason if isinstance(item, DocumentProblem) else item.passages[0].text for item in items]


def readers() -> set[int]:
    """The processes that this one has started to read, and that have not ended."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return {int(child) for child in children if b"index.cutting_worker" in _command(int(child))}


def _command(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def _most_held(process: int) -> int:
    """Kilobytes of memory."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    return int(status.partition("VmHWM:")[2].split()[0]) if "VmHWM:" in status else 0


def _until(true) -> None:
    ends = time.monotonic() + 60
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.02)


needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")


def test_what_is_read_comes_in_the_order_of_the_files(folder):
    """However many processes read them, and whichever is first: an index is the same each time."""
    words = "The glacier is shrinking. " * 100_000
    requests = [file(folder / f"{n}.txt", f"{n} {words if n == 0 else ''}") for n in range(60)]
    assert [said(items)[0].split()[0] for items, _ in read(*requests)] == [str(n) for n in range(60)]


@pytest.mark.slow
def test_a_file_of_any_size_is_handed_over_in_pieces(folder):
    """Neither side holds a large table; what waits here and in the pipe is all that is read ahead."""
    rows = "".join(json.dumps({"id": str(n), "text": "word " * 200}) + "\n" for n in range(20_000))
    for reading in READERS.files([file(folder / "a.jsonl", rows)]):
        items = reading.items()
        next(items)
        time.sleep(1)
        done = [at for at, _ in items]
    assert len(done) == 20_000 - 1
    assert done == sorted(done)
    assert done[0] < len(rows) / 2


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the kernel keeps to no limit of memory")
def test_a_file_that_takes_the_memory_is_named_and_the_next_is_read(folder):
    """By a fresh process, and this one's memory is not touched."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (bad, reading), (good, _) = read(file(folder / "a.docx", attacks.large_picture()), file(folder / "a.txt"))
    assert ["needs more than 1 GB of memory" in each for each in said(bad)] == [True]
    assert said(good) == ["The glacier."]
    assert reading.digest is not None
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000
    _until(lambda: all(_most_held(process) < 500_000 for process in readers()))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "attack"), [("a.html", attacks.many_attributes), ("a.pdf", lambda: attacks.slow_pdf(500_000, 9))]
)
def test_a_file_that_takes_the_time_is_named_and_the_next_is_read(folder, name, attack, monkeypatch):
    """Of a processor: a busy machine is no reason to leave a file out."""
    monkeypatch.setattr(limits, "processor_seconds", lambda size: 1)
    monkeypatch.setattr(limits, "silent_seconds", lambda size: 600)
    (bad, reading), (good, _) = read(file(folder / name, attack()), file(folder / "a.txt"))
    assert said(bad) == ["takes more than 1 s of processor time to be read; split it"]
    assert said(good) == ["The glacier."]
    assert not reading.passing


def test_a_file_that_gives_too_much_is_named_with_what_it_gave_until_then(folder, monkeypatch):
    """A table of small rows may repeat a long title with each, for the row and for its passage."""
    monkeypatch.setattr(limits, "output_characters", lambda size: 1_000_000)
    rows = [json.dumps({"title": "T" * 1_000, "text": f"row {n}"}) for n in range(2_000)]
    ((items, reading),) = read(file(folder / "a.jsonl", "\n".join(rows)))
    assert said(items)[0] == "row 0"
    assert said(items)[-1] == "gives more than 1 million characters of passages; split it"
    assert 450 < len(items) < 500
    assert reading.digest is not None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name")
def test_a_file_that_keeps_us_waiting_is_named_and_tried_again_next_time(folder, monkeypatch):
    """It was put in the place of an ordinary one, and opening it does not end."""
    monkeypatch.setattr(limits, "silent_seconds", lambda size: 2)
    os.mkfifo(folder / "a.txt")
    stuck = Request("a.txt", "a.txt", 5, str(folder / "a.txt"))
    (bad, reading), (good, _) = read(stuck, file(folder / "b.txt"))
    assert said(bad) == ["gave no answer for 2 s"]
    assert reading.passing
    assert said(good) == ["The glacier."]


@needs_proc
def test_a_process_that_is_killed_costs_its_file_and_nothing_else(folder, fresh):
    """What it had given stays, the next file is read, and the next run may try again."""
    rows = "".join(json.dumps({"id": str(n), "text": "word " * 200}) + "\n" for n in range(20_000))
    before = readers()
    first = next(readings := fresh.files([file(folder / "a.jsonl", rows)]))
    items = first.items()
    next(items)
    for process in readers() - before:
        os.kill(process, signal.SIGKILL)
    *_, (_, last) = items
    readings.close()
    assert last == DocumentProblem("crashed the process that read it (SIGKILL)")
    assert first.passing
    assert said(read(file(folder / "b.txt"), by=fresh)[0][0]) == ["The glacier."]


@needs_proc
def test_a_process_that_ended_while_it_had_nothing_to_do_is_not_the_next_files_fault(folder):
    """It ends by itself after a while."""
    read(file(folder / "a.txt"))
    for process in readers():
        os.kill(process, signal.SIGKILL)
    assert said(read(file(folder / "a.txt"))[0][0]) == ["The glacier."]


@needs_proc
def test_processes_are_used_again(folder):
    """Starting one takes as long as reading fifty files."""
    read(file(folder / "a.txt"))
    before = readers()
    read(file(folder / "b.txt"))
    assert readers() == before


@needs_proc
def test_what_nobody_waits_for_any_more_is_ended(folder):
    """An indexing that breaks off leaves nothing at work."""
    rows = "".join(json.dumps({"id": str(n), "text": "word " * 200}) + "\n" for n in range(20_000))
    before = readers()
    readings = READERS.files([file(folder / "a.jsonl", rows)])
    next(next(readings).items())
    readings.close()
    assert not readers() - before
    assert said(read(file(folder / "b.txt"))[0][0]) == ["The glacier."]


@pytest.mark.slow
def test_the_hash_is_of_what_was_read(folder):
    """Nothing is given of a file that has the known one, whether it is read whole or row by row."""
    for name, content in (("a.txt", "The glacier."), ("a.jsonl", '{"text": "one"}\n' * 20_000)):
        ((items, first),) = read(file(folder / name, content))
        ((none, again),) = read(file(folder / name, content, first.digest))
        ((other, changed),) = read(file(folder / name, content.replace("e", "a"), first.digest))
        assert items
        assert none == []
        assert (first.same, again.same, changed.same) == (False, True, False)
        assert again.digest == first.digest != changed.digest
        assert other


def test_what_cannot_be_stored_is_replaced_and_all_else_comes_as_it_is(folder):
    """Half of a pair, a NUL and each line end in use go through a pipe of lines."""
    rows = '{"id": "\\ud800", "title": "a\\nb", "text": "x\\u0000y \\u2028 \\u0085 \\r 😀"}'
    (((document,), _),) = read(file(folder / "a.jsonl", rows))
    (passage,) = document.passages
    assert (document.id, passage.title, passage.text) == ("\ufffd", "a b", "x\ufffdy \u2028 \x85 \r 😀")


@pytest.mark.skipif(sys.platform != "linux", reason="names are text elsewhere")
def test_a_file_whose_name_is_no_text_is_read(folder):
    """Names are bytes."""
    assert said(read(file(folder / os.fsdecode(b"caf\xe9.txt")))[0][0]) == ["The glacier."]


def test_no_passage_is_longer_than_the_greatest_length(folder):
    """Whatever the file holds."""
    ((items, _),) = read(file(folder / "a.txt", "one" + " " * 1_000_000 + "two"))
    assert [len(passage.text) <= LONGEST for item in items for passage in item.passages] == [True, True]


def test_a_bug_of_a_library_costs_its_file_alone(folder, monkeypatch):
    """It says which error it was."""
    ((items, _),) = read(Request("a.txt", "a.txt", 5, str(folder / "a\0.txt")))
    assert said(items) == ["cannot be read (ValueError: embedded null byte)"]


def test_a_page_is_read_from_its_bytes():
    """As passages, titled as it titles itself."""
    markup = b"<html><head><title>Hut</title></head><body><article><p>Forty beds.</p></article></body></html>"
    document = READERS.page(Request("x.html", "https://a.example", len(markup), body=markup), 60)
    assert [(p.title, p.url) for p in document.passages] == [("Hut", "https://a.example")]


def article(markup: bytes, seconds: float = 60) -> Article:
    return READERS.article(Request("a.html", "a", len(markup), body=markup, article=True), seconds)


def test_an_article_is_its_lines_and_the_links_of_its_lists():
    """In pieces of any number, without what cannot be stored or is not shown."""
    items = "".join(f"<li><a href='p{n}'>Page</a> number {n}</li>" for n in range(3_000))
    markup = f"<h2>List</h2><p>A&#xd800;b</p><p hidden>Bob</p><ul>{items}</ul><div id=disambigbox></div>".encode()
    read = article(markup)
    assert read.extract.split("\n")[:3] == ["== List ==", "A\ufffdb", "Page number 0"]
    assert read.links[-1] == ("p2999", "Page number 2999")
    assert read.ambiguous
    assert article(b"") == Article("", False, ())


def test_an_article_over_a_limit_is_refused_whole(monkeypatch):
    """What came before is half an article; the process reads the next one."""
    monkeypatch.setattr(limits, "output_characters", lambda size: 10_000)
    with pytest.raises(Unreadable, match="gives more than"):
        article(b"<p>The glacier.</p>" * 2_000)
    assert article(b"<p>The glacier.</p>").extract == "The glacier."


@needs_proc
@pytest.mark.parametrize("is_article", [True, False])
def test_a_page_that_takes_too_long_is_refused_and_nothing_goes_on(is_article):
    """Its process ends with the answer."""
    markup = attacks.many_attributes()
    request = Request("x.html", "https://a.example", len(markup), body=markup, article=is_article)
    with pytest.raises(Unreadable, match="not read in time"):
        (READERS.article if is_article else READERS.page)(request, 2)
    assert all(_sleeps(process) for process in readers())


def _sleeps(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "SZ"
    except OSError:
        return True


_READS = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job in the background ignores it
from surefoot.documents import limits
from surefoot.documents.reading import Request
from surefoot.index.readers import READERS
limits.processor_seconds = lambda size: 2
path = sys.argv[1]
for reading in READERS.files([Request("a.html", "a.html", os.path.getsize(path), path)]):
    print(*open(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read().split(), flush=True)
    list(reading.items())
"""


@pytest.mark.slow
@needs_proc
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_process_outlives_the_one_that_asked(folder, how):
    """Also where that is killed, and it is busy with a file that would take minutes: its own time ends it."""
    file(folder / "a.html", attacks.many_attributes())
    asking = subprocess.Popen(
        [sys.executable, "-c", _READS, folder / "a.html"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    children = [int(child) for child in asking.stdout.readline().split()]
    assert children
    time.sleep(1)
    asking.send_signal(how)
    asking.communicate()
    _until(lambda: not any(b"index.cutting_worker" in _command(child) for child in children))


def test_nothing_is_imported_from_the_folder_that_we_are_in(folder):
    """It may be a stranger's, and hold a docx.py."""
    (folder / "json.py").write_text("raise SystemExit(3)")
    (folder / "surefoot.py").write_text("raise SystemExit(3)")
    file(folder / "a.txt")
    code = (
        "from surefoot.documents.reading import Request\n"
        "from surefoot.index.readers import READERS\n"
        "(reading,) = [list(r.items()) for r in READERS.files([Request('a.txt', 'a', 9, 'a.txt')])]\n"
        "print(reading[0][1].passages[0].text)"
    )
    where = {"PYTHONPATH": str(Path(limits.__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=folder, env=os.environ | where, capture_output=True, text=True
    )
    assert done.stdout.strip() == "The glacier."


@pytest.mark.parametrize("command", [(sys.executable, "-c", "raise SystemExit(3)"), ("/no/python", "-c", "")])
def test_a_process_that_does_not_start_is_no_files_fault(folder, command):
    """One line that says how to see why, also where the machine has no room for another process."""
    with pytest.raises(UsageError, match=r"does not start; to see why: .*python"):
        read(file(folder / "a.txt"), by=(pool := Readers(command)))
    pool.end()


_PRINTS = """
import os
from surefoot.documents import worker
from surefoot.index.splitter import passages
read = worker.read
def printing(*file):
    print("parsing", flush=True)
    os.write(1, b"a warning of C")
    yield from read(*file)
worker.read = printing
worker.serve(passages)
"""


def test_what_a_library_prints_is_no_answer(folder):
    """Not even what it prints past Python."""
    pool = Readers((sys.executable, "-c", _PRINTS))
    assert said(read(file(folder / "a.txt"), by=pool)[0][0]) == ["The glacier."]
    pool.end()


def test_a_process_that_reads_imports_nothing_that_it_does_not_need():
    """It starts in half of the time, and a limit of memory is all the files'."""
    heavy = "{'numpy', 'httpx', 'pypdfium2', 'trafilatura'}"
    code = f"import sys, surefoot.index.cutting_worker; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@needs_proc
def test_a_few_small_files_are_read_by_one_process(folder, fresh):
    """The start of another would take longer than they do."""
    before = readers()
    read(*(file(folder / f"{n}.txt") for n in range(20)), by=fresh)
    assert len(readers() - before) == 1
