"""Takes docs/images/page-*.webp: the page of `surefoot serve` over the library of the demo, in a real Chromium.

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
CONFIG = '[index]\npath = "library.db"\n[searcher]\nuse = "folder"\npath = "outside.db"\n[network]\ncache = ""\n'
BORN = "In which village was the guide Anna Tresk born?"
THICK = "How thick is the Hohrin Glacier?"
BUILT = "When was the Sorvay Lighthouse built?"
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
    """Ask in four ways, and take a picture of each."""
    chromium = os.environ.get("SUREFOOT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as place, as_file(files("surefoot") / "demo") as demo:
        _indexed(demo, Path(place))
        with serving(Path(place)) as url, sync_playwright() as engine:
            browser = engine.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            blank = browser.new_page()

            def shot(name: str, tab: Page) -> None:
                tab.evaluate("document.activeElement.blur()")
                png = base64.b64encode(tab.screenshot()).decode()
                (TARGET / f"page-{name}.webp").write_bytes(base64.b64decode(blank.evaluate(WEBP, png)))
                tab.context.close()

            tab = opened(browser, url)
            ask(tab, BORN)
            tab.click(".cite")
            tab.wait_for_selector("#source mark.here")
            shot("source", tab)
            tab = opened(browser, url, scheme="dark")
            ask(tab, THICK)
            shot("decision", tab)
            tab = opened(browser, url, width=390)
            ask(tab, BUILT)
            shot("phone", tab)
            browser.close()


def opened(browser: Browser, url: str, width: int = 1440, scheme: str = "light") -> Page:
    """The page in a browser of its own."""
    size = {"width": width, "height": 900 if width > 500 else 844}
    context = browser.new_context(
        viewport=size, color_scheme=scheme, reduced_motion="reduce", device_scale_factor=1.25 if width > 500 else 2
    )
    context.set_default_timeout(120_000)
    tab = context.new_page()
    tab.goto(url)
    tab.wait_for_selector(".hero")
    return tab


if __name__ == "__main__":
    main()
