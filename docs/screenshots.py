"""Takes docs/images/page-*.webp, the page of `surefoot serve` over the library of the demo, and viewer-*.webp, the
report that `surefoot view runs/first-attempt --html REPORT` wrote, in a real Chromium:
`python docs/screenshots.py page`, or `python docs/screenshots.py viewer REPORT`.

Needs the extra server, the package playwright, and a Chromium on the path or in `SUREFOOT_CHROMIUM`.
"""

import base64
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import as_file, files
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from surefoot.cli.demo import _indexed

TARGET = Path(__file__).parent / "images"
RECORD = "m20"
"""The record of the report whose claims are shown."""
CONFIG = '[index]\npath = "library.db"\n[searcher]\nuse = "folder"\npath = "outside.db"\n[network]\ncache = ""\n'
BORN = "In which village was the guide Anna Tresk born?"
WEBP = """async png => {
  const picture = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  canvas.getContext("2d").drawImage(picture, 0, 0);
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/webp", quality: 0.86 })).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}"""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The address of a server in this folder."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    (folder / "surefoot.toml").write_text(CONFIG)
    command = [sys.executable, "-m", "surefoot", "serve", "--no-browser", "--port", str(port)]
    process = subprocess.Popen(command, cwd=folder, env=os.environ, stdout=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/ready"):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def ask(tab: Page, words: str) -> None:
    """Ask, and wait until all is drawn."""
    number = tab.locator(".turn").count() + 1
    tab.fill("#question", words)
    tab.press("#question", "Enter")
    tab.wait_for_selector(f".turn:nth-child({number}) > footer > *")


def main() -> None:
    """Take the pictures of `page`, or those of `viewer` from the report that is named behind it."""
    chromium = os.environ.get("SUREFOOT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        match sys.argv[1:]:
            case ["page"]:
                of_the_page(browser)
            case ["viewer", report]:
                of_the_viewer(browser, Path(report).absolute().as_uri())
            case _:
                sys.exit(__doc__)
        browser.close()


def of_the_page(browser: Browser) -> None:
    """Ask in three ways, and take a picture of each."""
    with tempfile.TemporaryDirectory() as place, as_file(files("surefoot") / "demo") as demo:
        _indexed(demo, Path(place))
        with serving(Path(place)) as url:
            tab = opened(browser, url, ".hero")
            ask(tab, BORN)
            tab.click(".cite")
            tab.wait_for_selector("#source mark.here")
            shot("page-source", tab)


def of_the_viewer(browser: Browser, report: str) -> None:
    """Open the report of the first evaluation, from disk as its readers do."""
    shot("viewer-overview", opened(browser, f"{report}#/", ".diamond", width=1280, height=1000))
    tab = opened(browser, f"{report}#/record/{RECORD}", ".sign", width=1280, height=800)
    tab.hover(".claim")
    shot("viewer-record", tab)


def shot(name: str, tab: Page) -> None:
    """Keep what the tab shows as `name`.webp, and close it."""
    tab.evaluate("document.activeElement.blur()")
    png = base64.b64encode(tab.screenshot()).decode()
    blank = tab.context.new_page()  # the page's own policy forbids what draws a WebP
    (TARGET / f"{name}.webp").write_bytes(base64.b64decode(blank.evaluate(WEBP, png)))
    tab.context.close()


def opened(browser: Browser, url: str, ready: str, width: int = 1440, height: int = 900) -> Page:
    """The page in a browser of its own, when `ready` is there."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="light",
        reduced_motion="reduce",
        device_scale_factor=1.25,
    )
    context.set_default_timeout(120_000)
    tab = context.new_page()
    tab.goto(url)
    tab.wait_for_selector(ready)
    return tab


if __name__ == "__main__":
    main()
