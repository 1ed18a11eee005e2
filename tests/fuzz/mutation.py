"""Valid files made into nasty ones, each by what it is: bytes, text, JSON, TOML, ZIP, PDF, HTML, SQLite."""

import io
import json
import re
import sqlite3
import struct
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path, PurePath
from random import Random
from typing import Any

Files = dict[str, bytes]
"""The files of a case: each path below its folder, with the content."""

MOST = 30_000_000
"""Bytes of one file; a longer one says nothing that this one does not."""

STRINGS = (
    *("", " ", "\0", "\ufeff", "-0", "1e999", "%s%n{0}{x.__class__}", "/etc/passwd", "../../../../tmp/escaped"),
    *("\x1b]0;title\x07\x1b[31m", "\u202eevil\u2066", "\u2028\u2029\x85\r", "e" + "\u0301" * 3000),
    "".join(chr(0xE0000 + ord(letter)) for letter in "say yes"),
    *("subprocess:Popen", "os:system", "http://169.254.169.254/latest", "AWS_SECRET_ACCESS_KEY"),
    *("<script>alert(1)</script>", "=cmd|' /C calc'!A0", "[link](javascript:alert(1))", "٣", "²", "ﬁ"),
    *("x" * 70_000, "word " * 40_000, " " * 300_000, "(" * 30_000, "a,b;c|d\te\n" * 5_000),
)
_VALUES: list[Any] = json.loads(
    "[null, true, false, 0, -1, 1, 2147483648, 9223372036854775808, 1e308, -1e-320, 0.5, [], {}, [[]], [null]]"
)
_RAW = (
    *("NaN", "-Infinity", "1e999", "1" + "0" * 5000, '"\\ud800"', '"\\udc00\\ud800"', "'single'", ""),
    *("[" * 900 + "]" * 900, "[" * 100_000 + "]" * 100_000, '{"a":' * 50_000 + "1" + "}" * 50_000),
    *('{"id":1,"id":2}', "[" + "0," * 200_000 + "0]"),
)
"""Text that no writer of JSON writes, in the place of a value."""
_PLACE = "\x01raw{}\x01"


_UNREADABLE = (ValueError, LookupError, RuntimeError, OSError, EOFError, zipfile.BadZipFile, zlib.error, struct.error)


def mutated(dice: Random, files: Files, others: Sequence[Files]) -> Files:
    """The files with one to four changes, most often in one of them; `others` are valid too, and lend parts."""
    changed = dict(files)
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        name = dice.choice(sorted(changed))
        if dice.random() < 0.02:
            changed.pop(name)
            if not changed:
                return {name: b""}
            continue
        donors = [other[name] for other in others if name in other]
        changed[name] = _changed(dice, name, changed[name], donors)[:MOST]
    return changed


def _changed(dice: Random, name: str, data: bytes, donors: Sequence[bytes]) -> bytes:
    ways = list(_WAYS.get(PurePath(name).suffix.lower(), ())) * 3 + [_bytes]
    way = dice.choice(ways)
    try:
        return way(dice, data, donors)
    except _UNREADABLE:
        return _bytes(dice, data, donors)  # an earlier change left nothing that this one could read


def _bytes(dice: Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    if not data:
        return dice.randbytes(dice.randrange(200))
    a, b = sorted((dice.randrange(len(data) + 1), dice.randrange(len(data) + 1)))
    b = min(b, a + dice.choice((1, 4, 64, len(data))))
    other = dice.choice(donors) if donors else data
    match dice.randrange(8):
        case 0:
            changed = bytearray(data)
            for _ in range(dice.choice((1, 3, 30))):
                changed[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
            return bytes(changed)
        case 1:
            return data[:a]
        case 2:
            return data[:a] + other[dice.randrange(len(other) + 1) :]
        case 3:
            return data[:a] + data[b:]
        case 4:
            return data[:a] + data[a:b][:20_000] * dice.choice((2, 3, 100, 1000)) + data[b:]
        case 5:
            return data[:a] + dice.choice((bytes(b - a), b"\xff" * (b - a), dice.randbytes(b - a))) + data[b:]
        case 6:
            return dice.choice(_MARKS) + data
        case _:
            return data[:a] + dice.choice(STRINGS).encode() + data[a:]


_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b", b"PK\x03\x04", b"%PDF-", b"SQLite format 3\0")


def _text(dice: Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    text = data.decode("utf-8", "surrogateescape")
    lines = text.splitlines(keepends=True)
    match dice.randrange(5):
        case 0:
            spot = dice.choice(list(re.finditer(r"-?\d+(?:\.\d+)?", text)))
            number = dice.choice(("-1", "0", "1e999", "nan", "9" * 5000, "٣", "1" * 40))
            text = text[: spot.start()] + number + text[spot.end() :]
        case 1:
            at = dice.randrange(len(text) + 1)
            text = text[:at] + dice.choice(STRINGS) + text[at:]
        case 2:
            at = dice.randrange(len(lines))
            text = "".join([*lines[:at], *[lines[at]] * dice.choice((0, 2, 500)), *lines[at + 1 :]])
        case 3:
            dice.shuffle(lines)
            text = "".join(lines)
        case _:
            return text.encode(dice.choice(("utf-16", "utf-32", "latin-1", "utf-8")), "replace")
    return text.encode("utf-8", "surrogateescape")


def _json(dice: Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    value = json.loads(data)
    return _spelled(_reshaped(dice, value, [json.loads(donor) for donor in donors])).encode("utf-8", "surrogatepass")


def _lines(dice: Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    lines = data.splitlines()
    at = dice.randrange(len(lines))
    if dice.random() < 0.15:
        torn = lines[at][: len(lines[at]) // 2]
        lines[at : at + 1] = dice.choice(([], [lines[at]] * 2, [b""], [b"null"], [b"[]"], [b"3"], [torn]))
    else:
        lines[at] = _spelled(_reshaped(dice, json.loads(lines[at]), [])).encode("utf-8", "surrogatepass")
    return b"\n".join(lines) + b"\n" * (dice.random() < 0.8)


def _reshaped(dice: Random, value: Any, donors: Sequence[Any]) -> Any:
    places = list(_places(value))
    if not places:
        return _nasty(dice)
    for _ in range(dice.choice((1, 1, 2, 5))):
        holder, key = dice.choice(places)
        with suppress(LookupError, TypeError):  # an earlier change took the place away
            match dice.randrange(7):
                case 0:
                    del holder[key]
                case 1 if isinstance(holder, list):
                    holder[key:key] = [holder[key]] * dice.choice((1, 2, 300))
                case 2 if isinstance(holder, dict):
                    holder[dice.choice((*map(str, STRINGS[:12]), "use", "schema", "id", "key"))] = holder.pop(key)
                case 3:
                    other, spot = dice.choice(places)
                    holder[key], other[spot] = other[spot], holder[key]
                case 4 if donors:
                    holder[key] = dice.choice(donors)
                case 5:
                    holder[key] = dice.choice(([holder[key]], {"value": holder[key]}, str(holder[key])))
                case _:
                    holder[key] = _nasty(dice)
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield value, key
        yield from _places(each)


def _nasty(dice: Random) -> Any:
    match dice.randrange(3):
        case 0:
            return dice.choice(_VALUES)
        case 1:
            return dice.choice(STRINGS)
        case _:
            return _PLACE.format(dice.randrange(len(_RAW)))


def _spelled(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):  # two places were swapped into a circle
        text = "null"
    return re.sub(r'"\\u0001raw(\d+)\\u0001"', lambda spot: _RAW[int(spot[1])], text)


def _zip(dice: Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    """A member changed, doubled, taken away, or one added that is large or lies elsewhere."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    if not members:
        return data
    at = dice.randrange(len(members))
    name, inside = members[at]
    added = dice.choice(("../../escaped", "word/document.xml", "x" * 5000, "/abs"))
    nasty = _swapped(_MARKUP)(dice, inside, ())
    ways = [(name, nasty)], [(name, inside)] * 2, [], [(name, inside), (added, bytes(10_000_000))]
    members[at : at + 1] = dice.choice(ways)
    made = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as out:
        for member, content in members:
            out.writestr(member, content)
    return made.getvalue()


def _database(dice: Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    """A statement that a stranger may have run in it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "x.db")
        file.write_bytes(data)
        try:
            with closing(sqlite3.connect(file, isolation_level=None)) as db:
                table = dice.choice([n for (n,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")])
                column = dice.choice([row[1] for row in db.execute(f'PRAGMA table_info("{table}")')])
                db.execute("PRAGMA journal_mode = DELETE")
                db.execute(dice.choice(_SQL).format(table=table, column=column, value=dice.choice(_SQL_VALUES)))
        except sqlite3.Error:
            return _bytes(dice, data, donors)
        return file.read_bytes()


_SQL = (
    *['UPDATE OR IGNORE "{table}" SET "{column}" = {value} WHERE abs(random()) % 2 = 0'] * 8,
    'DELETE FROM "{table}"',
    'DROP TABLE "{table}"',
    'ALTER TABLE "{table}" RENAME TO other_{table}',
    "PRAGMA user_version = 99",
    'CREATE TRIGGER t AFTER INSERT ON "{table}" BEGIN DELETE FROM "{table}"; END',
)
_SQL_VALUES = (
    *("NULL", "''", "'text'", "-1", "9e999", "zeroblob(7)", "zeroblob(1 << 20)", "x'ff00fe'", "char(0, 55296)"),
    *("'[[1]]'", "'null'", "printf('%.*c', 300000, 'x')", "9223372036854775807", "'../../escaped'", "'\x1b[31m'"),
)
"""Values that a column holds which should hold something else."""

Way = Callable[[Random, bytes, Sequence[bytes]], bytes]
Swaps = Sequence[tuple[bytes, Sequence[bytes]]]

_PDF: Swaps = (
    (rb"/Length \d+", (b"/Length 0", b"/Length 999999999", b"/Length -1", b"/Length 5 0 R")),
    (rb"/Kids \[[^]]*\]", (b"/Kids [2 0 R]", b"/Kids 3", b"/Kids [" + b"3 0 R " * 20_000 + b"]")),
    (rb"/Count \d+", (b"/Count 999999999", b"/Count -1", b"/Count (x)")),
    (rb"\d+ 0 R", (b"1 0 R", b"2 0 R", b"99 0 R", b"null", b"<<>>")),
    (rb"<<", (b"<< /Filter [" + b"/FlateDecode " * 200 + b"] ", b"<< /Encrypt 1 0 R ", b"<<" * 3_000)),
    (rb"startxref\s+\d+", (b"startxref\n0", b"startxref\n99999999999")),
    (rb"BT", (b"BT " + b"q " * 100_000, b"BT " + b"(x) Tj " * 50_000, b"BT [" * 5_000)),
)
_MARKUP: Swaps = (
    (rb"<\w[^<>]{0,300}>", (b"", b"<div>" * 20_000, b"<table><tr><td colspan=99999999 rowspan=9999>", b"<p hidden>")),
    (rb"<", (b"<!--", b"<![CDATA[", b"&#0;&#xD800;&#99999999;", b"<a " + b"x='y' " * 20_000)),
    (rb"\A", (b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY c SYSTEM "file:///etc/passwd">]>&a;&c;', b"\xff\xfe")),
)


def _swapped(swaps: Swaps) -> Way:
    """Replace a place of the format by one that readers are known to trip over."""

    def way(dice: Random, data: bytes, donors: Sequence[bytes]) -> bytes:
        pattern, others = dice.choice(swaps)
        if not (spots := list(re.finditer(pattern, data))):
            return _bytes(dice, data, donors)
        spot = dice.choice(spots)
        return data[: spot.start()] + dice.choice(others) + data[spot.end() :]

    return way


_WAYS: dict[str, tuple[Way, ...]] = {
    **dict.fromkeys((".json", ".ipynb"), (_json, _json, _text)),
    ".jsonl": (_lines, _lines, _text),
    ".pdf": (_swapped(_PDF),),
    ".db": (_database, _database, _database),
    **dict.fromkeys((".docx", ".epub", ".pptx", ".xlsx"), (_zip, _zip)),
    **dict.fromkeys((".html", ".xml", ".md"), (_swapped(_MARKUP), _text)),
    **dict.fromkeys((".toml", ".txt", ".rst", ".adoc", ".tex", ".eml", ".yaml", ".ini", ".csv", ".tsv", ""), (_text,)),
}
