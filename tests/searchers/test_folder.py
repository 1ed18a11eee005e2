"""A second index as the outside world."""

from __future__ import annotations

from pathlib import Path

import pytest

from surefoot.embedders.hashing import Hashing
from surefoot.index.build import build
from surefoot.searchers.folder import Folder
from surefoot.types.errors import IndexFault


@pytest.fixture
def outside(tmp_path: Path) -> Folder:
    """A searcher over two documents."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "tarle.txt").write_text("The Sorvay Lighthouse was built by Edmund Tarle.")
    (tmp_path / "docs" / "ferry.txt").write_text("The ferry to Sorvay sails in summer.")
    build([tmp_path / "docs"], tmp_path / "outside.db", Hashing())
    return Folder(str(tmp_path / "outside.db"))


def test_what_it_finds_is_marked_as_external_and_best_first(outside: Folder) -> None:
    """Knowledge from outside is never mistaken for the corpus."""
    found = outside.search("Sorvay Lighthouse", 5)
    assert [passage.source for passage in found] == ["external", "external"]
    assert "Tarle" in found[0].text
    assert found[0].url


def test_a_folder_without_an_index_is_refused_when_it_is_built(tmp_path: Path) -> None:
    """Not when the first question needs it."""
    with pytest.raises(IndexFault, match=r"none\.db"):
        Folder(tmp_path / "none.db")
