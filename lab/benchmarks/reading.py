"""How long does it take to index a thousand ordinary files?

    python benchmarks/reading.py make FOLDER [--files 1000]
    python benchmarks/reading.py compare FOLDER BEFORE AFTER [--rounds 3]
    python benchmarks/reading.py words FOLDER [FOLDER ...]

`make` lays out text, Markdown, HTML, PDF and Word files of 2 to 40 kB of prose from this repository's docs, the same
each time. `compare` indexes them with the sources of two checkouts in turn, round by round, each time into a new index
by a new program, with the hashing embedder: what is measured is reading, splitting and writing. Given are the seconds
by the clock, and those of the processors, of the program and of all that it started.

`words` reads the HTML pages in folders, and counts how many of their words, as html2text gives them
(`pip install html2text`), are in no block, heading or title, and how many words it made too long by joining some.
"""

from __future__ import annotations

import argparse
import io
import os
import platform
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from statistics import median

import docx
from trafilatura.utils import decode_file

from surefoot.documents.loaders import Document, Unreadable, read

LABELS = ("note", "warning", "tip", "caution", "important")
DOCS = Path(__file__).parents[2] / "docs"
SHARE = {"md": 30, "txt": 25, "html": 20, "pdf": 15, "docx": 10}
"""Of a hundred files."""

INDEX = """
import sys
from surefoot.index.build import build
from surefoot.embedders.hashing import Hashing
if __name__ == "__main__":
    report = build([sys.argv[1]], sys.argv[2], Hashing())
    print(report.files.added, report.passages.added, len(report.skipped))
"""


def paragraphs() -> list[str]:
    text = "\n\n".join(path.read_text() for path in sorted(DOCS.glob("*.md")))
    return [" ".join(part.split()) for part in text.split("\n\n") if len(part.split()) > 12]


def plain(path: Path, title: str, parts: Sequence[str]) -> None:
    path.write_text(f"{title}\n\n" + "\n\n".join(parts))


def markdown(path: Path, title: str, parts: Sequence[str]) -> None:
    said = [f"## Part {n}\n\n{part}" if n % 5 == 0 else part for n, part in enumerate(parts)]
    path.write_text(f"# {title}\n\n" + "\n\n".join(said))


def page(path: Path, title: str, parts: Sequence[str]) -> None:
    menu = "".join(f'<li><a href="/{n}">Entry {n}</a></li>' for n in range(20))
    body = "".join(f"<p>{escape(part)}</p>" for part in parts)
    head = f"<!doctype html><html><head><title>{title}</title><style>p {{ margin: 0 }}</style></head>"
    path.write_text(f"{head}<body><nav><ul>{menu}</ul></nav><article><h1>{title}</h1>{body}</article></body></html>")


def word(path: Path, title: str, parts: Sequence[str]) -> None:
    document = docx.Document()
    document.add_heading(title, 1)
    for part in parts:
        document.add_paragraph(part)
    document.save(str(path))


def pdf(path: Path, title: str, parts: Sequence[str]) -> None:
    """Pages of 50 lines, as text is drawn: a line, a move."""
    lines = [line for part in parts for line in _wrapped(part)]
    pages = [lines[n : n + 50] for n in range(0, len(lines), 50)]
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>".encode(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for n, shown in enumerate(pages):
        drawn = "".join(f"({line}) Tj T* " for line in shown)
        stream = f"BT /F1 10 Tf 12 TL 50 760 Td {drawn}ET".encode("latin-1", "replace")
        font = "/MediaBox[0 0 600 800]/Resources<</Font<</F1 3 0 R>>>>"
        objects.append(f"<</Type/Page/Parent 2 0 R/Contents {5 + 2 * n} 0 R{font}>>".encode())
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream))
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj%s endobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    tail = b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
    path.write_bytes(out + tail % (len(places) + 1, table, len(places) + 1, len(out)))


def _wrapped(part: str) -> list[str]:
    lines, line = [], ""
    for each in part.replace("\\", "").replace("(", "").replace(")", "").split():
        if len(line) + len(each) > 90:
            lines.append(line)
            line = ""
        line = f"{line} {each}".strip()
    return [*lines, line]


WRITERS: dict[str, Callable[[Path, str, Sequence[str]], None]] = {
    "md": markdown,
    "txt": plain,
    "html": page,
    "pdf": pdf,
    "docx": word,
}


def make(folder: Path, files: int) -> None:
    draw, prose = random.Random(1), paragraphs()
    folder.mkdir(parents=True)
    kinds = draw.choices(list(SHARE), list(SHARE.values()), k=files)
    for number, kind in enumerate(kinds):
        size, parts = draw.randint(2_000, 40_000), []
        while sum(map(len, parts)) < size:
            parts.append(draw.choice(prose))
        WRITERS[kind](folder / f"{number:04}.{kind}", f"File {number}", parts)


def indexed(folder: Path, checkout: Path) -> tuple[float, float, str]:
    """Seconds by the clock and of processors, and what was indexed."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with tempfile.TemporaryDirectory() as home:
        program = Path(home, "program.py")
        program.write_text(INDEX)
        command = [sys.executable, program, folder, Path(home, "index.db")]
        env = os.environ | {"PYTHONPATH": str(checkout / "src")}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout.strip()


def compare(folder: Path, checkouts: Sequence[Path], rounds: int) -> None:
    took: list[list[tuple[float, float, str]]] = [[] for _ in checkouts]
    for number in range(rounds):
        for place in (0, 1) if number % 2 == 0 else (1, 0):
            took[place].append(indexed(folder, checkouts[place]))
    for name, each in zip(("before", "after"), took, strict=True):
        walls, cpus = [wall for wall, _, _ in each], [cpu for _, cpu, _ in each]
        rates = f"{median(walls):.1f} s ({min(walls):.1f} to {max(walls):.1f}), processors {median(cpus):.1f} s"
        print(f"{name}: {rates}; files, passages, skipped: {', '.join(sorted({said for _, _, said in each}))}")
    ratios = [(b[0] / a[0], b[1] / a[1]) for a, b in zip(*took, strict=True)]
    print(f"after / before, median of the rounds: clock {median(r for r, _ in ratios):.2f}, ", end="")
    print(f"processors {median(r for _, r in ratios):.2f}")
    print(f"{len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}")


def counted(text: str) -> Counter[str]:
    """The words of a text; one that was parted at the end of a line is whole."""
    return Counter(re.findall(r"\w+", re.sub(r"(?<=[a-z])-\n\s*(?=[a-z])", "", text)))


def words(folder: Path) -> None:
    html2text = import_module("html2text")
    took, names, short = [], Counter[str](), []
    for path in sorted(path for path in folder.rglob("*.htm*") if path.is_file()):
        writer = html2text.HTML2Text(bodywidth=0)
        writer.ignore_images = writer.ignore_links = writer.ignore_emphasis = writer.unicode_snob = True
        content = path.read_bytes()
        began = time.process_time()
        try:
            (document,) = (one for one in read(io.BytesIO(content), path.name) if isinstance(one, Document))
        except Unreadable as error:
            print(f"{path}: {error}")
            continue
        took.append((time.process_time() - began, str(path)))
        said = [block.text for block in document.blocks]
        headings = [name for block in document.blocks for name in block.path]
        found, wanted = (
            counted("\n".join((document.title, *headings, *said))),
            counted(writer.handle(decode_file(content))),
        )
        missing = (wanted - found).total()
        prose = [block.text for block in document.blocks if block.kind != "code"]
        long = sum(len(word) > 30 and word not in wanted for text in prose for word in re.findall(r"[^\W\d_]+", text))
        names.update(words=wanted.total(), missing=missing, long=long, notes=document.title.lower() in LABELS)
        if missing > 0.01 * wanted.total():
            short.append((missing / wanted.total(), path.name))
    seconds, slowest = sum(each for each, _ in took), max(took)
    print(
        f"{folder.name} | {len(took)} pages | {names['words']} words | {names['missing'] / names['words']:.3%} missing",
        end="",
    )
    print(f" | {len(short)} pages miss over 1 % | {names['long']} too long | {names['notes']} called Note", end="")
    print(f" | {seconds:.1f} s, {seconds / len(took) * 1000:.1f} ms a page, at most {slowest[0]:.2f} s ({slowest[1]})")
    print("".join(f"    {share:.1%} of {name}\n" for share, name in sorted(short, reverse=True)[:3]), end="")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make")
    making.add_argument("folder", type=Path)
    making.add_argument("--files", type=int, default=1000)
    comparing = commands.add_parser("compare")
    comparing.add_argument("folder", type=Path)
    comparing.add_argument("checkouts", type=Path, nargs=2, metavar=("BEFORE", "AFTER"))
    comparing.add_argument("--rounds", type=int, default=3)
    counting = commands.add_parser("words")
    counting.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    given = parser.parse_args()
    if given.command == "make":
        make(given.folder, given.files)
    elif given.command == "words":
        for folder in given.folders:
            words(folder)
    else:
        compare(given.folder, given.checkouts, given.rounds)


if __name__ == "__main__":
    main()
