"""The kinds of input that are attacked, each with its use by the product."""

import io
import json
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from typer import Typer
from typer.main import get_command

from fuzz.seeds import CONFIG, HUT, QUESTION
from surefoot.network.values import Reply
from surefoot.types import Completion, Message, Passage, Record
from surefoot.types.errors import SurefootError
from surefoot.types.metadata import Filter

_STEERING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
LONGEST_REPLY = 250_000
"""Characters; of 5,000 tokens, the most that is asked for, what reads a server's replies lets through no more."""
TURNS = 3
"""Commands that a case of a target with many of them runs."""
_CODES = (0, 1, 2, 3, None)
"""With which a command ends that has said what is wrong."""


class Broken(Exception):
    """A broken promise, though nothing was raised."""

    def __init__(self, promise: str, more: str = "") -> None:
        super().__init__(f"{promise}{f': {more}' if more else ''}")
        self.promise = promise


@dataclass(frozen=True, slots=True)
class Target:
    """One kind of input."""

    run: Callable[[Path], None] | Callable[[Path, int | None], None]
    """Does with a case's folder, which is the working directory, what a user would."""
    several: bool = False
    """Whether it is told the case's number, to run a few of its commands by turns; None: all."""
    own: bool = False
    """Whether the input is what its user says: machines and places elsewhere that it names fail, and are no fault."""


Words = Sequence[str | Path]


def _turns(commands: Sequence[Words], number: int | None) -> None:
    """Some of the commands, others for the next number; each may find the file damaged in a way of its own."""
    first = 0 if number is None else number % len(commands)
    for words in (*commands[first:], *commands[:first])[: None if number is None else TURNS]:
        _cli(*words)


def _cli(*words: str | Path) -> tuple[int, str]:
    """The command's code, and what it prints; raises Broken for a code that there is not, and for what steers a
    terminal."""
    from surefoot import cli
    from surefoot.cli import main

    if isinstance(cli.app, Typer):  # which would make all commands anew for each call
        cli.app = get_command(cli.app)  # type: ignore[assignment]
    out = sys.stdout
    before = out.buffer.tell()
    sys.argv = ["surefoot", *map(str, words)]
    code = 0
    try:
        main()
    except SystemExit as leaving:
        if leaving.code not in _CODES:
            raise Broken("exit code", str(leaving.code)) from leaving
        code = int(leaving.code or 0)
    out.flush()
    out.buffer.seek(before)
    text = out.buffer.read().decode("utf-8", "replace")
    if found := _STEERING.search(text):
        raise Broken(f"{words[0]} prints what steers a terminal", repr(found[0]))
    return code, text


def _surefoot_toml(folder: Path) -> None:
    if not (folder / "surefoot.toml").exists():
        (folder / "surefoot.toml").write_bytes(CONFIG)


def _trace(folder: Path, number: int | None) -> None:
    explain = ["explain", "--trace", "trace.json"]
    commands = [
        ["trace", "trace.json"],
        ["trace", "trace.json", "--replay"],
        [*explain, "--html", "out.html", "--json", "out.json"],
        [*explain, "--words", "best"],
        [*explain, "--answer"],
    ]
    _turns(commands, number)


def _evaluation(folder: Path, number: int | None) -> None:
    _surefoot_toml(folder)
    commands: list[Words] = [
        ["view", "eval", "--no-browser"],
        ["view", "eval", "--share-safe", "--html", "safe.html"],
        ["compare", "eval", "eval"],
        ["compare", "eval", "eval", "--json"],
        ["gate", "eval", "--min", "factuality.low>=0.1", "--min", "unscored<=0.5", "--json"],
        ["agree", "eval", "labels.jsonl"],
        ["explain", "--run", "eval"],
        ["evaluate", "eval", "--run", "again", "--metric", "grading_note"],
        ["evaluate", "answered.jsonl", "--run", "eval", "--metric", "grading_note", "--metric", "factuality"],
        ["improve", "--revert", "eval"],
    ]
    _turns(commands, number)


def _index(folder: Path) -> None:
    from surefoot.embedders.hashing import Hashing
    from surefoot.index.search import Index

    _surefoot_toml(folder)
    with suppress(SurefootError), Index.open("index.db") as index:
        index.info()
        filter = Filter.of({"year": {">": 1900}, "product": {"!=": "x"}})
        for document in index.documents():
            index.document(document.id)
        for passage in (*index.lexical(QUESTION, 5, filter), *index.nearest(Hashing().embed([QUESTION])[0], 5, filter)):
            if not filter.matches(passage.meta):
                raise Broken("a passage that the filter forbids", passage.id)
        for passage in (*index.lexical(QUESTION, 5), *index.nearest(Hashing().embed([QUESTION])[0], 5)):
            if not isinstance(passage.text, str) or not isinstance(passage.id, str):
                raise Broken("a passage that is no text", type(passage.text).__name__)
    _cli("ask", QUESTION, "--index", "index.db", "--trace", "trace.json")
    _cli("doctor", "--index", "index.db")
    _cli("search", "bridge iron Aldwin", "--index", "index.db")
    _cli("search", "Brigde?", "-k", "30", "--json", "--index", "index.db")
    sys.stdin = io.TextIOWrapper(
        io.BytesIO(b"Who built the Ruvel Bridge?\nand in 1911?\n/passages 2\n/trace last.json\n")
    )
    _cli("chat", "--index", "index.db")
    (folder / "library").mkdir(exist_ok=True)
    (folder / "library/more.md").write_text("# More\n\nOne more page.\n")
    _cli("index", "library", "--index", "index.db")
    _cli("ask", "Who built the Hohrin Hut?", "--index", "index.db")
    rebuilt, _ = _cli("index", "library", "--index", "index.db", "--rebuild")
    if (folder / "library/hut.md").is_dir():  # as a case may have it
        return
    (folder / "library/hut.md").write_text(HUT)
    _cli("index", "library", "--index", "index.db")
    _, answer = _cli("ask", "Who built the Hohrin Hut?", "--index", "index.db", "--set", "generator.use=extractive")
    if rebuilt == 0 and "miners" not in answer:
        raise Broken("a rebuilt index does not answer", answer[:200])


def _whole(completion: Completion) -> None:
    numbers = completion.prompt_tokens, completion.completion_tokens
    if not isinstance(completion.text, str) or any(not isinstance(number, int) or number < 0 for number in numbers):
        raise Broken("a completion that is none", f"{type(completion.text).__name__} {numbers}")


class _Wire:
    """A network on which every request brings the same reply."""

    def __init__(self, folder: Path, body: bytes) -> None:
        self.body, self.status, self.headers = body, 200, {"content-type": "application/json"}
        with suppress(ValueError, AttributeError, LookupError, TypeError, OSError, RecursionError):
            described = (folder / "head.json").read_bytes()
            head = json.loads(described if len(described) < 100_000 else "")  # ours to read, and not the product's
            self.status = head["status"] if isinstance(head["status"], int) and 100 <= head["status"] < 600 else 200
            self.headers = {str(name).lower(): str(value) for name, value in head["headers"].items()}
            httpx.Headers(self.headers)

    def get(self, url: str, *_: Any, **options: Any) -> Reply:
        return Reply(url, self.status, self.headers, self.body[: options.get("most", 5_000_000)])

    post = get

    def transport(self, *_: Any) -> httpx.BaseTransport:
        def answer(request: httpx.Request) -> httpx.Response:
            try:
                return httpx.Response(self.status, headers=self.headers, stream=httpx.ByteStream(self.body))
            except (httpx.HTTPError, ValueError, TypeError):  # a header that no server could have sent
                return httpx.Response(self.status, stream=httpx.ByteStream(self.body))

        return httpx.MockTransport(answer)


def _files(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.iterdir()) if file.is_file() and file.name != "head.json"]


def _endpoint(folder: Path) -> None:
    from surefoot.llms.openai import OpenAI

    for file in _files(folder):
        body = file.read_bytes()
        if file.name == "events.jsonl":
            body = b"".join(b"data: %s\n\n" % line for line in body.splitlines()) + b"data: [DONE]\n\n"
        llm = OpenAI("m", "http://127.0.0.1:9/v1", network=_Wire(folder, body), retries=0)  # type: ignore[arg-type]
        for on_text in (None, str):
            with suppress(SurefootError):
                _whole(llm.complete([Message("user", QUESTION)], on_text=on_text))  # type: ignore[arg-type]
        with suppress(SurefootError):
            llm.probe()


class _ConstantLLM:
    """A model with one reply to everything."""

    name = "says"

    def __init__(self, text: str) -> None:
        self._text = text

    def complete(
        self, messages: Any, schema: Any = None, *, max_tokens: int = 100, stop: Any = (), on_text: Any = None
    ) -> Completion:
        if on_text:
            on_text(self._text)
        return Completion(self._text, "says", 5, 3)


def _reply(folder: Path) -> None:
    from surefoot.evaluate.diagnose.diagnosis import ScoredRun
    from surefoot.evaluate.report.narrative import report
    from surefoot.evaluate.score.summaries import summaries
    from surefoot.evaluators.llm import LLMEvaluator as Evaluator
    from surefoot.evidence.citations import grounded
    from surefoot.generators.llm import LLMGenerator as Generator
    from surefoot.judges._diamond import metrics
    from surefoot.judges.grading_note import GradingNote
    from surefoot.judges.llm import LLMJudge
    from surefoot.rewriters.keywords import Keywords
    from surefoot.rewriters.stepwise import Stepwise
    from surefoot.run.store import to_json
    from surefoot.text.replies import objects
    from surefoot.types import Score, Strip

    text = (folder / "reply.txt").read_bytes().decode("utf-8", "replace") if (folder / "reply.txt").is_file() else ""
    with suppress(ValueError):
        text = json.loads(f'"{text}"') if "\\u" in text and '"' not in text else text
    text = text[:LONGEST_REPLY]
    llm = _ConstantLLM(text)
    passage = Passage(
        "p1", "The Ruvel Bridge was built in 1911 by Tomas Aldwin.", "Ruvel Bridge", url="https://a.example/x"
    )
    record = Record("r1", QUESTION, (passage,), "Tomas Aldwin built it.", ("Tomas Aldwin",))
    objects(text)
    grades = Evaluator(llm).grade([(QUESTION, passage), ("Who?", passage)])
    strip = Strip("p1", 0, len(passage.text), passage.text, 1.0, True)
    draft = Generator(llm).generate(QUESTION, [(strip, passage)])
    results: list[Any] = [grades, grounded(QUESTION, draft, [(strip, passage)])]
    for metric in metrics():
        results.append(LLMJudge(llm, metric, repeats=2).judge(record))
        json.dumps(to_json(results[-1]), allow_nan=False)
    for rewriter in (Keywords(llm), Stepwise(llm)):
        if not all(isinstance(query, str) for query in rewriter.rewrite(QUESTION, (passage,))):
            raise Broken("a query that is no text")
    scores = [Score("r1", "factuality", 0.2, rating=1, judge="j")]
    results.append(report(llm, ScoredRun([record], scores, summaries(scores, {}), {})))
    # The reply of a model becomes an answer, and an answer is judged.
    answered = Record("r2", QUESTION, (passage,), text, (text[:2000],), note="The response should list steps in order.")
    results.append(GradingNote().judge(answered))
    json.dumps(to_json(results), allow_nan=False)


def _searcher(folder: Path) -> None:
    from surefoot.searchers.ddgs import Ddgs
    from surefoot.searchers.searxng import Searxng
    from surefoot.searchers.serper import Serper
    from surefoot.searchers.tavily import Tavily
    from surefoot.searchers.wikipedia import Wikipedia

    for file in _files(folder):
        wire: Any = _Wire(folder, file.read_bytes())
        for make in (Wikipedia, Searxng, Serper, lambda network: Tavily(network, raw_content=True), Ddgs):
            with suppress(SurefootError):
                for found in make(wire).search(QUESTION, 5):
                    if not all(isinstance(part, str) for part in (found.id, found.text, found.title, found.url)):
                        raise Broken("a passage that is no text", type(make).__name__)
                    found.text.encode()


def _page(folder: Path) -> None:
    from surefoot.searchers.pages import Pages

    class Finds:
        name = "finds"

        def search(self, query: str, k: int) -> tuple[Passage, ...]:
            return (Passage("x1", "Built.", "Ruvel Bridge", "external", "https://a.example/x"),)

    class Wire(_Wire):
        def get(self, url: str, *_: Any, **options: Any) -> Reply:
            return Reply(url, 404, {}, b"") if url.endswith("robots.txt") else super().get(url, **options)

    for file in _files(folder):
        wire: Any = Wire(folder, file.read_bytes())
        Pages(Finds(), wire, seconds=25).search(QUESTION, 3)


def _configuration(folder: Path) -> None:
    from surefoot.config.builder import load
    from surefoot.config.settings import read

    with suppress(SurefootError):
        read(folder / "surefoot.toml")
    (folder / "library").mkdir()
    (folder / "library/hut.md").write_text(HUT)
    _cli("index", "library")
    with suppress(SurefootError):
        load().run("Who built the Hohrin Hut?")
    _cli("doctor")


def _records(folder: Path) -> None:
    from surefoot.evaluate.records.files import read

    _surefoot_toml(folder)
    for number, file in enumerate(sorted(each for each in folder.iterdir() if each.name != "surefoot.toml")):
        with suppress(SurefootError):
            for record in read(file).records:
                if not isinstance(record.question, str) or not isinstance(record.id, str):
                    raise Broken("a record without a question that is text")
        _cli("evaluate", file, "--run", f"judged{number}", "--metric", "grading_note")
        _cli("evaluate", file, "--run", f"dry{number}", "--dry-run")
        if (folder / f"judged{number}/run.json").exists():
            _cli("view", f"judged{number}", "--no-browser")


def _loader(folder: Path) -> None:
    """The file is indexed beside a good one, which must be there afterwards whatever the other one is."""
    _surefoot_toml(folder)
    (folder / "docs").mkdir(exist_ok=True)
    (folder / "docs/zzz.md").write_text(HUT)
    _cli("index", "docs", "--index", "index.db")
    from surefoot.index.search import Index

    with Index.open("index.db") as index:
        found = index.lexical("Hohrin Hut miners", 50)
        if not any("built by the miners" in str(passage.text) for passage in found):
            raise Broken("the good file beside it was not indexed", f"{len(found)} found")
        for passage in (*found, *index.lexical("bridge iron Aldwin", 50)):
            if len(passage.text) > 1_000_000:
                raise Broken("a passage without an end", f"{len(passage.text):,} characters")
            shown = passage.file or passage.url or ""  # a row may claim any address, and no file
            if shown.endswith("zzz.md") and "built by the miners" not in passage.text:
                raise Broken("a passage in another file's name", f"{passage.id} {shown}")
    _cli("index", "docs", "--index", "index.db")


LOADERS = (
    *("adoc", "code", "config", "csv", "docx", "eml", "epub", "html", "ipynb", "json", "jsonl", "man", "md", "packed"),
    *("pdf", "plain", "pptx", "rst", "tex", "tsv", "txt", "xlsx", "xml"),
)
TARGETS: dict[str, Target] = {
    "trace": Target(_trace, several=True),
    "evaluation": Target(_evaluation, several=True),
    "index": Target(_index),
    "endpoint": Target(_endpoint),
    "reply": Target(_reply),
    "searcher": Target(_searcher),
    "page": Target(_page),
    "configuration": Target(_configuration, own=True),
    "records": Target(_records),
    **{f"loader {kind}": Target(_loader) for kind in LOADERS},
}
"""By name; `seeds.made` has valid input for each."""
