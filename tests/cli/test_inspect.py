"""`surefoot doctor` and `surefoot models`."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surefoot.config import doctor
from surefoot.config.settings import read
from surefoot.models import registry


def lines(text: str) -> dict[str, str]:
    """The findings of doctor by check."""
    return dict(line[2:].split(": ", 1) for line in text.splitlines())


def test_components_lists_every_role_with_what_can_be_used(surefoot: Callable[..., Any]) -> None:
    """A name, where it is from, and the first line of its documentation."""
    done = surefoot("doctor", "--components")
    assert (done.code, done.err) == (0, "")
    for word in ("evaluator", "lexical", "searcher", "nowhere", "surefoot"):
        assert word in done.out


def test_components_shows_how_to_install_what_is_missing(
    surefoot: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line is whole, brackets included."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "surefoot.retrievers.pgvector", raising=False)
    assert "pip install 'surefoot[pgvector]'" in surefoot("doctor", "--components").out


def test_doctor_finds_nothing_wrong_where_all_is_well(indexed: Callable[..., Any]) -> None:
    """Each thing is named, with what was found."""
    done = indexed("doctor")
    assert (done.code, done.err) == (0, "")
    assert "✗" not in done.out
    found = lines(done.out)
    assert "2 passages of 2 documents" in found["index"]
    assert "full-text search" in found["SQLite"]
    assert {".docx", ".pdf", ".pptx", ".txt"} <= set(found["loaders"].split())
    assert "scripted" in found["language model"]


def test_doctor_has_no_tick_for_an_index_without_passages(surefoot: Callable[..., Any], here: Path) -> None:
    """As when nothing of the only file could be read: each question would be refused."""
    (here / "library" / "bad.pdf").write_bytes(b"no pdf")
    surefoot("index", "library/bad.pdf")
    done = surefoot("doctor")
    assert done.code == 1
    assert "holds no passages; run: surefoot index PATH…" in lines(done.out)["index"]


def test_doctor_says_what_to_do_where_something_is_wrong(surefoot: Callable[..., Any]) -> None:
    """Exit code 1; the checks after the first fault are made all the same."""
    done = surefoot("doctor", "--set", "llm.use=nobody")
    assert done.code == 1
    assert "✗ index" in done.out
    assert "surefoot index" in lines(done.out)["index"]
    assert "there are: " in lines(done.out)["language model"]
    assert "pipeline" in lines(done.out)


def test_doctor_wants_room_for_the_models(here: Path) -> None:
    """It says how much, and where."""
    (found,) = [one for one in doctor.examine(read(), disk=1e18) if one.name == "disk"]
    assert not found.ok
    assert "make room for 1000000000000 MB" in found.found


@pytest.mark.parametrize(
    ("library", "loader", "words"),
    [
        ("openpyxl", "xlsx", "; for .xlsx run: pip install 'surefoot[formats]'"),
        ("pypdfium2", "pdf", "cannot read .pdf ("),
    ],
)
def test_doctor_names_the_files_that_cannot_be_read_for_want_of_a_library(
    surefoot: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, library: str, loader: str, words: str
) -> None:
    """With the line that installs it. Who has no files of an extra needs none: that is no fault."""
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"surefoot.documents.loaders.{loader}", raising=False)
    done = surefoot("doctor")
    assert words in lines(done.out)["loaders"]
    assert ("✓ loaders" in done.out) == (library == "openpyxl")
    assert "pip install" in lines(done.out)["loaders"]


def test_doctor_finds_a_damaged_model(indexed: Callable[..., Any], here: Path) -> None:
    """Whether it is wanted or not, with the line that mends it; one of the right size may hold something else."""
    model = registry.REGISTRY["minilm-int8"]
    (here / "models").mkdir()
    (here / "models" / model.file).write_text("short")
    done = indexed("doctor")
    assert done.code == 1
    assert "surefoot models pull minilm-int8" in lines(done.out)["model minilm-int8"]
    with (here / "models" / model.file).open("wb") as file:
        file.truncate(model.size)
    assert lines(indexed("doctor", "--deep").out)["model minilm-int8"].startswith("its sha256 is")


def test_doctor_reads_the_whole_index_where_it_is_asked_to(indexed: Callable[..., Any], here: Path) -> None:
    """And finds what a look at it does not."""
    assert "and the file is whole" in lines(indexed("doctor", "--deep").out)["index"]
    index = here / ".surefoot/index.db"
    data = index.read_bytes()
    index.write_bytes(data[:8192] + b"\xff" * 64 + data[8256:])
    assert "✗ index" not in indexed("doctor").out
    done = indexed("doctor", "--deep")
    assert done.code == 1
    assert "--rebuild" in lines(done.out)["index"]


def test_doctor_speaks_of_absent_models_only_where_they_are_wanted(indexed: Callable[..., Any]) -> None:
    """An endpoint's user need not fetch a local model; a user of the local one is told that the first question will."""
    assert "model " not in indexed("doctor").out.replace("language model", "")
    assert "model smollm2-135m-instruct-q4_1" in lines(indexed("doctor", "--set", "llm.use=local").out)
    assert "model minilm-int8" in lines(indexed("doctor", "--set", "embedder.use=minilm").out)


def test_models_are_listed_with_their_state(surefoot: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """All that Surefoot knows, where they would be kept, without fetching any."""
    monkeypatch.setenv("COLUMNS", "200")
    done = surefoot("doctor", "--models")
    assert done.code == 0
    for model in registry.REGISTRY.values():
        assert model.name in done.out
        assert model.licence in done.out
    assert done.out.count("absent") == len(registry.REGISTRY)
    assert "models" in done.out.splitlines()[-1]
