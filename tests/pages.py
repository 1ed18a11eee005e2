"""The blocks of code of a page of the docs, run in order in one namespace and one folder, as a reader would."""

import inspect
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

import surefoot
from sample_run import FACTS
from surefoot.cli import main
from surefoot.embedders.static import Static
from surefoot.evaluate.records.folder import opened
from surefoot.index.build import build

ROOT = Path(__file__).parents[1]
DEMO = Path(surefoot.__file__).parent / "demo"
PAGES = [page.relative_to(ROOT).as_posix() for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

PDF = (
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont"
    b"/Helvetica>>>>>>>>endobj\n4 0 obj<</Length 47>>stream\nBT /F1 12 Tf 72 720 Td (The north bridge) Tj ET"
    b"\nendstream endobj\ntrailer<</Root 1 0 R>>\nstartxref\n0\n%%EOF"
)


@dataclass(frozen=True)
class Block:
    """A block of code: its page and first line, the line after it, the heading that it stands under, its language and
    its text."""

    page: str
    line: int
    end: int
    heading: str
    language: str
    code: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in order; an indented one holds commands."""
    tokens = MarkdownIt().parse((ROOT / page).read_text(encoding="utf-8"))
    found, heading = list[Block](), ""
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and after:
            heading = after.content
        elif token.type in ("fence", "code_block"):
            first, end = token.map or (0, 0)
            found.append(Block(page, first + 1, end, heading, token.info or "sh", token.content))
    return found


def commands(code: str) -> Iterator[tuple[str, str]]:
    """Each command with the output that is shown for it: all up to the next `$ `, or what follows a blank line."""
    code = code.replace("\\\n", " ")
    if "$ " in (line[:2] for line in code.splitlines()):
        for part in f"\n{code}".split("\n$ ")[1:]:
            command, _, output = part.partition("\n")
            yield command, output
        return
    calls, _, output = code.partition("\n\n")
    *first, last = calls.splitlines()
    yield from ((call, "") for call in first)
    yield last, output


def words(line: str) -> list[str]:
    """The words of a line of output, without numbers and bars, which differ by machine, and without paths."""
    return [word for word in re.split(r"[\s*▀-▟]+", line) if word and not re.search(r"[\d/…]", word)]


def missing(shown: str, output: str) -> list[str]:
    """The lines that are shown and do not stand in the output in this order, by their words."""
    there = words(output)
    lost = []
    for line in shown.splitlines():
        wanted = words(line)
        starts = range(len(there) - len(wanted) + 1)
        at = next((n for n in starts if there[n : n + len(wanted)] == wanted), None)
        if at is None:
            lost.append(line)
        else:
            there = there[at + len(wanted) :]
    return lost


@dataclass
class Reader:
    """Somebody who runs a page's blocks in a folder. `left_out` holds commands that are not run, by a part of them."""

    names: dict[str, Any]
    left_out: Mapping[str, str] = field(default_factory=dict)
    lacking: list[str] = field(default_factory=list)
    """Packages that are not installed, for which a block was not run."""

    def read(self, every: list[Block]) -> None:
        """Run all blocks of a page. A block of text right after one of Python is what that prints; one of
        TOML that begins with a file's name is written there."""
        for block, after in zip(every, [*every[1:], None], strict=True):
            if block.language == "python":
                follows = after and after.language == "text" and after.line <= block.end + 2
                self.python(block, after.code if after and follows else "")
            elif block.language == "sh":
                for command, shown in commands(block.code):
                    self.command(block, command, shown)
            elif block.code.startswith("# ") and block.code.split()[1].endswith(".toml"):
                Path(block.code.split()[1]).write_text(block.code)

    def python(self, block: Block, shown: str = "") -> str:
        """Run a block, and the tests that it holds; what it printed."""
        printed = StringIO()
        code = compile("\n" * block.line + block.code, ROOT / block.page, "exec")
        try:
            with redirect_stdout(printed):
                exec(code, self.names)
                for test in [one for name, one in self.names.items() if name.startswith("test_")]:
                    test(*map(self.names.__getitem__, inspect.signature(test).parameters))
        except ModuleNotFoundError as error:
            if str(error.name).startswith("surefoot"):
                raise
            self.lacking.append(f"{block.place} needs {error.name}")
            return ""
        assert not missing(shown, printed.getvalue()), (block.place, printed.getvalue())
        return printed.getvalue()

    def command(self, block: Block, command: str, shown: str) -> None:
        if any(one in command for one in self.left_out):
            return
        first, *rest = shlex.split(command, comments=True)
        if first == "surefoot":
            code, output = called(rest)
            may_say_no = rest[:1] == ["gate"] or rest[:2] == ["lab", "tune"]  # of records and questions so few
            assert code <= may_say_no, f"{block.place}: {command}: exit {code}: {output}"
            assert not missing(shown, output), (
                f"{block.place}: {command}: not shown: {missing(shown, output)}\n{output}"
            )
        elif first == "pip":
            extras = [extra for named in re.findall(r"surefoot\[(.+?)\]", command) for extra in named.split(",")]
            assert {*extras} <= {*EXTRAS}, block.place
        elif first == "export":
            name, _, value = rest[0].partition("=")
            os.environ.setdefault(name, value)
        elif first == "cp":
            subprocess.run([first, *rest], check=True)
        else:
            pytest.fail(f"{block.place}: nothing runs {command}")


def called(arguments: list[str]) -> tuple[int, str]:
    """The exit code and the output of `surefoot` in this process."""
    output, code = StringIO(), 0
    with redirect_stdout(output), redirect_stderr(output):
        try:
            main(arguments)
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else 0
    return code, output.getvalue()


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the pages speak of: documents, indexes, questions, records, runs and traces."""
    home = tmp_path_factory.mktemp("reader")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        for name in ("docs", "notes", "manuals", "acme", "library"):
            shutil.copytree(DEMO / "library", name)
        shutil.copytree(DEMO / "outside", "manuals/old")
        (home / "surefoot" / "src").mkdir(parents=True)
        (home / "surefoot" / "src" / "surefoot").symlink_to(DEMO.parent)
        shutil.copytree(ROOT / "examples" / "manual", "examples/manual")
        for shelf, index in {"library": ".surefoot/index.db", str(DEMO / "outside"): ".surefoot/outside.db"}.items():
            build([shelf], home / index, Static())
        for index in ("wiki.db", "office.db"):
            shutil.copy(".surefoot/index.db", index)
        _questions_and_records(home)
        _runs_and_traces(home)
        with sqlite3.connect("docs.db") as db:
            db.execute("CREATE VIRTUAL TABLE docs USING fts5(id, title, body)")
            db.execute("INSERT INTO docs VALUES ('b', 'Bridge', 'Tomas Aldwin built the bridge.')")
        db.close()
    return home


def _questions_and_records(home: Path) -> None:
    """Questions over the library with their answers; the same with labelled passages; and records of answers."""
    texts = {page.stem: page.read_text(encoding="utf-8") for page in DEMO.rglob("*.md")}
    asked, graded, answered, labels = [], [], [], []
    for n, (page, question, answer, kind) in enumerate(FACTS):
        passages = [{"id": name, "text": texts[name], "label": int(name == page)} for name in (page, "chamois")]
        asked.append({"id": f"m{n}", "question": question, "answers": [answer]})
        graded.append({**asked[-1], "passages": passages[: 1 + (page != "chamois")]})
        steps = [{"name": "search", "output": [texts[page]]}]
        record = {"id": f"m{n}", "kind": kind, "contexts": [texts[page]], "answer": answer if n % 3 else "Nobody."}
        answered.append(
            {**record, "question": question, "input": {"query": question}, "steps": steps, "truths": [answer]}
        )
        labels.append({"id": f"m{n}", "metric": "factuality", "label": bool(n % 3), "by": "Anna"})
    rows = {"questions": asked, "popqa": asked, "pairs": graded, "more": graded, "popqa/contriever": graded}
    rows |= {"popqa/wikidata_paragraphs": graded, "records": answered, "outputs": answered}
    (home / "popqa").mkdir()
    for name, lines in {**rows, "labels": labels, "labels-Anna": labels}.items():
        (home / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (home / "levers.toml").write_text("k = [1, 3]\n")
    (home / "rag.toml").write_text("k = 1\n")
    replies = 'print(\'{"answer": "1874", "contexts": []}\', flush=True)'
    (home / "rag.py").write_text(f"import sys\n\nfor _ in sys.stdin:\n    {replies}\n")
    (home / "passage.txt").write_text(texts["ruvel-bridge"])
    (home / "uploads").mkdir()
    for name in ("manual.pdf", "uploads/report.pdf"):
        (home / name).write_bytes(PDF)


def _runs_and_traces(home: Path) -> None:
    code, output = called(["evaluate", "records.jsonl", "--run", "runs/before"])
    assert code == 0, output
    for run in ("after", "other"):
        shutil.copytree("runs/before", f"runs/{run}")
    trace = surefoot.load({}, index={"path": ".surefoot/index.db"}).run("Who built the Ruvel Bridge?")
    for name in ("trace", "lighthouse"):
        surefoot.write_trace(trace, f"{name}.json")


@pytest.fixture
def folder(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the template for one page, as the working directory of somebody who is cut off from the network."""
    home = tmp_path / "home"
    shutil.copytree(template, home, symlinks=True)
    monkeypatch.chdir(home)
    monkeypatch.setenv("SUREFOOT_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("SUREFOOT_OFFLINE", "1")
    monkeypatch.setenv("COLUMNS", "120")
    return home


def names_of(page: str) -> dict[str, Any]:
    """The names that the prose of a page introduces."""
    names: dict[str, Any] = {"__name__": page, "embedder": Static(), "question": "Who built the Ruvel Bridge?"}
    if page == "docs/documents.md":
        names["pipeline"] = surefoot.load({})
    if page == "docs/compare.md":
        answers = {question: answer for _, question, answer, _ in FACTS}
        names["my_system"] = lambda question: {"answer": answers.get(question, ""), "contexts": [*answers.values()]}
        names["surefoot_record"] = lambda *record: None
    if page == "docs/improve.md":
        run = opened("runs/before")
        names |= {"records": run.records, "scores": run.scores, "summaries": run.summaries, "config": {}}
    return names
