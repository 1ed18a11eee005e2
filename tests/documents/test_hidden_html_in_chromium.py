"""Whether a browser shows what we take for shown, and nothing else: two pictures of a page, with other words in it.

Where the words of a way are others and no pixel is, nobody can read them. This judges colour, size, place and what lies
on top as well as what is not drawn. Needs the package playwright and a Chromium, `SUREFOOT_CHROMIUM` or the one on the
path; skipped, with the reason, without them.
"""

import base64
import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from documents.hidden_ways import HIDDEN, SHOWN, page

pytestmark = pytest.mark.slow

TOLD = 26
"""Of 255, by which a channel differs where a person can tell: a tenth."""
FEWEST = 12
"""Pixels of another colour in which letters are no more than a mark."""
DIFFERENT = """async ([one, other, told]) => {
  const pixels = async (data) => {
    const image = new Image(); image.src = 'data:image/png;base64,' + data; await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height); const pen = canvas.getContext('2d');
    pen.drawImage(image, 0, 0); return pen.getImageData(0, 0, image.width, image.height).data;
  };
  const [a, b] = [await pixels(one), await pixels(other)];
  if (a.length !== b.length) return -1;
  let apart = 0;
  for (let i = 0; i < a.length; i += 4)
    if ([0, 1, 2].some((c) => Math.abs(a[i + c] - b[i + c]) > told)) apart += 1;
  return apart;
}"""
AFTER_A_CLICK = {"details"}
"""Shown by its reader."""
FROM_ELSEWHERE = {"white on a picture"}
"""Shown with a picture that the test does not have."""


@pytest.fixture(scope="module")
def tab() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    chromium = os.environ.get("SUREFOOT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        pytest.skip("needs a Chromium: name it in SUREFOOT_CHROMIUM")
    with playwright.sync_playwright() as engine:
        running = engine.chromium.launch(executable_path=chromium, args=["--no-sandbox"], timeout=60_000)
        yield running.new_page(viewport={"width": 1280, "height": 800})
        running.close()


def is_read(tab: Any, way: tuple[str, str]) -> bool:
    """Whether other words look otherwise."""
    pictures = []
    for say, bob in (("Say", "Bob"), ("Ask", "Eve")):
        tab.set_content(page(*(part.replace("Say", say).replace("Bob", bob) for part in way)))
        pictures.append(base64.b64encode(tab.screenshot(full_page=True, animations="allow")).decode())
    apart = tab.evaluate(DIFFERENT, [*pictures, TOLD])
    return not 0 <= apart < FEWEST


@pytest.mark.parametrize("way", HIDDEN)
def test_chromium_does_not_show_it(tab: Any, way: str) -> None:
    """What we do not read."""
    assert not is_read(tab, HIDDEN[way])


@pytest.mark.parametrize("way", sorted(SHOWN.keys() - AFTER_A_CLICK - FROM_ELSEWHERE))
def test_chromium_shows_it(tab: Any, way: str) -> None:
    """What we read."""
    assert is_read(tab, SHOWN[way])
