"""Hashes of files: right whatever is remembered, and read once for as long as a file stays as it is."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path

import pytest

from surefoot.models import hashes


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file, nothing remembered of it yet; it counts as settled at once."""
    monkeypatch.setattr(hashes, "FILE", tmp_path / "cache" / "hashes.json")
    monkeypatch.setattr(hashes, "_SETTLED", -60.0)
    (tmp_path / "model").write_bytes(b"weights")
    return tmp_path / "model"


def _of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _read_again(model: Path) -> bool:
    """Whether the file itself is asked: what is remembered is made to lie, which shows where it is believed."""
    known = json.loads(hashes.FILE.read_bytes()) if hashes.FILE.exists() else {}
    hashes.FILE.parent.mkdir(exist_ok=True)
    hashes.FILE.write_text(json.dumps({path: [*mark, "0" * 64] for path, (*mark, _) in known.items()}))
    return hashes.sha256(model) != "0" * 64


def test_a_file_that_stays_as_it_is_is_read_once(model: Path) -> None:
    assert hashes.sha256(model) == _of(b"weights")
    assert not _read_again(model)


def test_an_edit_that_keeps_size_and_time_is_seen(model: Path) -> None:
    """The time of the last change of anything, ctime, cannot be set back."""
    hashes.sha256(model)
    was = model.stat()
    model.write_bytes(b"weighty")
    os.utime(model, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert hashes.sha256(model) == _of(b"weighty")


def test_another_file_in_its_place_is_seen(model: Path, tmp_path: Path) -> None:
    """Moved there with the same size and the same time of its content."""
    hashes.sha256(model)
    other = tmp_path / "other"
    other.write_bytes(b"weighty")
    os.utime(other, ns=(model.stat().st_atime_ns, model.stat().st_mtime_ns))
    other.replace(model)
    assert hashes.sha256(model) == _of(b"weighty")


def test_a_file_that_was_just_written_is_read_again(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write within the same tick of the file system's clock would leave its times as they are."""
    monkeypatch.setattr(hashes, "_SETTLED", 60.0)
    hashes.sha256(model)
    assert _read_again(model)


@pytest.mark.parametrize(
    "damaged",
    [b"", b"\xff\xfe", b"[]", b"null", b"[" * 100_000, b'{"a": NaN', b'{"%s": 3}', b'{"%s": []}', b'{"%s": ["x"]}'],
    ids=lambda damaged: repr(damaged[:10]),
)
def test_what_is_remembered_wrongly_is_as_good_as_nothing(model: Path, damaged: bytes) -> None:
    """Whatever is in the file: the model is read, and remembered anew."""
    hashes.FILE.parent.mkdir()
    hashes.FILE.write_bytes(damaged.replace(b"%s", str(model).encode()))
    assert hashes.sha256(model) == _of(b"weights")
    assert not _read_again(model)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a folder that cannot be written")
def test_where_nothing_can_be_kept_the_file_is_read_each_time(model: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir(mode=stat.S_IRUSR | stat.S_IXUSR)
    assert hashes.sha256(model) == hashes.sha256(model) == _of(b"weights")


def test_a_folder_that_is_none_is_no_reason_to_fail(model: Path, tmp_path: Path) -> None:
    """As above, also for root: a file stands where the folder would be made."""
    (tmp_path / "cache").touch()
    assert hashes.sha256(model) == _of(b"weights")


def test_only_the_latest_files_are_remembered(model: Path, tmp_path: Path) -> None:
    """Folders of models come and go; the list of them must not grow without end."""
    for number in range(60):
        (tmp_path / str(number)).write_bytes(b"%d" % number)
        hashes.sha256(tmp_path / str(number))
    known = json.loads(hashes.FILE.read_bytes())
    assert len(known) == 50
    assert str(tmp_path / "59") in known
