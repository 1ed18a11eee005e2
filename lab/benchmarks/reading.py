"""Time of indexing beside another version, and the share of the words of HTML pages that is read.

    python benchmarks/reading.py compare FOLDER BEFORE AFTER [--rounds 3]
    python benchmarks/reading.py words FOLDER [FOLDER ...]

`compare` indexes the folder with the sources of two checkouts in turn, each time into a new index by a new program,
with the hashing embedder: what is measured is reading, splitting and writing. `words` counts how many of the words of
HTML pages in folders, as html2text gives them (`pip install html2text`), stand in no block, heading or title.
"""

import argparse
import io
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib import import_module
from pathlib import Path
from statistics import median

from trafilatura.utils import decode_file

from surefoot.documents.loaders import Document, Unreadable, read

INDEX = """
import sys
try:
    from surefoot.index.build import build
except ImportError:
    from surefoot.corpus.build import build
from surefoot.embedders.hashing import Hashing
if __name__ == "__main__":
    report = build([sys.argv[1]], sys.argv[2], Hashing())
    print(report.files.added, report.passages.added, len(report.skipped))
"""


def indexed(folder: Path, checkout: Path) -> float:
    """The seconds that a new program takes to index the folder; it prints what it read."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as home:
        program = Path(home, "program.py")
        program.write_text(INDEX)
        env = os.environ | {"PYTHONPATH": str(checkout / "src")}
        subprocess.run([sys.executable, program, folder, Path(home, "index.db")], env=env, check=True)
    return time.perf_counter() - began


def compare(folder: Path, before: Path, after: Path, rounds: int) -> None:
    took = [[indexed(folder, checkout) for checkout in (before, after)] for _ in range(rounds)]
    for name, seconds in zip(("before", "after"), zip(*took, strict=True), strict=True):
        print(f"{name}: {median(seconds):.1f} s ({min(seconds):.1f} to {max(seconds):.1f})")
    print(f"after / before, median of the rounds: {median(late / early for early, late in took):.2f}")


def counted(text: str) -> Counter[str]:
    """The words of a text; one that was parted at the end of a line is whole."""
    return Counter(re.findall(r"\w+", re.sub(r"(?<=[a-z])-\n\s*(?=[a-z])", "", text)))


def words(folder: Path) -> None:
    html2text, total, missed, short = import_module("html2text"), 0, 0, []
    for path in sorted(path for path in folder.rglob("*.htm*") if path.is_file()):
        writer = html2text.HTML2Text(bodywidth=0)
        writer.ignore_images = writer.ignore_links = writer.ignore_emphasis = writer.unicode_snob = True
        content = path.read_bytes()
        try:
            (document,) = (one for one in read(io.BytesIO(content), path.name) if isinstance(one, Document))
        except Unreadable as error:
            print(f"{path}: {error}")
            continue
        texts = [text for block in document.blocks for text in (block.text, *block.path)]
        wanted = counted(writer.handle(decode_file(content)))
        missing = (wanted - counted("\n".join((document.title, *texts)))).total()
        total, missed = total + wanted.total(), missed + missing
        if missing > 0.01 * wanted.total():
            short.append((missing / wanted.total(), path.name))
    print(f"{folder.name}: {total:,} words, {missed / total:.3%} missing; {len(short)} pages miss over 1 %")
    print("".join(f"    {share:.1%} of {name}\n" for share, name in sorted(short, reverse=True)[:3]), end="")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    comparing = commands.add_parser("compare")
    for name in ("folder", "before", "after"):
        comparing.add_argument(name, type=Path)
    comparing.add_argument("--rounds", type=int, default=3)
    commands.add_parser("words").add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    arguments = parser.parse_args()
    if arguments.command == "compare":
        compare(arguments.folder, arguments.before, arguments.after, arguments.rounds)
    else:
        for folder in arguments.folders:
            words(folder)


if __name__ == "__main__":
    main()
