"""Attacks written by hand: for each target those that no chance would find."""

import bz2
import gzip
import json
import lzma
import zlib
from collections.abc import Iterator
from typing import Any

from fuzz.mutation import Files
from fuzz.seeds import CONFIG, pdf

_DEEP = b"[" * 200_000 + b"]" * 200_000


def attacks(target: str, seeds: list[Files]) -> list[Files]:
    """The target's own, after those that any text of JSON gets."""
    found = list(_anywhere(seeds[0]))
    kind = target.removeprefix("loader ")
    if kind in _OWN:
        found += _OWN[kind](seeds[0])
    return found


def _anywhere(files: Files) -> Iterator[Files]:
    """Each file empty, deep, of zeros, of one endless line, or a folder's name."""
    for name in files:
        for data in (b"", bytes(1000), b"\xff\xfe\xfa", b" " * 1_000_000, *(b"null {} [] x NaN".split())):
            yield {**files, name: data}
        if name.endswith((".json", ".jsonl", ".ipynb", ".toml")):
            yield {**files, name: _DEEP}
            yield {**files, name: b'{"a":' * 100_000}
            yield {**files, name: b"1" * 10_000}
        yield {**{other: data for other, data in files.items() if other != name}, f"{name}/inner": b"x"}


def _trace(files: Files) -> list[Files]:
    trace = json.loads(next(iter(files.values())))
    evil = (
        {"evaluator": {"use": "subprocess:Popen", "args": ["touch", "../../escaped"]}},
        {"evaluator": {"use": "os:system", "command": "touch ../../escaped"}},
        {"generator": {"use": "surefoot.run.store:write_text", "path": "../../escaped", "text": "x"}},
        {"retriever": {"use": "sqlite3:connect", "database": "../../escaped"}},
        {"index": {"path": "../../escaped.db"}},
        {
            "evaluator": {"use": "llm"},
            "llm": {"use": "openai", "model": "m", "base_url": "http://127.0.0.1:9", "key_env": "OPENAI_API_KEY"},
        },
        {"evaluator": {"use": "minilm", "path": "/etc/passwd"}},
        {"evaluator": {"use": "cascade", "evaluators": ["cascade", "cascade"]}},
        {"network": {"allow": ["*"], "cache": "../../escaped.db"}},
        {"searcher": {"use": "chain", "searchers": ["chain"]}},
        {"evaluator": []},
        {"evaluator": {"use": ["lexical"]}},
        {"evaluator": {"use": "lexical", "network": {}, "llm": 3, "thresholds": []}},
    )
    return [{"trace.json": json.dumps({**trace, "config": {**trace["config"], **one}}).encode()} for one in evil]


def _evaluation(files: Files) -> list[Files]:
    def applied(**about: Any) -> Files:
        return {**files, "eval/applied.json": json.dumps(about).encode()}

    return [
        applied(file="../../escaped.toml", existed=True, before=None, after=None),
        applied(file="../escaped.toml", existed=True, before=None, after="x"),
        applied(file="surefoot.toml", existed=[], before={}, after=[]),
        applied(file="\0", existed=True, before=None, after=None),
        applied(file=3, existed=True, before=None, after=None),
        applied(file="eval", existed=True, before=None, after=None),
    ]


def _jsonl(files: Files) -> list[Files]:
    rows = (
        {"id": "zzz.md", "text": "The Hohrin Hut was built by the miners.", "title": "x", "url": "docs/zzz.md"},
        {"id": "../zzz.md#1", "text": "Hohrin Hut miners", "url": "zzz.md"},
        {"id": "x" * 1_000_000, "text": "x"},
        {"text": " " * 60_000_000 + "x"},
        {"text": "x" * 20_000_000},
        {"text": "\n" * 10_000_000 + "x"},
        {"text": "a " * 3_000_000},
        {"text": "\ud800 half", "title": "\ud800", "id": "\ud800", "url": "\ud800"},
        {"text": ["x"], "title": {}, "id": [], "url": 3},
    )
    lines = [json.dumps(row).encode() + b"\n" for row in rows] + [
        _DEEP,
        b'{"text": ' + b"1" * 10_000 + b"}",
        b'{"text":"' + b"\\u0000" * 100 + b'"}',
    ]
    return [{"docs/file.jsonl": line} for line in lines]


def _html(files: Files) -> list[Files]:
    pages = (
        b"<p " + b" ".join(b"a%d=1" % n for n in range(500_000)) + b">x</p>",
        b"<div>" * 100_000 + b"x",
        b"<blockquote>" * 5_000 + b"<p>x</p>",
        b"<table>" * 3_000 + b"<tr><td>x",
        b"<table><tr><td colspan=100000000 rowspan=100000000>x</td></tr></table>",
        b"<ul><li>" * 20_000 + b"x",
        b"<a href='x'>" * 50_000 + b"x",
        b"<!--" * 200_000,
        b"<![CDATA[" * 100_000,
        b"&lt;" * 1_000_000,
        b"<p>" + b"x" * 20_000_000,
        b"<p>" + b" " * 30_000_000 + b"x</p>",
        b"<p>x</p>" * 500_000,
        b"<br>" * 2_000_000,
        b"<select>" + b"<option>x" * 300_000,
        b"<math><mi//xlink:href='data:x'>" * 1000,
        b"<meta charset='utf-7'>+ADw-script+AD4-",
        b"<meta charset='" + b"x" * 10_000 + b"'>x",
        b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "'
        + b"a" * 10_000
        + b'"><!ENTITY b "'
        + b"&a;" * 10_000
        + b'">]><p>&b;</p>',
    )
    return [{"docs/file.html": page} for page in pages]


def _pdf(files: Files) -> list[Files]:
    def stream(content: bytes, extra: bytes = b"") -> bytes:
        given = pdf("x")
        start, end = given.index(b"<< /Length"), given.index(b"endstream")
        return given[:start] + b"<< %s/Length %d >>\nstream\n%s\n" % (extra, len(content), content) + given[end:]

    bomb = zlib.compress(bytes(120_000_000), 6)
    twice = zlib.compress(zlib.compress(b"(x) Tj " * 10_000_000, 6), 6)
    files_ = (
        stream(bomb, b"/Filter /FlateDecode "),
        stream(twice, b"/Filter [/FlateDecode /FlateDecode] "),
        stream(zlib.compress(b"BT /F1 12 Tf (x) Tj ET " * 300_000, 9), b"/Filter /FlateDecode "),
        stream(b"q " * 1_000_000),
        stream(b"[" * 100_000),
        stream(b"<<" * 100_000),
        stream(b"(" * 1_000_000),
        stream(b"BT " + b"1 0 0 1 0 0 Tm (a) Tj " * 200_000),
        pdf("x").replace(b"/Kids [7 0 R]", b"/Kids [2 0 R 2 0 R]"),
        pdf("x").replace(b"/Kids [7 0 R]", b"/Kids [" + b"7 0 R " * 30_000 + b"]"),
        pdf("x").replace(b"/Parent 2 0 R", b"/Parent 7 0 R"),
        pdf("x").replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev 9"),
        pdf("x").replace(
            b"/Root 1 0 R", b"/Root 1 0 R /Encrypt << /Filter /Standard /V 5 /R 6 /Length 256 /O () /U () /P -1 >>"
        ),
        pdf("x").replace(b"/Catalog", b"/Catalog /Names " + b"<< /A " * 2_000 + b">>" * 2_000),
        pdf("x").replace(b"/BaseFont /Helvetica", b"/BaseFont /Helvetica /ToUnicode 8 0 R"),
        pdf("x").replace(
            b"/BaseFont /Helvetica", b"/BaseFont /Helvetica /Encoding << /Differences [" + b"1 /a " * 200_000 + b"] >>"
        ),
        b"%PDF-1.4\n" + b"1 0 obj\n<<>>\nendobj\n" * 20_000,
        b"%PDF-1.4\n" + b" " * 5_000_000,
    )
    return [{"docs/file.pdf": file} for file in files_]


def _compressed(files: Files) -> list[Files]:
    bomb = bytes(150_000_000)
    packed = {"gz": gzip.compress(bomb, mtime=0), "bz2": bz2.compress(bomb), "xz": lzma.compress(bomb, preset=0)}
    return [{f"docs/file.txt.{suffix}": data} for suffix, data in packed.items()]


def _configuration(files: Files) -> list[Files]:
    texts = (
        'evaluator = "subprocess:Popen"',
        '[evaluator]\nuse = "os:system"\ncommand = "touch ../../escaped"',
        '[evaluator]\nuse = "llm"\n[llm]\nuse = "openai"\nmodel = "m"\nbase_url = "http://user:pw@127.0.0.1:9/v1"',
        '[evaluator]\nuse = "llm"\n[llm]\nuse = "openai"\nmodel = "m"\nbase_url = "http://u:p@127.0.0.1:9"',
        '[index]\npath = "/"',
        '[index]\npath = ""',
        '[index]\npath = "\\u0000"',
        "[index]\npath = 3",
        '[retriever]\nuse = "hybrid"\nretrievers = ["hybrid"]',
        '[evaluator]\nuse = "cascade"\nevaluators = ["cascade"]',
        '[searcher]\nuse = "chain"\nsearchers = ["chain", "pages"]\nof = "pages"',
        '[searcher]\nuse = "pages"\nof = "pages"',
        "[pipeline]\nk = 999999999999\nexternal_k = -1",
        "[pipeline]\nk = true",
        '[pipeline]\nk = "5"',
        "[pipeline]\nk = nan\nseconds = inf",
        "[thresholds]\nupper = nan\nlower = inf",
        '[network]\nallow = "*"',
        "[network]\nallow = [3]",
        '[network]\nallow = ["' + "x" * 100_000 + '"]',
        "a" + ".a" * 3_000 + " = 1",
        "x = " + "[" * 50_000 + "]" * 50_000,
        'evaluator = "' + "x" * 1_000_000 + '"',
        "[evaluator]\nuse = 1979-05-27",
        '[evaluator]\nuse = "lexical:x:y"',
        '[evaluator]\nuse = ":"',
        '[evaluator]\nuse = "..:x"',
        '[evaluator]\nuse = "surefoot.types:Passage"',
        '[evaluator]\nuse = "surefoot:__doc__"',
        "[llm.replies]\n" * 2,
    )
    return [{"surefoot.toml": text.encode()} for text in texts] + [
        {"surefoot.toml": CONFIG + text.encode()} for text in texts[:8]
    ]


def _reply(files: Files) -> list[Files]:
    texts = (
        b"{" * 100_000,
        b'{"claims": ' + b"[" * 50_000,
        b'{"a": "' + b"\\" * 200_000,
        b"{'a': " + b"-" * 50_000 + b"1}",
        b"{'a': " + b"(" * 3_000 + b")" * 3_000 + b"}",
        b"{" + b'"a":1,' * 200_000,
        b'{"1": {"grade": "CORRECT", "confidence": 1e999, "rationale": 3}}',
        b'{"1": {"grade": ["CORRECT"], "confidence": "x"}}',
        b'{"claims": [{"claim": {}, "verdict": []}], "verdicts": [null, 3, {"claim": 1e999}]}',
        b"{a: 1, 'b': {1, 2}, **x}",
        b"[1] " * 100_000,
        b"[" + b"9" * 5_000 + b"]",
        "[٣] [²]".encode(),
        b"http://" * 100_000,
        b"](" * 100_000,
        b"a." * 300_000,
        b"1. " * 100_000,
        b"\n" * 1_000_000,
        b" " * 1_000_000 + b"x",
        b"```" * 100_000,
        b"{} " * 300_000,
    )
    return [{"reply.txt": text} for text in texts]


def _endpoint(files: Files) -> list[Files]:
    def whole(content: Any, usage: Any = None, **more: Any) -> Files:
        choice = {"message": {"content": content}, "finish_reason": "stop", **more}
        return {"reply.json": json.dumps({"choices": [choice], "usage": usage}).encode()}

    def event(*events: Any) -> Files:
        return {"events.jsonl": b"".join(json.dumps(each).encode() + b"\n" for each in events)}

    end = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    return [
        whole("x", {"prompt_tokens": -5, "completion_tokens": -9}),
        whole("x", {"prompt_tokens": 10**400, "completion_tokens": True}),
        whole("x", []),
        whole("x", "usage"),
        whole(["x"]),
        whole({"a": 1}),
        whole("x" * 7_000_000),
        event({"choices": [{"delta": {"content": ["x"]}}]}, end),
        event({"choices": [{"delta": {"content": {"a": 1}}}]}, end),
        event({"choices": [{"delta": {"content": 3}}]}, end),
        event({"choices": {"0": 3}}, end),
        event({"choices": [3]}, end),
        event({"choices": "x"}, end),
        event({"choices": [{"delta": {"content": "x"}}], "usage": [1]}, end),
        event({"choices": [{"delta": {"content": "x"}, "finish_reason": ["stop"]}]}),
        event(
            {
                "choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": -(10**9), "completion_tokens": -1},
            }
        ),
        event([1], "x", 3, None),
        {"reply.json": _DEEP},
        {"reply.sse": b"data: " + _DEEP + b"\n\n"},
        {"models.json": b'{"data": {"id": 3}}'},
        {"models.json": b'{"data": [' + b'{"id": [1]},' * 3 + b"3]}"},
    ]


_OWN = {
    "trace": _trace,
    "evaluation": _evaluation,
    "jsonl": _jsonl,
    "html": _html,
    "pdf": _pdf,
    "packed": _compressed,
    "configuration": _configuration,
    "reply": _reply,
    "endpoint": _endpoint,
}
