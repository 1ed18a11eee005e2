"""`surefoot mcp`, up to where the protocol begins."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="needs the extra server")


def test_it_works_in_the_folder_that_it_is_given(
    surefoot: Callable[..., Any], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the configuration that lies there; standard output stays the protocol's."""
    pytest.importorskip("mcp", reason="needs the extra mcp")
    from surefoot.server import mcp

    seen: dict[str, Any] = {}
    monkeypatch.setattr(mcp, "run", lambda settings, config: seen.update(settings=settings, config=config))
    folder = here / "handbook"
    folder.mkdir()
    (folder / "surefoot.toml").write_text('evaluator = "lexical"\n[server]\nworkers = 7\n')
    done = surefoot("mcp", "--directory", str(folder))
    assert (done.code, done.out, done.err) == (0, "", "")
    assert Path.cwd() == folder
    assert seen["settings"].workers == 7


def test_over_http_it_is_the_server_without_its_page(
    surefoot: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the same address, with the same settings."""
    pytest.importorskip("mcp", reason="needs the extra mcp")
    from surefoot.server import app

    seen: list[Any] = []
    monkeypatch.setattr(app, "run", lambda settings, config: seen.append(settings))
    done = surefoot("mcp", "--http", "--set", "server.port=8999")
    assert done.code == 0
    assert "http://localhost:8999" in done.out
    assert seen[0].port == 8999
