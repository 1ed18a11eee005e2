"""Build the docs as a site that opens from a file: python3 dev.py site, then open build/site/html/index.html.

Zensical, in an environment of its own (build/site/env), turns the pages into HTML as they stand in the repository. A
file that a page links to comes along, as a page of its own. Ends with 1 if a link or an anchor of the HTML leads
nowhere, or if a page loads something from elsewhere.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "build" / "site"
ZENSICAL = "zensical==0.0.73"
"""Later releases want zensical-ui, in a version that not every index has."""
SHIM = '<script src="https://unpkg.com/iframe-worker/shim" type="text/javascript"></script>'
"""What Zensical's offline mode loads from the web, for the search of pages that are opened as files."""
WORKER = """\
window.Worker = class extends Worker {
  constructor(address) {
    super(location.protocol === "file:" ? URL.createObjectURL(new Blob([SOURCE])) : address);
  }
};
"""
"""What stands in its place: a page that is a file may not start a worker from a file, but from a text."""
START = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
FOLDERS = ("docs", "lab/benchmarks")
PICTURES = {".svg", ".png", ".webp", ".jpg"}

_FENCED = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_TIGHT = re.compile(r"^(?!- |\d+\. |\s|$)(.*)\n(?=- |1\. )", re.MULTILINE)


def main() -> int:
    """Build the site and check it. The exit code is 1 if a link is broken, that of Zensical if it fails."""
    pages, html = SITE / "pages", SITE / "html"
    for folder in (pages, html):
        shutil.rmtree(folder, ignore_errors=True)
    stage(ROOT, pages)
    shutil.copy(ROOT / "docs" / "zensical.toml", SITE)
    built = subprocess.run([zensical(), "build", "--strict", "--clean"], cwd=SITE)
    if built.returncode:
        return built.returncode
    (html / "404.html").unlink(missing_ok=True)  # for servers: its links begin at the server's root
    search_from_a_file(html)
    faults = [*broken(html)]
    print(
        "\n".join(faults)
        or f"every link of {len([*html.rglob('*.html')])} pages leads somewhere: {html / 'index.html'}"
    )
    return 1 if faults else 0


def search_from_a_file(html: Path) -> None:
    """Let the search work in pages that are opened as files, with nothing from the web."""
    [worker] = (html / "assets" / "javascripts" / "workers").glob("*.js")
    own = html / "assets" / "javascripts" / "worker.js"
    own.write_text(WORKER.replace("SOURCE", json.dumps(worker.read_text(encoding="utf-8"))), encoding="utf-8")
    for page in html.rglob("*.html"):
        script = f'<script src="{Path(os.path.relpath(own, page.parent)).as_posix()}"></script>'
        page.write_text(page.read_text(encoding="utf-8").replace(SHIM, script), encoding="utf-8")


def zensical() -> Path:
    """Return the program, installed on first use."""
    env = SITE / "env"
    program = env / ("Scripts" if os.name == "nt" else "bin")
    stamp = env / "installed"
    if not stamp.exists() or stamp.read_text() != ZENSICAL:
        venv.create(env, clear=True, with_pip=True)
        subprocess.run([program / "python", "-m", "pip", "install", "--quiet", ZENSICAL], check=True)
        stamp.write_text(ZENSICAL)
    return program / "zensical"


def stage(root: Path, pages: Path) -> None:
    """Write to `pages` what becomes the site: the pages of `root`, and every file that one of them links to."""
    waiting = [root / name for name in START]
    waiting += [page for folder in FOLDERS for page in sorted((root / folder).rglob("*.md"))]
    done: set[Path] = set()
    while waiting:
        source = waiting.pop()
        if source in done:
            continue
        done.add(source)
        target = pages / _staged(source.relative_to(root), root)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix in PICTURES:
            shutil.copy(source, target)
        elif source.suffix == ".md":
            text, linked = _page(source, root)
            target.write_text(text, encoding="utf-8")
            waiting += linked
        elif source.is_dir():
            files = _tracked(source)
            lines = [f"- [{name}]({_staged(Path(name), source).as_posix()})\n" for name in files]
            target.write_text(f"# {source.relative_to(root)}\n\n{''.join(lines)}", encoding="utf-8")
            waiting += [source / name for name in files]
        else:
            target.write_text(_listing(source, root), encoding="utf-8")


def _staged(path: Path, root: Path) -> Path:
    """Return where a path below `root` stands among the pages: anything but a page or a picture becomes a page."""
    if path.suffix in {".md", *PICTURES}:
        return path
    return path / "index.md" if (root / path).is_dir() else path.with_name(f"{path.name}.md")


def _page(source: Path, root: Path) -> tuple[str, list[Path]]:
    """Return the text of a page, its links led to where their targets are staged, and these targets."""
    linked = []

    def led(link: re.Match[str]) -> str:
        path, mark, anchor = link[1].partition("#")
        if not path or ":" in path:
            return link[0]
        target = (source.parent / path).resolve()
        if target.is_dir() and (target / "README.md").exists():
            target /= "README.md"
        linked.append(target)
        staged = os.path.relpath(root / _staged(target.relative_to(root), root), source.parent)
        return f"]({Path(staged).as_posix()}{mark}{anchor})"

    parts = _FENCED.split(source.read_text(encoding="utf-8"))
    # Python-Markdown wants an empty line before a list, where CommonMark wants none.
    parts[::2] = [_TIGHT.sub(r"\1\n\n", _LINK.sub(led, prose)) for prose in parts[::2]]
    return "".join(parts), linked


def _listing(source: Path, root: Path) -> str:
    """Return a file that is no page as one: a notebook as its cells, any other file as a block of code."""
    text = source.read_text(encoding="utf-8")
    name = source.relative_to(root).as_posix()
    if source.suffix == ".ipynb":
        cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]
        blocks = (cell if kind == "markdown" else f"```python\n{cell}\n```" for kind, cell in cells)
        return "\n\n".join([*blocks, f"The notebook: `{name}`\n"])
    language = {".py": "python", ".sh": "bash", ".yaml": "yaml"}.get(source.suffix, source.suffix.removeprefix("."))
    return f"# {source.name}\n\n`{name}`\n\n~~~~~~{language}\n{text.rstrip()}\n~~~~~~\n"


def _tracked(folder: Path) -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=folder, capture_output=True, text=True, check=True)
    return listed.stdout.splitlines()


class _Links(HTMLParser):
    """Collects the anchors of a page, where its links lead, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Sort what the tag names."""
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if "href" in found:
            (self.links if tag in ("a", "area") else self.loaded).add(found["href"])
        if "src" in found:
            self.loaded.add(found["src"])


def broken(html: Path) -> Iterator[str]:
    """Yield a line for each link and anchor of the pages below `html` that leads nowhere, and for whatever a page loads
    from elsewhere. Addresses on the web are not asked."""
    pages = {page.resolve(): _Links(page.read_text(encoding="utf-8")) for page in sorted(html.rglob("*.html"))}
    for page, found in pages.items():
        name = page.relative_to(html.resolve())
        yield from (f"{name}: loads {address}" for address in sorted(found.loaded) if _elsewhere(address))
        for link in sorted(link for link in found.links | found.loaded if not _elsewhere(link)):
            path, _, anchor = link.partition("#")
            target = (page.parent / unquote(path.partition("?")[0])).resolve() if path else page
            if not target.is_file():
                yield f"{name}: there is no {link}"
            elif target in pages and unquote(anchor) not in pages[target].anchors:
                yield f"{name}: there is no anchor {link}"


def _elsewhere(address: str) -> bool:
    return bool(re.match(r"\w[\w+.-]*:|//", address))


if __name__ == "__main__":
    sys.exit(main())
