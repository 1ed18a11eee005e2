"""The protocol's own conformance suite, and its inspector, against a server on a real socket."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")

pytestmark = pytest.mark.slow

EXPECTED = Path(__file__).with_name("conformance.yaml")
"""What does not apply, with reasons; the suite also fails where something of it passes after all."""


def ran(name: str, *words: str) -> str:
    """What a program of the protocol's makers prints."""
    folder = os.environ.get("SUREFOOT_MCP_PROGRAMS", "node_modules/.bin")
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"  # with a Node of theirs, if there is one beside them
    program = shutil.which(name, path=path)
    if program is None:
        pytest.skip(f"needs {name}: npm install, and SUREFOOT_MCP_PROGRAMS=…/node_modules/.bin")
    options: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 300}
    done = subprocess.run([program, *words], env={**os.environ, "PATH": path}, **options)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
def test_the_conformance_suite_passes_but_for_what_does_not_apply(live: str, version: str) -> None:
    """For clients of today, and for those of 2025."""
    expected = ["--expected-failures", str(EXPECTED)]
    ran("conformance", "server", "--url", f"{live}/mcp", "--spec-version", version, "--suite", "all", *expected)


def test_the_inspector_lists_and_calls_the_tools(live: str) -> None:
    """It checks what comes against the protocol's schemas."""
    inspect = ("mcp-inspector", "--cli", f"{live}/mcp", "--transport", "http", "--method")
    listed = json.loads(ran(*inspect, "tools/list"))
    assert [tool["name"] for tool in listed["tools"]] == ["ask", "retrieve", "grade"]
    called = json.loads(
        ran(*inspect, "tools/call", "--tool-name", "ask", "--tool-arg", "question=Who built the Ruvel Bridge?")
    )
    assert "Tomas Aldwin" in called["structuredContent"]["answer"]
    assert json.loads(ran(*inspect, "resources/list"))["resources"]
