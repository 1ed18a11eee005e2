"""`surefoot serve` and its keys."""

import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra server")


def test_a_key_is_made_listed_and_removed(surefoot: Callable[..., Any], here: Path) -> None:
    """It is shown once; the list has its name and its collections, and never the key."""
    made = surefoot("serve", "keys", "ann", "--collection", "huts", "--collection", "bridges")
    assert made.code == 0
    assert made.out.startswith("sf-")
    listed = surefoot("serve", "keys").out
    assert "ann" in listed
    assert "huts, bridges" in listed
    assert made.out.strip() not in listed + (here / ".surefoot/server/keys.json").read_text()
    assert surefoot("serve", "keys", "ann", "--remove").code == 0
    assert "ann" not in surefoot("serve", "keys").out


def test_a_backup_is_restored_in_an_empty_folder(
    surefoot: Callable[..., Any], here: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With its settings, which say where things go; a second time it is refused."""
    with (here / "surefoot.toml").open("a") as file:
        file.write('[server]\nfolder = "own"\n')
    made = surefoot("serve", "keys", "ann")
    assert surefoot("serve", "backup", "all.tar").code == 0
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    done = surefoot("serve", "restore", str(here / "all.tar"))
    assert (done.code, done.err) == (0, "")
    assert "Restored 2 files" in done.out
    assert (elsewhere / "own" / "keys.json").read_bytes() == (here / "own" / "keys.json").read_bytes()
    assert "ann" in surefoot("serve", "keys").out
    assert made.out.strip() not in (here / "all.tar").read_text("latin-1")
    again = surefoot("serve", "restore", str(here / "all.tar"))
    assert again.code == 2
    assert "own is there already" in again.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("restore", "surefoot.toml"), "surefoot.toml is no whole backup of a server"),
        (("keys", "nobody", "--remove"), "there is no key 'nobody'"),
        (("keys", "ann", "--collection", "../x"), "cannot be a collection"),
        (("--no-browser", "--host", "0.0.0.0"), "surefoot serve keys"),
        (("--no-browser", "--set", "server.workers=0"), "workers must be greater than or equal to 1, not 0"),
        (("--no-browser", "--set", "server.wrokers=1"), "did you mean 'workers'"),
    ],
)
def test_mistakes_end_with_a_line_and_code_2(
    surefoot: Callable[..., Any], words: tuple[str, ...], message: str
) -> None:
    done = surefoot("serve", *words)
    assert done.code == 2
    assert message in done.err


def test_alone_it_starts(surefoot: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """`surefoot serve` is `surefoot serve start`; it says where, and serves the configuration."""
    from surefoot.server import app

    seen: dict[str, Any] = {}
    monkeypatch.setattr(app, "run", lambda settings, config: seen.update(settings=settings, config=config))
    done = surefoot("serve", "--no-browser", "--port", "8999")
    assert (done.code, done.err) == (0, "")
    assert "http://localhost:8999" in done.out
    assert seen["settings"].port == 8999
    assert seen["config"]["evaluator"]["use"] == "lexical"


@pytest.mark.parametrize(
    ("words", "lacking", "extra"),
    [(("serve", "--no-browser"), "fastapi", "server"), (("mcp",), "mcp.server.stdio", "mcp")],
)
def test_without_its_libraries_it_says_how_to_install_them(
    surefoot: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], lacking: str, extra: str
) -> None:
    """One line, and no traceback; so does `surefoot mcp`."""
    for name in [name for name in sys.modules if name.startswith("surefoot.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, lacking, None)
    done = surefoot(*words)
    assert done.code == 2
    assert f"pip install 'surefoot[{extra}]'" in done.err


def test_over_an_index_of_another_version_it_does_not_start(surefoot: Callable[..., Any], here: Path) -> None:
    """Its collections would seem to be empty; the message has the command that renews the index."""
    from index.earlier import HERE

    (here / ".surefoot").mkdir()
    (here / ".surefoot" / "index.db").write_bytes(gzip.decompress((HERE / "version-2.db.gz").read_bytes()))
    done = surefoot("serve", "--no-browser")
    assert (done.code, done.out) == (2, "")
    assert "run: surefoot index --rebuild" in " ".join(done.err.split())
