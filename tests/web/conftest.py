"""A real Chromium for the viewer and the page, and axe."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 120_000
"""Milliseconds; a busy machine is no reason to fail."""
FINISHED = ".turn:nth-child({}) > footer > *"
"""What is there once the turn of this number, from 1, is finished."""


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
    places = [Path(name) for name in (os.environ.get("SUREFOOT_AXE", ""), "node_modules/axe-core/axe.min.js") if name]
    found = next((place for place in places if place.is_file()), None)
    if not found:
        pytest.skip("needs axe-core: npm install --no-save axe-core, or SUREFOOT_AXE=FILE")
    return found.read_text("utf-8")


@dataclass
class Tabs:
    """Opens tabs, and remembers what goes wrong in them and what they ask for."""

    browser: Any
    contexts: list[Any] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)

    def open(self, width: int, scheme: str, **options: Any) -> Any:
        """A tab of a context of its own; `options` as Playwright has them."""
        context = self.browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, **options)
        context.set_default_timeout(PATIENCE)
        self.contexts.append(context)
        tab = context.new_page()
        tab.on(
            "console", lambda message: self.wrong.append(message.text) if message.type in ("error", "warning") else None
        )
        tab.on("pageerror", lambda error: self.wrong.append(str(error)))
        tab.on("dialog", lambda dialog: (self.wrong.append(dialog.message), dialog.dismiss()))
        tab.on("request", lambda request: self.requested.append(request.url))
        return tab


@contextmanager
def watched(browser: Any, allowed: tuple[str, ...], expected: list[str]) -> Iterator[Tabs]:
    """Tabs in which nothing may go wrong but what has a text of `expected`, and which may ask only for addresses that
    begin as `allowed` ones do."""
    tabs = Tabs(browser)
    yield tabs
    for context in tabs.contexts:
        context.close()
    assert [message for message in tabs.wrong if not any(known in message for known in expected)] == []
    assert [url for url in tabs.requested if not url.startswith(allowed)] == []


def ask(tab: Any, words: str) -> Any:
    """Ask on the page; the turn of this question, finished."""
    number = tab.locator(".turn").count() + 1
    tab.fill("#question", words)
    tab.press("#question", "Enter")
    tab.wait_for_selector(FINISHED.format(number))
    return tab.locator(".turn").nth(number - 1)
