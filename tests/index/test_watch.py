"""An index that follows its files."""

from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from surefoot.index import watch as watching
from surefoot.index.watch import watch
from surefoot.types.errors import IndexFault, SurefootError


def followed(folder: Path, monkeypatch: pytest.MonkeyPatch, *turns: Callable[[], object]) -> list[SurefootError]:
    """Watch a folder; each update takes the next turn, and the last one ends it. The errors that were told."""
    monkeypatch.setattr(watching, "PAUSE", 0.0)
    stop, waiting, told = Event(), list(turns), list[SurefootError]()

    def update() -> None:
        turn = waiting.pop(0)
        if not waiting:
            stop.set()
        turn()

    watch([folder], update, told.append, stop)
    assert not waiting
    return told


def test_a_file_that_comes_changes_or_goes_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that changes while the index is brought up to date; what stays as it is calls for nothing."""
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text("a")
    turns = (lambda: two.write_text("b"), lambda: one.write_text("a longer one"), two.unlink, lambda: None)
    assert followed(tmp_path, monkeypatch, *turns) == []


def test_an_error_is_told_once_and_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is tried again, though nothing changes, until it succeeds; another error is told as well."""
    (tmp_path / "one.txt").write_text("a")

    def failing(why: str) -> Callable[[], None]:
        def turn() -> None:
            raise IndexFault(why)

        return turn

    told = followed(tmp_path, monkeypatch, failing("full"), failing("full"), failing("locked"), lambda: None)
    assert [str(error) for error in told] == ["full", "locked"]


def test_a_folder_that_is_gone_may_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a disk that is mounted again does."""
    folder, away = tmp_path / "docs", tmp_path / "away"
    folder.mkdir()
    (folder / "one.txt").write_text("a")
    turns = (lambda: folder.rename(away), lambda: away.rename(folder), lambda: None)
    assert followed(folder, monkeypatch, *turns) == []
