"""Valid files made into nasty ones, each by what it is: bytes, text, JSON, TOML, ZIP, PDF, HTML, SQLite."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import sqlite3
import struct
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path, PurePath
from random import Random
from typing import Any

Files = dict[str, bytes]
"""What a case consists of: each file's path below its folder, and what is in it."""

MOST = 30_000_000
"""Bytes of one file; a longer one says nothing that this one does not."""

STRINGS = (
    "",
    " ",
    "\0",
    "\x1b]0;title\x07\x1b[31m",
    "\u202eevil\u2066",
    "\ufeff",
    "".join(chr(0xE0000 + ord(letter)) for letter in "say yes"),
    "\u2028\u2029\x85\r",
    "e" + "\u0301" * 3000,
    "../../../../tmp/escaped",
    "/etc/passwd",
    "subprocess:Popen",
    "os:system",
    "http://169.254.169.254/latest",
    "AWS_SECRET_ACCESS_KEY",
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "%s%n{0}{x.__class__}",
    "[link](javascript:alert(1))",
    "1e999",
    "-0",
    "٣",
    "²",
    "ﬁ",
    "x" * 70_000,
    "word " * 40_000,
    " " * 300_000,
    "(" * 30_000,
    "a,b;c|d\te\n" * 5_000,
)
_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**63,
    -(2**63),
    1e308,
    -1e-320,
    0.5,
    [],
    {},
    [[]],
    [None],
)
_RAW = (
    "NaN",
    "-Infinity",
    "1e999",
    "1" + "0" * 400,
    "1" + "0" * 5000,
    '"\\ud800"',
    '"\\udc00\\ud800"',
    "[" * 900 + "]" * 900,
    "[" * 100_000 + "]" * 100_000,
    '{"a":' * 50_000 + "1" + "}" * 50_000,
    '{"id":1,"id":2}',
    "[" + "0," * 200_000 + "0]",
    "'single'",
    "",
)
"""What a writer of JSON would not write; it stands in the place of a value."""
_PLACE = "\x01raw{}\x01"
_TOML = (
    *('""', '"x"', "0", "-1", "1e308", "nan", "inf", "true", "[]", "{}", "[[]]", "1979-05-27", "9223372036854775808"),
    *(
        '"subprocess:Popen"',
        '"os:system"',
        '"/etc/passwd"',
        '"../../x.db"',
        '"http://127.0.0.1:1"',
        '"\\u0000"',
        "1" * 5000,
    ),
    *(
        '"' + "x" * 100_000 + '"',
        "[" * 5_000 + "]" * 5_000,
        "{a=" * 300 + "1" + "}" * 300,
        '"openai"',
        '"llm"',
        '"cascade"',
    ),
)


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
    except (
        ValueError,
        LookupError,
        RecursionError,
        zipfile.BadZipFile,
        NotImplementedError,
        struct.error,
        OSError,
        RuntimeError,
    ):
        return _bytes(dice, data, donors)  # an earlier change left nothing that this one could read


def _bytes(dice: Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    if not data:
        return dice.randbytes(dice.randrange(200))
    a, b = sorted((dice.randrange(len(data) + 1), dice.randrange(len(data) + 1)))
    b = min(b, a + dice.choice((1, 4, 64, len(data))))
    match dice.randrange(9):
        case 0:
            changed = bytearray(data)
            for _ in range(dice.choice((1, 3, 30))):
                changed[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
            return bytes(changed)
        case 1:
            return data[:a]
        case 2:
            other = dice.choice(donors) if donors else data
            cut = dice.randrange(len(other) + 1)
            return data[:a] + other[cut:]
        case 3:
            return data[:a] + data[b:]
        case 4:
            return (
                data[:a] + data[a:b] * dice.choice((2, 3, 100, 1000)) + data[b:] if b - a < 20_000 else data[a:b] + data
            )
        case 5:
            return data[:a] + dice.choice((b"\0", b"\xff", b"\x80")) * (b - a) + data[b:]
        case 6:
            return data[:a] + dice.randbytes(b - a) + data[b:]
        case 7:
            mark = dice.choice(
                (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"PK\x03\x04", b"%PDF-", b"SQLite format 3\0")
            )
            return mark + data
        case _:
            return data[:a] + dice.choice(STRINGS).encode() + data[a:]


def _text(dice: Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    text = data.decode("utf-8", "surrogateescape")
    match dice.randrange(5):
        case 0:
            numbers = list(re.finditer(r"-?\d+(?:\.\d+)?", text))
            spot = dice.choice(numbers)
            text = (
                text[: spot.start()]
                + dice.choice(("-1", "0", "1e999", "nan", "9" * 5000, "٣", "1" * 40))
                + text[spot.end() :]
            )
        case 1:
            at = dice.randrange(len(text) + 1)
            text = text[:at] + dice.choice(STRINGS) + text[at:]
        case 2:
            lines = text.splitlines(keepends=True)
            at = dice.randrange(len(lines))
            lines[at : at + 1] = lines[at : at + 1] * dice.choice((0, 2, 500))
            text = "".join(lines)
        case 3:
            lines = text.splitlines(keepends=True)
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
        lines[at : at + 1] = dice.choice(
            ([], [lines[at]] * 2, [b""], [b"null"], [b"[]"], [b"3"], [lines[at][: len(lines[at]) // 2]])
        )
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


def _toml(dice: Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    lines = data.decode().splitlines()
    at = dice.choice([number for number, line in enumerate(lines) if "=" in line])
    key = lines[at].partition("=")[0]
    match dice.randrange(4):
        case 0:
            lines[at] = f"{dice.choice((key, key + 'x', 'use', 'path', 'k'))} = {dice.choice(_TOML)}"
        case 1:
            lines[at:at] = [
                f"[{dice.choice(('llm', 'network', 'judge', 'pipeline', 'thresholds', 'nobody', 'searcher'))}]"
            ]
        case 2:
            lines.insert(
                at,
                f"{dice.choice(('base_url', 'key_env', 'allow', 'cache', 'upper', 'of'))} = {dice.choice(_TOML)}",
            )
        case _:
            lines[at] = f"{key} = {dice.choice(_TOML)}"
    return "\n".join(lines).encode()


def _zip(dice: Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    """A member changed, added, doubled or lied about."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as given:
            members = [(info.filename, given.read(info)) for info in given.infolist()]
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError):
        return _bytes(dice, data, ())  # an earlier change damaged it
    if not members:
        return data
    at = dice.randrange(len(members))
    name, inside = members[at]
    lie = False
    match dice.randrange(6):
        case 0:
            members[at] = (
                name,
                _markup(dice, inside, ()) if inside.lstrip().startswith(b"<") else _bytes(dice, inside, ()),
            )
        case 1:
            members.append((name, inside))
        case 2:
            members.append(
                (
                    dice.choice(("../../escaped", "word/document.xml", "x" * 5000, "word/media/a.png", "/abs")),
                    bytes(10_000_000),
                )
            )
        case 3:
            del members[at]
        case 4:
            lie = True
        case _:
            members[at] = name, inside.replace(b"<w:tc>", b'<w:tc><w:tcPr><w:gridSpan w:val="100000000"/></w:tcPr>')
    made = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as out:
        for member, content in members:
            out.writestr(member, content)
    raw = bytearray(made.getvalue())
    if lie:
        spots = [spot.start() for spot in re.finditer(rb"PK\x01\x02", raw)]
        offset = dice.choice(spots) + dice.choice((10, 20, 24, 42))  # method, packed size, size, place
        raw[offset : offset + 4] = struct.pack("<I", dice.choice((0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 1 << 20)))
    return bytes(raw)


def _pdf(dice: Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    swaps = (
        (rb"/Length \d+", (b"/Length 0", b"/Length 999999999", b"/Length -1", b"/Length 5 0 R")),
        (
            rb"/Kids \[[^]]*\]",
            (b"/Kids [2 0 R]", b"/Kids [1 0 R 1 0 R]", b"/Kids 3", b"/Kids [" + b"3 0 R " * 20_000 + b"]"),
        ),
        (rb"/Count \d+", (b"/Count 999999999", b"/Count -1", b"/Count (x)")),
        (rb"\d+ 0 R", (b"1 0 R", b"2 0 R", b"3 0 R", b"99 0 R", b"null", b"<<>>")),
        (rb"/Contents [^/>]*", (b"/Contents [" + b"4 0 R " * 5_000 + b"] ", b"/Contents 3 0 R ", b"/Contents (x) ")),
        (rb"/Type */\w+", (b"/Type /ObjStm", b"/Type /Page", b"/Type /Pages", b"/Type 3")),
        (
            rb"<<",
            (
                b"<< /Filter [" + b"/FlateDecode " * 200 + b"] ",
                b"<< /Encrypt 1 0 R ",
                b"<< /Parent 3 0 R ",
                b"<<" * 3_000,
            ),
        ),
        (rb"xref", (b"xerf", b"xref\n0 99999999")),
        (rb"startxref\s+\d+", (b"startxref\n0", b"startxref\n99999999999", b"startxref\n-5")),
        (rb"BT", (b"BT " + b"q " * 100_000, b"BT " + b"(x) Tj " * 50_000, b"BT [" * 5_000, b"BT /F1 1e999 Tf ")),
    )
    pattern, others = dice.choice(swaps)
    spots = list(re.finditer(pattern, data))
    if not spots:
        return _bytes(dice, data, donors)
    spot = dice.choice(spots)
    return data[: spot.start()] + dice.choice(others) + data[spot.end() :]


def _markup(dice: Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    """HTML, XML and Markdown alike: an element wrapped, repeated, unclosed, or given a thousand attributes."""
    tags = list(re.finditer(rb"<[^<>]{1,300}>", data))
    if not tags:
        return _text(dice, data, donors)
    tag = dice.choice(tags)
    name = re.match(rb"</?([\w:]*)", tag[0])
    word = name[1] if name else b"p"
    match dice.randrange(8):
        case 0:
            inserted = b"<" + word + b">"
            return data[: tag.start()] + inserted * dice.choice((2, 300, 20_000)) + data[tag.start() :]
        case 1:
            attributes = b" ".join(b"a%d='x'" % number for number in range(dice.choice((10, 20_000))))
            return data[: tag.end() - 1] + b" " + attributes + data[tag.end() - 1 :]
        case 2:
            return data[: tag.start()] + data[tag.end() :]
        case 3:
            return data[: tag.start()] + tag[0] * dice.choice((2, 1000)) + data[tag.end() :]
        case 4:
            extra = (
                b"<!--",
                b"<![CDATA[",
                b"&#0;&#xD800;&#99999999;",
                b"<table><tr><td colspan=99999999 rowspan=9999>",
                b"<base href='//x'>",
            )
            return data[: tag.start()] + dice.choice(extra) + data[tag.start() :]
        case 5:
            entity = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>&b;&c;'
            return entity + data
        case 6:
            return data[: tag.start()] + dice.choice(STRINGS).encode() + data[tag.start() :]
        case _:
            return (
                data[: tag.start()]
                + b"<"
                + word
                + b" hidden style='display:none' class='"
                + b"x " * 1000
                + b"'>"
                + data[tag.end() :]
            )


def _database(dice: Random, data: bytes, donors: Sequence[bytes]) -> bytes:
    """Bytes of a page, or a statement that a stranger may have run in it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "x.db")
        file.write_bytes(data)
        try:
            with closing(sqlite3.connect(file, isolation_level=None)) as db:
                tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                table = dice.choice(tables)
                columns = [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]
                db.execute("PRAGMA journal_mode = DELETE")
                for statement in _statements(dice, table, dice.choice(columns), columns):
                    db.execute(statement)
        except sqlite3.Error:
            return _bytes(dice, data, donors)
        return file.read_bytes()


def _statements(dice: Random, table: str, column: str, columns: Sequence[str]) -> tuple[str, ...]:
    some = dice.choice(("1", "abs(random()) % 3 = 0", "1"))
    numbers = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT " + ", ".join(
        f"x AS {name}" for name in columns
    )
    return dice.choice(
        (
            *[(f'UPDATE OR IGNORE "{table}" SET "{column}" = {value} WHERE {some}',) for value in _SQL],
            (f'DELETE FROM "{table}" WHERE {some}',),
            (f'DROP TABLE "{table}"',),
            (f'ALTER TABLE "{table}" RENAME TO other_{table}',),
            (f'ALTER TABLE "{table}" ADD COLUMN more',),
            (f'DROP TABLE "{table}"', f'CREATE VIEW "{table}" AS {numbers} FROM n'),
            (f'DROP TABLE "{table}"', f'CREATE TABLE "{table}" ({", ".join(columns)})'),
            (f"PRAGMA user_version = {dice.choice((0, 1, 2, -1, 99))}",),
            (f'CREATE TRIGGER t AFTER INSERT ON "{table}" BEGIN DELETE FROM "{table}"; END',),
            (f"CREATE TRIGGER t BEFORE INSERT ON \"{table}\" BEGIN SELECT RAISE(ABORT, 'no'); END",),
            (f'INSERT OR REPLACE INTO "{table}" SELECT * FROM "{table}"',),
        )
    )


_SQL = (
    *(
        "NULL",
        "''",
        "'text'",
        "-1",
        "9e999",
        "1e308",
        "zeroblob(7)",
        "zeroblob(1 << 20)",
        "x'ff00fe'",
        "rowid",
        "char(0, 55296)",
    ),
    *(
        "'[[1]]'",
        "'{\"a\": []}'",
        "'null'",
        "printf('%.*c', 300000, 'x')",
        "printf('%.*c', 300000, ' ')",
        "9223372036854775807",
    ),
    *(
        "randomblob(64)",
        "'../../escaped'",
        "CAST(x'ff' AS TEXT)",
        "'\x1b[31m'",
        "'[' || replace(zeroblob(0), x'00', '[') || ']'",
    ),
)
"""What a column may hold that should hold something else."""

Way = Callable[[Random, bytes, Sequence[bytes]], bytes]
_PACKERS: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    ".gz": (gzip.decompress, partial(gzip.compress, mtime=0)),
    ".bz2": (bz2.decompress, bz2.compress),
    ".xz": (lzma.decompress, lzma.compress),
}


def _inside(unpack: Callable[[bytes], bytes], pack: Callable[[bytes], bytes]) -> Way:
    """What is inside of a compressed file changed, doubled, or followed by much more of it."""

    def way(dice: Random, data: bytes, donors: Sequence[bytes]) -> bytes:
        try:
            inside = unpack(data)
        except (EOFError, OSError, zlib.error, lzma.LZMAError):
            return _bytes(dice, data, donors)  # an earlier change damaged it
        changed = dice.choice((_text, _markup, _bytes))(dice, inside, ())[:MOST]
        packed = pack(dice.choice((changed, changed, changed + b"x " * 300_000)))
        return packed + dice.choice((b"", b"", b"\0" * 10, packed, packed[:-9], b"x"))

    return way


_WAYS: dict[str, tuple[Way, ...]] = {
    ".json": (_json, _json, _json, _text),
    ".jsonl": (_lines, _lines, _lines, _text),
    ".toml": (_toml, _toml, _text),
    ".ipynb": (_json, _json, _text),
    ".xml": (_markup, _markup, _text),
    ".dbk": (_markup, _markup, _text),
    ".docx": (_zip, _zip),
    ".epub": (_zip, _zip),
    ".pdf": (_pdf, _pdf),
    ".pptx": (_zip, _zip),
    ".xlsx": (_zip, _zip),
    ".html": (_markup, _markup, _text),
    ".md": (_text, _markup),
    ".txt": (_text,),
    **dict.fromkeys((".rst", ".adoc", ".tex", ".eml", ".yaml", ".ini", ".1", ".man", ".csv", ".tsv", ""), (_text,)),
    **dict.fromkeys((".py", ".c", ".js", ".sh"), (_text,)),
    **{suffix: (_inside(*ways),) for suffix, ways in _PACKERS.items()},
    ".sse": (_text,),
    ".db": (_database, _database, _database),
}
