"""`surefoot demo`: three questions, one for each action."""

import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path

from rich.rule import Rule
from rich.text import Text

from surefoot.cli._console import out, pulling
from surefoot.cli._trace_view import Screen
from surefoot.config.builder import Builder
from surefoot.config.settings import read
from surefoot.index.build import build


def demo() -> None:
    """Ask a small library three questions, and watch Surefoot accept, complete and correct."""
    with as_file(files("surefoot") / "demo") as folder, tempfile.TemporaryDirectory() as place, pulling():
        builder = Builder(_indexed(folder, Path(place)))
        pipeline = builder.pipeline()
        out.print(
            f"A library of {builder.index.info().documents} pages about an invented mountain range, and a small world "
            "outside it. Three questions, one for each action of corrective RAG."
        )
        cases = tomllib.loads((folder / "questions.toml").read_text("utf-8"))["questions"]
        for number, case in enumerate(cases, start=1):
            out.print()
            out.print(Rule(Text(f"{number}  {case['question']}", style="bold"), align="left", style="cyan"))
            screen = Screen(out, shown=4)
            screen.finish(pipeline.run(case["question"], on_event=screen))
            out.print(Text(case["why"], style="italic"))
    name = called(sys.argv)
    out.print(f'\nYour own documents:  {name} index FOLDER  and then  {name} ask "…"', soft_wrap=True)


def called(words: Sequence[str]) -> str:
    """The words that start Surefoot from here; `dev.py` installs it into a folder that is not on the PATH."""
    program = Path(words[0])
    if shutil.which("surefoot") or not program.is_file():
        return "surefoot"
    return "python -m surefoot" if program.name == "__main__.py" else os.path.relpath(program)


def _indexed(folder: Path, place: Path) -> dict[str, dict[str, object]]:
    config = read({}, {"index": {"path": str(place / "library.db")}})
    embedder = Builder(config).embedder
    build([folder / "library"], place / "library.db", embedder)
    build([folder / "outside"], place / "outside.db", embedder)
    return read(config, {"searcher": {"use": "folder", "path": str(place / "outside.db")}})
