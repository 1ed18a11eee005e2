"""Sources that are no folder, mirrored into one: from small servers of this machine."""

import imaplib
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from mailbox import Maildir
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import IO

import pytest

from endpoint import WebAnswer, serving
from surefoot.documents.mirrors import Item, keep_up, mirrored, scheme_of
from surefoot.documents.mirrors.bucket import items as bucket_items
from surefoot.network import Network
from surefoot.types.errors import NetworkError, SurefootError, UsageError

LOCAL = Network(allow=["127.0.0.1"], spacing=0, retries=0)
CLOSED = Network(allow=[])


@dataclass
class Home:
    """A folder for mirrors, and what was told of them."""

    folder: Path
    told: list[tuple[str, str]] = field(default_factory=list)

    def mirror(self, source: str, network: Network = LOCAL) -> dict[str, str]:
        """The files of the mirror after it was brought up to date."""
        self.told.clear()
        made = mirrored(source, self.folder, network, lambda *words: self.told.append(words))
        shown = [one for one in sorted(made.rglob("*")) if one.is_file()]
        return {one.relative_to(made).as_posix(): one.read_text() for one in shown}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "mirrors")


# The shape that all share


def item(path: str, version: str, content: str | SurefootError, loads: list[str]) -> Item:
    def load() -> bytes:
        loads.append(path)
        if isinstance(content, SurefootError):
            raise content
        return content.encode()

    return Item(path, version, load)


def test_only_what_is_new_is_fetched_and_what_is_gone_is_deleted(tmp_path: Path) -> None:
    """What cannot be fetched stays as it was, is told, and is tried again."""
    loads: list[str] = []
    told: list[tuple[str, str]] = []
    folder = tmp_path / "mirror"
    folder.mkdir()

    def run(*items: Item) -> set[str]:
        loads.clear()
        told.clear()
        keep_up(folder, iter(items), lambda *words: told.append(words))
        return {one.name for one in folder.iterdir()}

    a, b = item("a.md", "1", "A", loads), item("b.md", "1", "B", loads)
    assert (run(a, b), loads) == ({"a.md", "b.md"}, ["a.md", "b.md"])
    assert (run(a, b), loads) == ({"a.md", "b.md"}, [])
    failing = item("b.md", "2", NetworkError("too busy"), loads)
    assert (run(failing), loads, told) == ({"b.md"}, ["b.md"], [("b.md", "too busy")])
    assert (folder / "b.md").read_text() == "B"
    assert (run(item("b.md", "2", "B2", loads)), loads) == ({"b.md"}, ["b.md"])
    assert (folder / "b.md").read_text() == "B2"


def test_a_source_that_breaks_off_loses_nothing(tmp_path: Path) -> None:
    """Nobody knows what it still held."""

    folder = tmp_path / "mirror"
    folder.mkdir()

    def broken() -> Iterator[Item]:
        yield item("a.md", "2", "A2", [])
        raise NetworkError("it broke off")

    keep_up(folder, [item("a.md", "1", "A", []), item("b.md", "1", "B", [])], lambda *_: None)
    with pytest.raises(NetworkError):
        keep_up(folder, broken(), lambda *_: None)
    assert {one.name: one.read_text() for one in folder.iterdir()} == {"a.md": "A2", "b.md": "B"}
    loads: list[str] = []
    keep_up(folder, [item("a.md", "2", "", loads), item("b.md", "1", "", loads)], lambda *_: None)
    assert loads == []


@pytest.mark.parametrize("path", ["../../x.md", "/x.md", "a/../x.md", ".ssh/x.md", "a\\..\\x.md", "a\0/x.md"])
def test_no_file_of_a_source_leads_out_of_its_mirror(tmp_path: Path, path: str) -> None:
    """Nor is it hidden."""
    (tmp_path / "in").mkdir()
    keep_up(tmp_path / "in", [item(path, "1", "x", [])], lambda *_: None)
    (found,) = tmp_path.rglob("*.md")
    assert found.is_relative_to(tmp_path / "in")
    assert not any(part.startswith(".") for part in found.relative_to(tmp_path).parts)


def test_another_address_is_refused_and_a_path_is_none() -> None:
    """With those that there are."""
    assert (scheme_of("docs/a.md"), scheme_of("C:\\docs"), scheme_of("https://a.example/")) == ("", "", "https")
    with pytest.raises(UsageError, match="ftp:// is no kind of source; there are: http, https"):
        scheme_of("ftp://a.example/")


# Websites


@dataclass
class Site:
    """Its pages by path, which a test changes, and the paths that were asked for."""

    pages: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    broken: dict[str, int] = field(default_factory=dict)
    """By path, the status that it answers at present."""
    url: str = ""

    def answer(self, target: str) -> WebAnswer:
        self.asked.append(target)
        if target in self.broken:
            return self.broken[target], {}, b"not now"
        if target not in self.pages:
            return 404, {}, b"gone"
        kind = "text/plain" if target.endswith((".txt", ".xml")) else "text/html; charset=utf-8"
        return 200, {"Content-Type": kind}, self.pages[target].encode()

    def __setitem__(self, path: str, body: str) -> None:
        self.pages[path] = body


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    with serving(lambda request: site.answer(request.target)) as site.url:
        yield site


def test_a_website_is_followed_link_by_link(site: Site, home: Home) -> None:
    """Within the address, without what robots.txt forbids, what asks not to be followed, and what stands behind a `?`.
    A page that is gone leaves."""
    site["/robots.txt"] = "User-agent: *\nDisallow: /docs/secret\n"
    site["/docs/"] = (
        '<a href="a">a</a><a href="b.html#x">b</a><a href="/other">o</a><a href="secret/x">s</a>'
        '<a href="c?page=2">c</a><a rel="nofollow" href="d">d</a><a href="https://elsewhere.example/">e</a>'
    )
    site["/docs/a"] = '<p>A</p><a href="sub/">more</a>'
    site["/docs/b.html"] = "<p>B</p>"
    site["/docs/sub/"] = "<p>Sub</p>"
    found = home.mirror(f"{site.url}/docs/")
    assert list(found) == ["a.html", "b.html", "index.html", "sub/index.html"]
    assert found["b.html"] == "<p>B</p>"
    assert not {"/other", "/docs/secret/x", "/docs/d"} & {*site.asked}
    assert [path for path, _ in home.told] == [f"{site.url}/docs/secret/x"]
    del site.pages["/docs/b.html"]
    site["/docs/sub/"] = "<p>New</p>"
    found = home.mirror(f"{site.url}/docs/")
    assert list(found) == ["a.html", "index.html", "sub/index.html"]
    assert found["sub/index.html"] == "<p>New</p>"


def test_a_dated_sitemap_tells_which_pages_are_fetched(site: Site, home: Home) -> None:
    """Those with another date, and no others; those that it lists no more leave."""

    def sitemap(**days: str) -> None:
        pages = (f"<url><loc>{site.url}/{name}</loc><lastmod>{day}</lastmod></url>" for name, day in days.items())
        site["/sitemap.xml"] = f"<urlset>{''.join(pages)}</urlset>"

    site["/"], site["/a"], site["/b"] = "<p>Home</p>", "<p>A</p>", "<p>B</p>"
    sitemap(a="2024-05-01", b="2024-05-01")
    assert home.mirror(site.url) == {"a.html": "<p>A</p>", "b.html": "<p>B</p>"}
    site.asked.clear()
    site["/b"] = "<p>B2</p>"
    sitemap(b="2024-05-02")
    assert home.mirror(site.url) == {"b.html": "<p>B2</p>"}
    assert "/a" not in site.asked
    site.asked.clear()
    home.mirror(site.url)
    assert not {"/a", "/b"} & {*site.asked}


def test_a_website_in_trouble_loses_no_page(site: Site, home: Home) -> None:
    """Also where a page fails behind which others stand; a page that is closed is told. A site that the network's list
    does not allow is not asked at all."""
    site["/"], site["/a"], site["/b"] = '<a href="/a">a</a>', '<a href="/b">b</a>', "<p>B</p>"
    everything = ["a.html", "b.html", "index.html"]
    assert list(home.mirror(f"{site.url}/")) == everything
    site.broken["/a"] = 500
    assert list(home.mirror(f"{site.url}/")) == everything
    assert [path for path, _ in home.told] == ["a.html", home.told[1][0]]
    site.broken["/a"] = 403
    assert list(home.mirror(f"{site.url}/")) == ["index.html"]
    assert home.told == [(f"{site.url}/a", "is not open to everybody (HTTP 403)")]
    site.broken.clear()
    assert list(home.mirror(f"{site.url}/")) == everything
    del site.pages["/"]
    with pytest.raises(NetworkError, match="HTTP 404"):
        home.mirror(f"{site.url}/")
    site.asked.clear()
    with pytest.raises(NetworkError, match=r"\[network\] allow"):
        home.mirror(f"{site.url}/", CLOSED)
    assert site.asked == []
    site["/"] = "<p>Home</p>"
    assert list(home.mirror(f"{site.url}/")) == ["index.html"]


# git


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., None]:
    def run(*words: str) -> None:
        who = ["-c", "user.name=Ann", "-c", "user.email=ann@a.example"]
        subprocess.run(["git", *who, *words], cwd=tmp_path / "repo", check=True, capture_output=True)

    (tmp_path / "repo").mkdir()
    run("init", "--initial-branch=main")
    return run


def test_a_repository_is_mirrored_at_its_branch(home: Home, git: Callable[..., None], tmp_path: Path) -> None:
    """What is gone from it leaves, what did not change is not touched, and another branch is another mirror's state."""
    repo = tmp_path / "repo"
    (repo / "a.md").write_text("A")
    (repo / "b.md").write_text("B")
    git("add", ".")
    git("commit", "-m", "one")
    source = f"git+file://{repo}"
    assert home.mirror(source) == {"a.md": "A", "b.md": "B"}
    (place,) = home.folder.rglob("a.md")
    touched = place.stat().st_mtime_ns
    git("rm", "b.md")
    (repo / "c.md").write_text("C")
    git("add", ".")
    git("commit", "-m", "two")
    assert home.mirror(source, CLOSED) == {"a.md": "A", "c.md": "C"}
    assert place.stat().st_mtime_ns == touched
    with pytest.raises(NetworkError, match="git fetch failed: couldn't find remote ref nowhere"):
        home.mirror(f"{source}#nowhere")
    assert home.mirror(source) == {"a.md": "A", "c.md": "C"}


def test_a_repository_runs_nothing_and_leads_nowhere(home: Home, git: Callable[..., None], tmp_path: Path) -> None:
    """A symbolic link is a small file; a password in the address, and a host that is not allowed, are refused."""
    (tmp_path / "repo" / "link.md").symlink_to("/etc/passwd")
    git("add", ".")
    git("commit", "-m", "one")
    assert home.mirror(f"git+file://{tmp_path / 'repo'}") == {"link.md": "/etc/passwd"}
    with pytest.raises(UsageError, match="holds a password") as refused:
        home.mirror("git+https://ann:hunter2@a.example/x")
    assert "hunter2" not in str(refused.value)
    with pytest.raises(NetworkError, match=r"a\.example may not be reached"):
        home.mirror("git+https://a.example/x", CLOSED)


def test_no_other_repository_is_touched(
    home: Home, git: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the one that the mirrors lie in, where a mirror is damaged, nor one that git's variables name."""
    (tmp_path / "repo" / "a.md").write_text("A")
    git("add", ".")
    git("commit", "-m", "one")
    precious = tmp_path / "repo" / "precious.md"
    precious.write_text("mine")
    home.folder = tmp_path / "repo" / "mirrors"
    source = f"git+file://{tmp_path / 'repo'}"
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "repo" / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "repo"))
    assert home.mirror(source) == {"a.md": "A"}
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_WORK_TREE")
    (head,) = home.folder.rglob("*.git/HEAD")
    head.unlink()
    with pytest.raises(NetworkError, match="git fetch failed"):
        home.mirror(source)
    assert precious.read_text() == "mine"


# Mail and buckets


def test_the_mails_of_a_maildir_are_files(home: Home, tmp_path: Path) -> None:
    """Of its folders too; a mail that was deleted leaves."""
    box = Maildir(tmp_path / "Maildir")
    first = box.add(b"From: ann@a.example\nSubject: Huts\n\nForty beds.\n")
    box.add_folder("Old").add(b"From: bob@a.example\nSubject: Ropes\n\nTwo.\n")
    found = home.mirror(f"maildir:{tmp_path / 'Maildir'}")
    assert sorted(text.split("\n")[1] for text in found.values()) == ["Subject: Huts", "Subject: Ropes"]
    box.remove(first)
    assert ["Two" in text for text in home.mirror(f"maildir:{tmp_path / 'Maildir'}").values()] == [True]
    with pytest.raises(UsageError, match="is no Maildir"):
        home.mirror(f"maildir:{tmp_path}")


def test_a_mailbox_needs_its_password_from_the_environment(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never from the address; and a host that is allowed."""
    monkeypatch.delenv("SUREFOOT_IMAP_PASSWORD", raising=False)
    with pytest.raises(UsageError, match="set the variable SUREFOOT_IMAP_PASSWORD"):
        home.mirror("imaps://ann@a.example/INBOX")
    monkeypatch.setenv("SUREFOOT_IMAP_PASSWORD", "hunter2")
    with pytest.raises(NetworkError, match=r"a\.example may not be reached"):
        home.mirror("imaps://ann@a.example/INBOX", CLOSED)


def test_the_files_of_a_bucket_are_those_that_are_read(tmp_path: Path) -> None:
    """By fsspec; a file that changed has another version."""
    folder = tmp_path / "mirror"
    folder.mkdir()
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    store.pipe({"/docs/a.md": b"A", "/docs/sub/b.md": b"B", "/docs/x.exe": b"no"})
    keep_up(folder, bucket_items("memory://docs", CLOSED, lambda *_: None), lambda *_: None)
    found = {one.relative_to(folder).as_posix(): one.read_text() for one in folder.rglob("*.md")}
    assert found == {"a.md": "A", "sub/b.md": "B"}
    store.rm("/docs/sub/b.md")
    store.pipe("/docs/a.md", b"A2")
    keep_up(folder, bucket_items("memory://docs", CLOSED, lambda *_: None), lambda *_: None)
    assert [one.read_text() for one in folder.rglob("*.md")] == ["A2"]


def test_an_error_of_a_bucket_is_named_by_its_kind_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each store has errors of its own, and their texts may quote a signed address."""
    memory = pytest.importorskip("fsspec.implementations.memory").MemoryFileSystem
    memory().pipe("/docs/a.md", b"A")
    (found,) = bucket_items("memory://docs", CLOSED, lambda *_: None)

    def broken(*_: object, **__: object) -> None:
        raise ValueError("https://a.example/docs?signature=hunter2")

    monkeypatch.setattr(memory, "cat_file", broken)
    with pytest.raises(NetworkError, match=r"^it cannot be fetched \(ValueError\)$"):
        found.load()
    monkeypatch.setattr(memory, "find", broken)
    with pytest.raises(NetworkError, match=r"^memory://docs cannot be listed \(ValueError\); check its name"):
        list(bucket_items("memory://docs", CLOSED, lambda *_: None))


def test_a_bucket_needs_an_allowed_host() -> None:
    with pytest.raises(NetworkError, match=r"s3\.amazonaws\.com may not be reached"):
        list(bucket_items("s3://docs", CLOSED, lambda *_: None))


class _Imap(StreamRequestHandler):
    """A mailbox of three mails, of which the last cannot be had."""

    mails = {b"4": b"Subject: Huts\r\n\r\nForty beds.\r\n", b"9": b"Subject: Ropes\r\n\r\nTwo.\r\n", b"11": b""}
    fetched: list[bytes] = []

    def handle(self) -> None:
        self.wfile.write(b"* OK ready\r\n")
        while line := self.rfile.readline().split():
            tag, command = line[0], line[1].upper()
            if command == b"LOGIN" and line[3] != b'"hunter2"':
                self.wfile.write(tag + b" NO hunter1 is wrong\r\n")
                continue
            if command == b"CAPABILITY":
                self.wfile.write(b"* CAPABILITY IMAP4rev1\r\n")
            elif command == b"EXAMINE":
                self.wfile.write(b"* 3 EXISTS\r\n* OK [UIDVALIDITY 7] valid\r\n")
            elif line[1:3] == [b"UID", b"SEARCH"]:
                self.wfile.write(b"* SEARCH " + b" ".join(self.mails) + b"\r\n")
            elif line[1:3] == [b"UID", b"FETCH"] and (mail := self.mails[line[3]]):
                self.fetched.append(line[3])
                self.wfile.write(b"* 1 FETCH (UID %b BODY[] {%d}\r\n%b)\r\n" % (line[3], len(mail), mail))
            self.wfile.write(tag + b" OK done\r\n")
            if command == b"LOGOUT":
                return


def test_the_mails_of_a_server_are_read_once(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mail that cannot be had is told; what the server repeats of a wrong password is not."""
    monkeypatch.setattr("imaplib.IMAP4_SSL", imaplib.IMAP4)  # this machine has no certificate
    with ThreadingTCPServer(("127.0.0.1", 0), _Imap) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        source = f"imaps://ann@127.0.0.1:{server.server_address[1]}/INBOX"
        monkeypatch.setenv("SUREFOOT_IMAP_PASSWORD", "hunter1")
        with pytest.raises(NetworkError, match="… is wrong"):
            home.mirror(source)
        monkeypatch.setenv("SUREFOOT_IMAP_PASSWORD", "hunter2")
        for _ in range(2):
            assert [text.split()[1] for text in home.mirror(source).values()] == ["Huts", "Ropes"]
            assert home.told == [("11.eml", "the mail cannot be had at present")]
        assert _Imap.fetched == [b"4", b"9"]
        server.shutdown()


def test_a_file_is_never_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither it nor the record of versions: what breaks off leaves both as they were."""
    folder = tmp_path / "m"
    folder.mkdir()
    keep_up(folder, [item("a.md", "1", "old", [])], lambda *_: None)

    def broken(content: IO[bytes], file: IO[bytes], _: int) -> None:
        file.write(content.read(2))
        raise OSError("the disk is full")

    monkeypatch.setattr("shutil.copyfileobj", broken)
    with pytest.raises(OSError, match="full"):  # of the record
        keep_up(folder, [item("a.md", "2", "new", [])], lambda *_: None)
    monkeypatch.undo()
    loads: list[str] = []
    keep_up(folder, [item("a.md", "1", "old", loads)], lambda *_: None)
    assert ((folder / "a.md").read_text(), loads) == ("old", [])
