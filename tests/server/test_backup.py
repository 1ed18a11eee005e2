"""Backup and restore: everything that a server keeps, as one file, while it runs."""

import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra server")

from starlette.testclient import TestClient

from server.conftest import HUT, filled, finished, quick
from surefoot.index.search import Index
from surefoot.run.manifest import fingerprint
from surefoot.server.app import create_app
from surefoot.server.backup import Stores, back_up, restore, settings_of
from surefoot.server.service import ServerSettings, Service, assembled
from surefoot.types.errors import UsageError

QUESTION = {"question": "Who built the Ruvel Bridge?", "conversation": "one-conversation"}


def stores(folder: Path) -> Stores:
    return Stores(folder / "index.db", folder / "server", folder / "runs" / "serve", folder / "surefoot.toml")


def opened(folder: Path) -> Service:
    settings = ServerSettings(folder=str(folder / "server"), runs=str(folder / "runs"), seconds=60)
    return assembled(settings, quick(folder))


def serve(service: Service) -> TestClient:
    return TestClient(create_app(service), base_url="http://localhost:8710")


def held(folder: Path) -> dict[str, str]:
    """The hash of every file below the folder, but for locks and what SQLite writes beside an index that is read."""
    every = (place for place in folder.rglob("*") if place.is_file() and not place.name.endswith((".lock", "-shm")))
    return {place.relative_to(folder).as_posix(): fingerprint(place) for place in every}


def settled(client: TestClient) -> list[dict[str, Any]]:
    """The documents, once the files that the server looks at again as it starts are read."""
    for _ in range(400):
        found: list[dict[str, Any]] = client.get("/documents").json()["documents"]
        if all(one["state"] == "ready" for one in found):
            return found
        time.sleep(0.05)
    raise AssertionError(found)


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """The folder of a stopped server that has answered, and was told that it answered well."""
    home = tmp_path / "old"
    home.mkdir()
    (home / "surefoot.toml").write_text('retriever = "bm25"\n')
    with serve(filled(home)) as client:
        trace = client.post("/ask", json=QUESTION).json()["id"]
        assert client.post("/feedback", json={"trace": trace, "useful": True}).status_code < 300
    return home


def test_everything_is_restored_on_another_machine(full: Path, tmp_path: Path) -> None:
    """Answer, conversation, trace, feedback, uploads, their times, and the settings; nobody else may read them."""
    back_up(stores(full), tmp_path / "backup.tar")
    assert restore(stores(tmp_path / "new"), tmp_path / "backup.tar") > 6
    before, after = held(full), held(tmp_path / "new")
    assert {name: data for name, data in after.items() if name != "index.db"} == {
        name: data for name, data in before.items() if not name.startswith("index.db")
    }
    for place in (tmp_path / "new").rglob("*.json*"):
        old = full / place.relative_to(tmp_path / "new")
        assert abs(place.stat().st_mtime - old.stat().st_mtime) < 0.001
        assert place.stat().st_mode & 0o077 == 0
    with serve(opened(full)) as old, serve(opened(tmp_path / "new")) as new:
        for path in ("/conversations", "/traces"):
            mine, other = (client.get(path).json() for client in (old, new))
            assert mine == other
        assert settled(old) == settled(new)
        answers = [client.post("/ask", json=QUESTION).json()["answer"] for client in (old, new)]
        assert answers[0] == answers[1]
        assert "Aldwin" in answers[0]["text"]


def test_a_backup_is_whole_while_questions_and_an_upload_run(tmp_path: Path) -> None:
    """Each of several is restored to an index that is sound, and answers."""
    home = tmp_path / "old"
    home.mkdir()
    with serve(filled(home)) as client, ThreadPoolExecutor(2) as pool:
        text = "".join(f"# Part {part}\n\nThe tower {part} was built of stone.\n\n" for part in range(300))
        job = client.post("/documents", files=[("file", (f"{n}.md", text)) for n in range(4)]).json()["job"]
        asking = [pool.submit(client.post, "/ask", json=QUESTION) for _ in range(8)]
        for number in range(4):
            back_up(stores(home), tmp_path / f"{number}.tar")
        assert all(reply.result().status_code == 200 for reply in asking)
        assert finished(client, job)["state"] == "done"
    for number in range(4):
        restore(stores(new := tmp_path / str(number)), tmp_path / f"{number}.tar")
        with Index.open(new / "index.db") as index:
            index.verify()
        with serve(opened(new)) as client:
            assert "Aldwin" in client.post("/ask", json=QUESTION).json()["answer"]["text"]
            files = [*(new / "server/collections/default/uploads").iterdir()]
            for _ in range(400):
                found = client.get("/documents", params={"limit": 200}).json()["documents"]
                if {one["file"] for one in found} == {f"uploads/{file.name}" for file in files}:
                    break
                time.sleep(0.05)
            else:
                raise AssertionError(found)


def test_what_is_there_is_replaced_only_where_that_is_wanted(full: Path, tmp_path: Path) -> None:
    """By a backup never, by a restoration on demand; then nothing of the old is left, but for its settings."""
    back_up(stores(full), tmp_path / "backup.tar")
    with pytest.raises(UsageError, match=r"backup\.tar is there already; name another file"):
        back_up(stores(full), tmp_path / "backup.tar")
    before = held(full)
    with pytest.raises(UsageError, match=r"index\.db and .*server and .*serve are there already"):
        restore(stores(full), tmp_path / "backup.tar")
    assert held(full) == before
    (full / "server" / "collections" / "default" / "uploads" / "later.md").write_text(HUT)
    (full / "surefoot.toml").write_text('retriever = "dense"\n')
    restore(stores(full), tmp_path / "backup.tar", overwrite=True)
    names = {name for name in held(full) if not name.startswith("index.db")}
    assert names == {name for name in before if not name.startswith("index.db")}
    assert (full / "surefoot.toml").read_text() == 'retriever = "dense"\n'


def altered(source: Path, target: Path, change: Callable[[tarfile.TarInfo, bytes], tuple[str, bytes] | None]) -> Path:
    import io

    with tarfile.open(source) as old, tarfile.open(target, "w") as new:
        for member in old:
            if found := change(member, old.extractfile(member).read()):  # type: ignore[union-attr]
                member.name, data = found
                member.size = len(data)
                new.addfile(member, io.BytesIO(data))
    return target


def test_nothing_is_restored_under_a_running_server(full: Path, tmp_path: Path) -> None:
    """Nor under the first of two; once it has stopped it is."""
    back_up(stores(full), tmp_path / "b.tar")
    with serve(opened(full)), serve(opened(full)), pytest.raises(UsageError, match="stop it, then restore"):
        restore(stores(full), tmp_path / "b.tar", overwrite=True)
    assert restore(stores(full), tmp_path / "b.tar", overwrite=True)


@pytest.mark.parametrize("fault", ["cut", "bytes", "missing", "outside", "link", "text"])
def test_a_damaged_backup_changes_nothing(full: Path, tmp_path: Path, fault: str) -> None:
    """Cut off, altered, with a file too few or outside of its folders, or another kind of file."""
    good, bad = tmp_path / "good.tar", tmp_path / "bad.tar"
    back_up(stores(full), good)
    if fault == "cut":
        bad.write_bytes(good.read_bytes()[: good.stat().st_size // 2])
    elif fault == "text":
        bad.write_text("This is a letter, and no backup.\n" * 100)
    elif fault == "link":
        with tarfile.open(bad, "w") as tar:
            link = tarfile.TarInfo("server/keys.json")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
            tar.addfile(link)
    else:
        change: dict[str, Callable[[tarfile.TarInfo, bytes], tuple[str, bytes] | None]] = {
            "bytes": lambda one, data: (one.name, data.replace(b"1911", b"1912")),
            "missing": lambda one, data: None if one.name.endswith("hut.md") else (one.name, data),
            "outside": lambda one, data: (one.name.replace("server/", "server/../../"), data),
        }
        altered(good, bad, change[fault])
    for home, overwrite in ((tmp_path / "new", False), (full, True)):
        before = held(home)
        with pytest.raises(UsageError, match=r"no (whole )?backup of a server|is damaged"):
            restore(stores(home), bad, overwrite)
        assert held(home) == before
    assert not (tmp_path / "hut.md").exists()


def test_what_a_killed_backup_left_goes_with_the_next_one(full: Path, tmp_path: Path) -> None:
    part = tmp_path / ".backup.tar.part"
    part.mkdir()
    (part / "tar").write_bytes(b"half")
    back_up(stores(full), tmp_path / "backup.tar")
    assert not part.exists()
    assert settings_of(tmp_path / "backup.tar") == 'retriever = "bm25"\n'


def test_files_that_are_not_complete_stay_out(full: Path, tmp_path: Path) -> None:
    """And so do locks, and the backup itself where it is made within the server's folder."""
    (full / "server" / "collections" / "default" / "uploads" / ".half.md.ab12").write_text("half")
    back_up(stores(full), full / "server" / "first.tar")
    back_up(stores(full), target := full / "server" / "backup.tar")
    with tarfile.open(target) as tar:
        names = tar.getnames()
    assert "server/collections/default/uploads/bridge.md" in names
    assert not [name for name in names if ".half" in name or name.endswith(".lock") or name == "server/backup.tar"]


@pytest.mark.slow
def test_a_killed_backup_leaves_no_half_file(full: Path, tmp_path: Path) -> None:
    """At whatever moment, some times in a row: the file is there whole, or not at all."""
    (full / "server/collections/default/uploads/large.bin").write_bytes(bytes(200_000_000))
    program = (
        "import sys; from pathlib import Path; from server.test_backup import stores; "
        "from surefoot.server.backup import back_up; print('begun', flush=True); "
        "back_up(stores(Path(sys.argv[1])), Path(sys.argv[2]))"
    )
    made = 0
    for turn in range(12):
        target = tmp_path / "out" / "backup.tar"
        target.parent.mkdir(exist_ok=True)
        process = subprocess.Popen([sys.executable, "-c", program, str(full), str(target)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.08 * turn)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if target.exists():
            made += 1
            restore(stores(tmp_path / "new"), target, overwrite=True)
            target.unlink()
    assert made < 12
    back_up(stores(full), target)
    assert [place.name for place in target.parent.iterdir()] == ["backup.tar"]
