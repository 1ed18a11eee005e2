"""What a measurement was made with is told without saying whose it was."""

import hashlib
import json
import os
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest

from surefoot.run import manifest
from surefoot.types.errors import UsageError


def test_versions_and_machine_are_plain_values() -> None:
    """They go into a file; a library that is not installed is not in it."""
    found = manifest.environment()
    assert json.loads(json.dumps(found)) == found
    assert found["libraries"]["numpy"] == version("numpy")
    assert found["cores"] >= 1
    assert set(found["libraries"]) <= set(manifest.LIBRARIES)


def test_nothing_names_a_person_or_a_path() -> None:
    """Reports are published."""
    told = json.dumps(manifest.environment())
    assert str(Path.home()) not in told
    assert os.uname().nodename not in told


def test_the_revision_is_that_of_the_source_with_its_changes(tmp_path: Path) -> None:
    """Marked when it has changed since; what is installed within a checkout, and not in it, has none."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "a.py").write_text("a = 1")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run([*git, "init", "-q"], check=True)
    assert manifest._revision(package) is None
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "m"], check=True)
    revision = manifest._revision(package)
    assert revision is not None
    assert len(revision) == 40
    (package / "a.py").write_text("a = 2")
    assert manifest._revision(package) == revision + "+"


def test_the_fingerprint_of_a_file_is_its_hash(tmp_path: Path) -> None:
    """However long it is."""
    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    assert manifest.fingerprint(tmp_path / "a") == hashlib.sha256(b"x" * 3_000_000).hexdigest()


def test_the_fingerprint_of_a_folder_is_of_names_and_contents(tmp_path: Path) -> None:
    """A file that moved, or changed, is another folder."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a").write_text("1")
    first = manifest.fingerprint(tmp_path)
    (tmp_path / "sub" / "a").rename(tmp_path / "a")
    moved = manifest.fingerprint(tmp_path)
    (tmp_path / "a").write_text("2")
    assert len({first, moved, manifest.fingerprint(tmp_path)}) == 3


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    """In one line."""
    with pytest.raises(UsageError, match="none cannot be read: No such file"):
        manifest.fingerprint(tmp_path / "none")
