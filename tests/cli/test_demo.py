"""`surefoot demo`."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surefoot.cli.demo import called
from surefoot.models import registry
from surefoot.types.errors import ModelError


@pytest.mark.parametrize(
    ("program", "on_the_path", "name"),
    [
        (".venv/bin/surefoot", False, os.path.join(".venv", "bin", "surefoot")),
        (".venv/bin/surefoot", True, "surefoot"),
        ("src/surefoot/__main__.py", False, "python -m surefoot"),
        ("-c", False, "surefoot"),
    ],
)
def test_the_demo_names_a_command_that_exists(
    here: Path, monkeypatch: pytest.MonkeyPatch, program: str, on_the_path: bool, name: str
) -> None:
    """Also where `python3 dev.py demo` has put it into a folder that no shell looks into."""
    if program != "-c":
        (here / program).parent.mkdir(parents=True)
        (here / program).touch()
        program = str(here / program)
    (here / "bin").mkdir()
    if on_the_path:
        (here / "bin" / "surefoot").touch(0o755)
    monkeypatch.setenv("PATH", str(here / "bin"))
    assert called([program]) == name


@pytest.mark.slow
def test_the_demo_shows_each_action_once(surefoot: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of its questions, with the real embedder and the real model."""
    monkeypatch.delenv("SUREFOOT_MODELS")
    try:
        registry.path("smollm2-135m-instruct-q4_1")
    except ModelError as error:
        pytest.skip(str(error))
    done = surefoot("demo")
    assert done.code == 0
    decisions = [line.split()[1] for line in done.out.splitlines() if line.startswith("Decision ")]
    assert decisions == ["CORRECT", "AMBIGUOUS", "INCORRECT"]
