"""A second index as the outside world."""

from pathlib import Path

import pytest

from surefoot.searchers.folder import Folder
from surefoot.types.errors import IndexFault


def test_a_folder_without_an_index_is_refused_when_it_is_built(tmp_path: Path) -> None:
    """Not when the first question needs it."""
    with pytest.raises(IndexFault, match=r"none\.db"):
        Folder(tmp_path / "none.db")
