"""Valid input for every target, most of it made by the product itself."""

import bz2
import gzip
import io
import json
import lzma
import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterable
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pypandoc

import sample_run
from documents.loaders import test_pdf, test_xlsx
from fuzz.mutation import Files

CONFIG = b"""embedder = "hashing"
evaluator = "lexical"
retriever = "hybrid"
generator = "llm"

[llm]
use = "scripted"

[llm.replies]
"" = "Tomas Aldwin built it [1]."

[network]
allow = []
cache = ""

[judge]
use = "embedded"
cache = ""
"""
BRIDGE = "# Ruvel Bridge\n\nThe Ruvel Bridge was built in 1911 by Tomas Aldwin.\n\n## Iron\n\nIt is of iron.\n"
HUT = "# Hohrin Hut\n\nThe Hohrin Hut was built by the miners.\n"
QUESTION = "Who built the Ruvel Bridge?"
SAMPLES = Path(__file__).with_name("samples")
"""A folder for each kind of text that a loader reads, and what pandoc makes files of other kinds from."""
HTML = (SAMPLES / "html/file.html").read_text()


def pdf(*pages: str) -> bytes:
    """A file with these lines of text, a page each."""
    return bytes(test_pdf.pdf(*(test_pdf.typed(line) for line in pages)))


def made() -> dict[str, list[Files]]:
    """Of each kind of input some valid ones; slow, and in a folder of its own."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        os.chdir(folder)
        try:
            return _made(Path(folder))
        finally:
            os.chdir(before)


def _made(here: Path) -> dict[str, list[Files]]:
    (here / "surefoot.toml").write_bytes(CONFIG)
    (here / "library").mkdir()
    (here / "library/bridge.md").write_text(BRIDGE)
    (here / "library/hut.md").write_text(HUT)
    (here / "outside").mkdir()
    (here / "outside/iron.md").write_text("# Iron\n\nTomas Aldwin, who built the Ruvel Bridge, dealt in iron.\n")
    _cli("index", "library", "--index", "index.db", "--meta", "year=1911", "--meta", "product=bridges")
    _cli("index", "outside", "--index", "outside.db")
    _cli("ask", QUESTION, "--index", "index.db", "--trace", "trace.json")
    _cli("ask", "Who dealt in iron?", "--index", "index.db", "--trace", "trace2.json", *_OUTSIDE)
    sampled = _folder(sample_run.write(here / "sample", 4), "eval").items()
    evaluation = {name: data.replace(b'"minilm"', b'"lexical"') for name, data in sampled}  # needs no model
    applied = {"file": "surefoot.toml", "existed": True, "before": None, "after": None}
    evaluation["eval/applied.json"] = json.dumps(applied).encode()
    evaluation["eval/before.toml"] = CONFIG
    _write("answered.jsonl", _answered())
    _cli("evaluate", "answered.jsonl", "--run", "ours", "--metric", "grading_note", "--metric", "factuality")
    ours = {**_folder(here / "ours", "eval"), "surefoot.toml": CONFIG}
    labels = [{"id": row["id"], "metric": "grading_note", "rating": n % 5 + 1} for n, row in enumerate(_answered())]
    ours |= {"labels.jsonl": _jsonl(labels), "answered.jsonl": _jsonl(_answered())}
    trace = (here / "trace.json").read_bytes()
    return {
        "trace": [
            {"trace.json": trace},
            {"trace.json": (here / "trace2.json").read_bytes()},
            {"trace.json": _sample_trace()},
        ],
        "evaluation": [evaluation, ours],
        "index": [{"index.db": _whole(here / "index.db"), "library/hut.md": HUT.encode()}],
        "endpoint": _endpoint(),
        "reply": [{"reply.txt": text.encode()} for text in _model_replies()],
        "searcher": _searched(),
        "page": [
            {"page.html": HTML.encode(), "head.json": b'{"status": 200, "headers": {"content-type": "text/html"}}'}
        ],
        "configuration": [{"surefoot.toml": CONFIG}, {"surefoot.toml": _FULL_CONFIG}],
        "records": _records(trace),
        **{f"loader {kind}": files for kind, files in _documents().items()},
        "loader packed": _packed(),
    }


_OUTSIDE = ("--set", "searcher.use=folder", "--set", "searcher.path=outside.db")


def _cli(*words: str) -> None:
    from surefoot.cli import main

    sys.argv = ["surefoot", *words]
    try:
        main()
    except SystemExit as leaving:
        if leaving.code not in (0, None, 1):
            raise RuntimeError(f"surefoot {' '.join(words)} ended with code {leaving.code}") from leaving


def _folder(folder: Path, name: str) -> Files:
    files = (file for file in folder.rglob("*") if file.is_file() and file.suffix in (".json", ".jsonl", ".toml"))
    return {f"{name}/{file.relative_to(folder).as_posix()}": file.read_bytes() for file in sorted(files)}


def _write(path: str, rows: Iterable[Any]) -> None:
    Path(path).write_bytes(_jsonl(rows))


def _jsonl(rows: Iterable[Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _whole(path: Path) -> bytes:
    """A database as one file, without its log."""
    whole = path.with_suffix(".whole")
    with closing(sqlite3.connect(path)) as db:
        db.execute("VACUUM INTO ?", (str(whole),))
    return whole.read_bytes()


def _sample_trace() -> bytes:
    row = json.loads((Path("sample") / "records.jsonl").read_text().splitlines()[1])
    return json.dumps(row["value"]["trace"]).replace('"minilm"', '"lexical"').encode()


def _answered() -> list[dict[str, Any]]:
    return [
        {
            "id": f"r{n}",
            "question": f"{QUESTION} {n}",
            "contexts": ["The Ruvel Bridge was built in 1911 by Tomas Aldwin.", "It is of iron."],
            "answer": "Tomas Aldwin built it in 1911." if n % 2 else "Napoleon did.",
            "truths": ["Tomas Aldwin"],
            "tags": {"domain": "bridges"},
        }
        for n in range(4)
    ]


def _endpoint() -> list[Files]:
    usage = {"prompt_tokens": 5, "completion_tokens": 3}
    whole = {
        "choices": [{"message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}],
        "usage": usage,
    }
    events = [{"choices": [{"delta": {"content": word}, "finish_reason": None}]} for word in ("Ye", "s.")]
    events += [{"choices": [{"delta": {}, "finish_reason": "stop"}]}, {"choices": [], "usage": usage}]
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    lines = "".join(json.dumps(event) + "\n" for event in events)
    head = b'{"status": 200, "headers": {"content-type": "application/json"}}'
    models = {"data": [{"id": "m"}]}
    return [
        {"reply.json": json.dumps(whole).encode(), "head.json": head},
        {"reply.sse": stream.encode(), "head.json": head},
        {"events.jsonl": lines.encode(), "head.json": head},
        {"models.json": json.dumps(models).encode(), "head.json": head},
    ]


def _model_replies() -> list[str]:
    rating = {"explanation": "It says so.", "quotes": ["Tomas Aldwin"]}
    from surefoot.judges._diamond import metrics

    keys = {metric.key: 4 for metric in metrics().values()}
    grade = {"1": {"rationale": "names the builder", "grade": "CORRECT", "confidence": 0.9}}
    return [
        json.dumps({**rating, **keys}),
        json.dumps(grade),
        json.dumps({"note": "The response should name the builder."}),
        json.dumps({"keywords": ["Ruvel Bridge", "builder"], "subject": "Ruvel Bridge", "relation": "builder"}),
        json.dumps({"facts": ["It is of iron."], "supported": True}),
        "```json\n{'claims': ['It is of iron.',],}\n```",
        "Tomas Aldwin built it in 1911 [1]. It is of iron [2][3]. See https://a.example/x and [here](//b.example).",
    ]


def _searched() -> list[Files]:
    head = b'{"status": 200, "headers": {"content-type": "application/json"}}'
    address = "https://a.example/1"
    hit = {"url": address, "link": address, "href": address, "title": "Ruvel Bridge", "content": "Built by Aldwin."}
    box = {"title": "Ruvel Bridge", "type": "bridge", "attributes": {"Built": "1911"}, "descriptionLink": address}
    page = {"pageid": 1, "ns": 0, "title": "Ruvel Bridge", "extract": "Built by Aldwin.\n== Iron ==\nOf iron."}
    page |= {"fullurl": address, "index": 1, "pageprops": {}, "links": [{"ns": 0, "title": "Iron"}]}
    info = {"infobox": "Ruvel Bridge", "urls": [{"url": address}], "attributes": [{"label": "Built", "value": "1911"}]}
    replies: list[dict[str, Any]] = [
        {"results": [hit, hit], "infoboxes": [info], "unresponsive_engines": [["bing", "timeout"]]},
        {"organic": [hit], "answerBox": hit, "knowledgeGraph": box},
        {"query": {"pages": [page], "redirects": [{"from": "b", "to": "Ruvel Bridge"}]}},
        {"error": {"code": "maxlag", "info": "wait"}},
        {"query": {"pages": [{**page, "pageprops": {"disambiguation": ""}}]}, "warnings": {"query": "extracts"}},
    ]
    ddgs = """<div class="result results_links"><h2 class="result__title"><a class="result__a"
    href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2F1">Ruvel Bridge</a></h2><a class="result__snippet">Built by
    Tomas Aldwin.</a></div>"""
    found = [{"reply.json": json.dumps(reply).encode(), "head.json": head} for reply in replies]
    return [*found, {"reply.html": ddgs.encode(), "head.json": head.replace(b"application/json", b"text/html")}]


_FULL_CONFIG = (
    CONFIG
    + b"""
[evaluator]
use = "cascade"
evaluators = ["lexical", "llm"]

[thresholds]
upper = 0.5
lower = -0.5

[searcher]
use = "chain"
searchers = ["nowhere", "folder"]

[pipeline]
k = 5
seconds = 5
"""
)


def _records(trace: bytes) -> list[Files]:
    rows = _answered()
    ragas = {"user_input": QUESTION, "retrieved_contexts": ["C"], "response": "A", "reference": "T"}
    contexts = [{"page_content": "C", "metadata": {"source": "x"}}]
    langchain = {"question": QUESTION, "contexts": contexts, "prediction": "A", "answers": {"text": ["T"]}}
    table = f"id,question,answer,contexts,truths\nr1,{QUESTION},Aldwin,\"['It is of iron.']\",Aldwin\n"
    pairs = {"openinference.span.kind": "CHAIN", "input.value": QUESTION, "output.value": "Aldwin"}
    span = {"traceId": "t1", "spanId": "a", "name": "chain", "startTimeUnixNano": "1700000000000000000"}
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in pairs.items()]
    otlp = {"resourceSpans": [{"scopeSpans": [{"scope": {}, "spans": [{**span, "attributes": attributes}]}]}]}
    return [
        {"records.jsonl": _jsonl(rows)},
        {"records.json": json.dumps({"data": rows}).encode()},
        {"records.jsonl": _jsonl([ragas, langchain])},
        {"records.csv": table.encode()},
        {"records.json": json.dumps(otlp).encode()},
        {"records.json": trace},
        {"folder/dataset_info.json": b"{}", "folder/records.jsonl": _jsonl(rows)},
    ]


def _documents() -> dict[str, list[Files]]:
    """By the target that reads them, files with headings, lists, a table, code and a note."""
    binary = {"pdf": pdf("The Ruvel Bridge is of iron.", "A second page."), "xlsx": test_xlsx.book(A=_SHEET)}
    binary |= {suffix: _converted(writer, suffix) for suffix, writer in _BY_PANDOC.items()}
    text = {folder.name: sorted(folder.iterdir()) for folder in SAMPLES.iterdir() if folder.is_dir()}
    return {kind: [{f"docs/file.{kind}": content}] for kind, content in binary.items()} | {
        kind: [{f"docs/{file.name}": file.read_bytes()} for file in files] for kind, files in text.items()
    }


def _packed() -> list[Files]:
    """Compressed files, of one format each."""
    return [
        {"docs/file.html.gz": gzip.compress(HTML.encode(), mtime=0)},
        {"docs/file.txt.bz2": bz2.compress(BRIDGE.encode())},
        {"docs/file.md.xz": lzma.compress(BRIDGE.encode())},
    ]


def _converted(writer: str, suffix: str) -> bytes:
    """A document as pandoc writes it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"file.{suffix}")
        pypandoc.convert_file(str(SAMPLES / "pandoc.md"), writer, outputfile=str(file), extra_args=["--standalone"])
        return file.read_bytes()


_SHEET = [["bridge", "built"], ["Ruvel", 1911], [None, 0.5]]
_BY_PANDOC = {
    "docx": "docx",
    "pptx": "pptx",
    "epub": "epub",
    "rst": "rst",
    "adoc": "asciidoc",
    "tex": "latex",
    "xml": "docbook5",
    "ipynb": "ipynb",
    "man": "man",
}
