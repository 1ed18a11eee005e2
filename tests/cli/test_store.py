from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.slow
def test_a_store_is_filled_checked_and_searched(surefoot: Callable[..., Any], here: Path) -> None:
    """By its name in the configuration; the check ends with 1 once the index has changed."""
    pytest.importorskip("lancedb", reason="needs the extra lance")
    store = "--set", "retriever.use=lance", "--set", f"retriever.uri={here / 'store'}"
    assert "Pushed    2 new, 0 changed, 0 unchanged, 0 gone" in surefoot("index", "library", "--push", *store).out
    checked = surefoot("store", "check", *store)
    assert checked.code == 0
    assert "Passages  2 equal, 0 missing, 0 changed, 0 surplus" in checked.out
    assert "1.000 of the 10 nearest" in checked.out
    assert surefoot("index", "library/hut.md", "--remove").code == 0
    checked = surefoot("store", "check", *store)
    assert checked.code == 1
    assert "1 surplus" in checked.out


def test_a_retriever_that_is_no_store_cannot_be_checked(indexed: Callable[..., Any]) -> None:
    done = indexed("store", "check")
    assert done.code == 2
    assert "is no store" in done.err
