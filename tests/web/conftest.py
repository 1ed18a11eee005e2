"""A real Chromium for the viewer and the page, and axe."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 120_000
"""Milliseconds; a busy machine is no reason to fail."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    chromium = os.environ.get("SUREFOOT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        pytest.skip("needs a Chromium: none is on the path, and SUREFOOT_CHROMIUM names none")
    with playwright.sync_playwright() as engine:
        running = engine.chromium.launch(executable_path=chromium, args=["--no-sandbox"], timeout=PATIENCE)
        yield running
        running.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The text of axe-core's script."""
    places = [Path(name) for name in (os.environ.get("SUREFOOT_AXE", ""), "node_modules/axe-core/axe.min.js") if name]
    found = next((place for place in places if place.is_file()), None)
    if not found:
        pytest.skip("needs axe-core: npm install --no-save axe-core, or SUREFOOT_AXE=FILE")
    return found.read_text("utf-8")
