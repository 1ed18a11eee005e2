"""Man pages, in the macros of man and of mdoc: sections as paths, options as definitions, examples as code.

A reader of our own: groff and mandoc are programs that not every system has, and what they write is for a terminal.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import BinaryIO

from surefoot.documents.loaders import Block, Document, DocumentProblem, Unreadable
from surefoot.documents.loaders.text import decoded
from surefoot.text.blocks import bullets, code, definition, table
from surefoot.types import BlockKind

_LONGEST_STRING = 80
"""Characters of a string that a page defines, at most: strings may name strings, and so grow without bound."""

_LONGEST_LINE = 10_000
"""Characters above which a line that goes on in the next one ends all the same."""

_LONGEST_TERM = 500
"""Characters of a term above which no further one is joined to it."""

_ESCAPE = re.compile(
    r"\\(?:f(?:\[[^\]]{0,40}\]|\(..|.)|s(?:[-+]?\d{1,2}|\[[^\]]{0,20}\])|[mMF]\[[^\]]{0,40}\]"
    r"|\*(?:\[(?P<string>[^\]]{0,40})\]|\((?P<two>..)|(?P<one>.))|n(?:\[[^\]]{0,40}\]|\(..|.)"
    r"|[hvwlLoDXYZbk]'[^']{0,200}'|\((?P<char>..)|\[(?P<named>[^\]]{1,40})\]|(?P<rest>[\"#].*)|(?P<other>.?))"
)
_OTHERS = dict.fromkeys("&|^/,:%cduprz{}!)", "") | {"e": "\\", "~": " ", "0": " ", "t": "\t"}
_SPELLED = (
    "aq ' dq \" lq \" rq \" oq ' cq ' em — en – hy - mi - bu • co © rg ® tm ™ ti ~ ha ^ ga ` rs \\ lB [ rB ] lC { rC } "
    "sh # Do $ at @ ba | bv | br | sl / mu × +- ± -> → <- ← <= ≤ >= ≥ != ≠ == ≡ de ° ss ß Po £ Eu € ct ¢ sc § "
    "fo ‹ fc › Fo « Fc » la ⟨ ra ⟩ sq □ ci ○ pl + eq = ff ff fi fi fl fl 12 ½ 14 ¼ 34 ¾ /o ø /O Ø oa å oA Å ae æ AE Æ "
    "dg † ul _"
).split()
_CHARACTERS = dict(zip(_SPELLED[::2], _SPELLED[1::2], strict=True))
_ACCENTS = {"'": "\u0301", "`": "\u0300", ":": "\u0308", "^": "\u0302", "~": "\u0303", ",": "\u0327", "o": "\u030a"}
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|((?:\\.|[^\s\\])+|\\)')
_CONDITION = re.compile(r"[.'](?:if|ie) +!?(?:n|t|\\n\S*|'[^']*'[^']*'|\S+) *|[.']el *")
_BULLETS = {"•", "*", "-", "o", "+", "·", "–", "—", ""}
_NUMBER = re.compile(r"[(\[]?\d{1,3}[.)\]]?\Z")
_ALTERNATING = frozenset(("BR", "BI", "IB", "IR", "RB", "RI"))
_JOINED = frozenset("B I SM SB R CW Nm UR MT".split())


class ManLoader:
    """Reads man pages, with the names of options as terms."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The page as one document, titled as in "ls(1)"."""
        text, problem = decoded(stream)
        if problem:
            yield problem
        page = _Page()
        begun = ""
        for number, line in enumerate(text.split("\n"), start=1):
            line = begun + line
            goes_on = line.endswith("\\") and not line.endswith("\\\\") and len(line) < _LONGEST_LINE
            begun = line[:-1] if goes_on else ""
            if not goes_on:
                page.take(number, line)
        page.close()
        if not page.blocks:
            raise Unreadable("holds no text of a man page; a page that only names another one needs no index")
        yield Document("", page.title or PurePath(name).stem, tuple(page.blocks))


class _Page:
    """A page as it is read, line by line."""

    def __init__(self) -> None:
        self.title = ""
        self.blocks: list[Block] = []
        self._strings = {
            "Aq": "'",
            "lq": '"',
            "rq": '"',
            "L'": "'",
            "R'": "'",
            'L"': '"',
            'R"': '"',
            "--": "—",
            "Tm": "™",
        }
        self._strings |= {"R": "®", "(lq": '"', "(rq": '"'}
        self._path: tuple[str, ...] = ()
        self._number = self._place = self._items_place = 0
        self._words: list[str] = []
        self._verbatim: list[str] | None = None
        self._term: str | None = None
        self._body: list[str] = []
        self._items: list[str] = []
        self._ordered = False
        self._depth = 0
        self._skip = ""
        self._next: Callable[[str], None] | None = None
        self._rows: list[str] | None = None
        self._mdoc = _Mdoc()
        self._lists: list[str] = []

    def take(self, number: int, line: str) -> None:
        """Read a line."""
        self._number = number
        if self._skip:
            self._skip = "" if line.startswith(self._skip) else self._skip
        elif self._rows is not None and not line.startswith(".TE"):
            self._rows.append(line)
        elif line[:1] in (".", "'") and line[1:].strip():
            self._order(line)
        elif line[:1] != "." or self._verbatim is not None:
            self._say(self._plain(line))

    def _plain(self, text: str) -> str:
        def meant(found: re.Match[str]) -> str:
            name = found["string"] or found["two"] or found["one"]
            if name is not None:
                return self._strings.get(name, "")
            if (name := found["char"] or found["named"]) is not None:
                return _character(name)
            return "" if found["rest"] else _OTHERS.get(found["other"] or "", found["other"] or "")

        return _ESCAPE.sub(meant, text) if "\\" in text else text

    def _arguments(self, text: str) -> list[str]:
        found = _ARGUMENT.finditer(text.partition('\\"')[0])
        return [self._plain(m[2] if m[1] is None else m[1].replace('""', '"')) for m in found]

    def _order(self, line: str) -> None:
        if found := _CONDITION.match(line):
            if line[found.end() :].startswith("\\{"):
                return
            line = line[found.end() :]
            if not line.startswith((".ds", "'ds")):
                return
        name, _, rest = line[1:].strip().partition(" ")
        name, tab, more = name.partition("\t")
        rest = more + " " + rest if tab else rest
        if name in ("de", "de1", "am", "ig"):
            self._skip = f".{rest.split()[1]}" if name != "ig" and len(rest.split()) > 1 else ".."
        elif name == "ds":
            key, _, value = rest.strip().partition(" ")
            self._strings[key[:40]] = self._plain(value.strip().removeprefix('"'))[:_LONGEST_STRING]
        elif handler := getattr(self, f"_on_{name}", None):
            handler(self._arguments(rest))
        elif name in _ALTERNATING:
            self._say("".join(self._arguments(rest)))
        elif name in _JOINED and not self._mdoc.begun:
            self._say(" ".join(self._arguments(rest)), begins=not rest.strip())
        elif self._mdoc.begun and self._mdoc.knows(name):
            self._say(self._mdoc.line(name, self._arguments(rest)))

    def _say(self, text: str, begins: bool = False) -> None:
        if self._next:
            if begins:
                return
            handler, self._next = self._next, None
            handler(text)
        elif self._verbatim is not None:
            self._verbatim.append(text)
        elif text.strip():
            if not self._words and self._term is None:
                self._place = self._number
            self._words.append(text.strip())
        elif not text:
            self._end_words()

    def _add(self, text: str, kind: BlockKind) -> None:
        if self._term is not None:
            self._body.append(text)
        else:
            self._end_list()
            self.blocks.append(Block(text, kind, self._path, f"L{self._place or self._number}"))

    def _end_words(self) -> None:
        said = " ".join(self._words).replace(" \n ", "\n")
        self._words = []
        if said.strip():
            self._add(said, "paragraph")

    def _end_code(self) -> None:
        lines, self._verbatim = self._verbatim, None
        if lines and (text := code("\n".join(lines))):
            self._add(text, "code")

    def _end_item(self) -> None:
        self._end_code()
        self._end_words()
        term, body, self._term, self._body = self._term, self._body, None, []
        if term is None or not (term or body):
            return
        text = "\n\n".join(body)
        if term in _BULLETS or _NUMBER.match(term):
            self._ordered = bool(_NUMBER.match(term))
            self._items_place = self._items_place if self._items else self._place
            self._items.append(text)
            return
        self._end_list()
        place = f"L{self._place or self._number}"
        if text:
            self.blocks.append(Block(definition(term, text), "definition", self._path, place))
        else:
            self.blocks.append(Block(term, "paragraph", self._path, place))

    def _end_list(self) -> None:
        items, self._items = self._items, []
        if items:
            self.blocks.append(Block(bullets(items, self._ordered), "list", self._path, f"L{self._items_place}"))

    def close(self) -> None:
        """End all that is open."""
        self._end_item()
        self._end_list()

    def _head(self, level: int, name: str) -> None:
        self.close()
        self._lists, self._depth = [], 0
        self._path = (*self._path[:level], name.strip())

    def _item(self, term: str) -> None:
        if self._term and len(self._term) < _LONGEST_TERM and not (self._body or self._words or self._verbatim):
            term = f"{self._term}, {term}"
            self._term = None
        else:
            self._end_item()
        self._term, self._place = term.strip(), self._number

    def _on_TH(self, words: list[str]) -> None:
        self.title = "{}({})".format(*words[:2]) if len(words) > 1 else "".join(words)

    def _on_Dt(self, words: list[str]) -> None:
        self._on_TH([words[0].lower(), *words[1:]] if words else [])

    def _on_Dd(self, words: list[str]) -> None:
        self._mdoc.begun = True

    def _on_SH(self, words: list[str]) -> None:
        self._heading(0, words)

    def _on_SS(self, words: list[str]) -> None:
        self._heading(1, words)

    _on_Sh, _on_Ss = _on_SH, _on_SS

    def _heading(self, level: int, words: list[str]) -> None:
        if words:
            self._next = None
            self._head(level, " ".join(words))
        else:
            self._next = lambda text: self._head(level, text)

    def _on_PP(self, words: list[str]) -> None:
        if self._verbatim is not None:
            self._verbatim.append("")
        elif self._depth or self._lists:
            self._end_words()
        else:
            self._end_item()

    _on_P = _on_LP = _on_HP = _on_PP

    def _on_sp(self, words: list[str]) -> None:
        if self._verbatim is not None:
            self._verbatim.append("")
        else:
            self._end_words()

    _on_Pp = _on_sp

    def _on_br(self, words: list[str]) -> None:
        if self._words and self._verbatim is None:
            self._words.append("\n")

    def _on_TP(self, words: list[str]) -> None:
        if self._depth and self._term is not None:
            self._end_words()
            self._next = self._words.append
        else:
            self._next = self._item

    _on_TQ = _on_TP

    def _on_IP(self, words: list[str]) -> None:
        if (self._depth and self._term is not None) or not words:
            self._end_words()
            self._words += [f"{word}:" for word in words[:1] if word not in _BULLETS]
        else:
            self._item(words[0])

    def _on_RS(self, words: list[str]) -> None:
        self._end_words()
        self._depth += 1

    def _on_RE(self, words: list[str]) -> None:
        self._end_words()
        self._depth = max(0, self._depth - 1)

    def _on_nf(self, words: list[str]) -> None:
        self._end_words()
        if self._verbatim is None:
            self._verbatim = []
            self._place = self._place if self._term is not None else self._number

    def _on_fi(self, words: list[str]) -> None:
        self._end_code()

    _on_EX, _on_EE, _on_Vb, _on_Ve = _on_nf, _on_fi, _on_nf, _on_fi

    def _on_Bd(self, words: list[str]) -> None:
        if "-literal" in words or "-unfilled" in words:
            self._on_nf(words)

    _on_Ed = _on_fi

    def _on_Dl(self, words: list[str]) -> None:
        self._end_words()
        self._add(code(self._mdoc.line(words[0] if words else "", words[1:], called=True)), "code")

    _on_D1 = _on_Dl

    def _on_Bl(self, words: list[str]) -> None:
        self._end_words()
        self._lists.append(next((word for word in words if word.startswith("-")), "-item"))

    def _on_El(self, words: list[str]) -> None:
        if len(self._lists) == 1:
            self._end_item()
        self._lists = self._lists[:-1]

    def _on_It(self, words: list[str]) -> None:
        term = self._mdoc.line("No", words)
        if len(self._lists) > 1 and self._term is not None:
            self._end_words()
            self._words += [f"{term}:"] if term else []
        elif self._lists and self._lists[-1] in ("-bullet", "-dash", "-hyphen", "-item", "-enum"):
            self._end_item()
            self._term, self._place = "1" if self._lists[-1] == "-enum" else "•", self._number
        else:
            self._item(term.replace(" Ta ", " | "))

    def _on_UE(self, words: list[str]) -> None:
        self._say("".join(words))

    _on_ME = _on_UE

    def _on_SY(self, words: list[str]) -> None:
        self._end_words()
        self._say(" ".join(words))

    def _on_YS(self, words: list[str]) -> None:
        self._end_words()

    def _on_OP(self, words: list[str]) -> None:
        self._say(f"[{' '.join(words)}]")

    def _on_TS(self, words: list[str]) -> None:
        self._end_words()
        self._rows = []
        self._place = self._number

    def _on_TE(self, words: list[str]) -> None:
        lines, self._rows = self._rows or [], None
        begin = next((n for n, line in enumerate(lines, start=1) if line.rstrip().endswith(".")), 0)
        mark = re.search(r"tab *\((.)\)", " ".join(lines[:1]))
        rows = _rows([self._plain(line) for line in lines[begin:]], mark[1] if mark else "\t")
        if text := table(rows[1:], rows[0]) if len(rows) > 1 else "":
            self._add(text, "table")


def _rows(lines: list[str], tab: str) -> list[list[str]]:
    """The cells of the lines of a tbl table; a cell may be a text of several lines between T{ and T}."""
    rows: list[list[str]] = []
    inside = False
    for line in lines:
        if inside:
            inside = not line.startswith("T}")
            after = line[2:].split(tab)[1:] if not inside else []
            if inside and not line.startswith("."):
                rows[-1][-1] += " " + line
            rows[-1] += after
            inside = inside or (bool(after) and after[-1] == "T{")
        elif line.strip(" _=-") and not line.startswith("."):
            rows.append(line.split(tab))
            inside = rows[-1][-1].strip() == "T{"
        if inside and rows[-1][-1].strip() == "T{":
            rows[-1][-1] = ""
    return rows


def _character(name: str) -> str:
    if name in _CHARACTERS:
        return _CHARACTERS[name]
    if re.fullmatch(r"u[0-9A-F]{4,5}", name):
        return chr(int(name[1:], 16))
    if len(name) == 2 and name[0] in _ACCENTS:
        return unicodedata.normalize("NFC", name[1] + _ACCENTS[name[0]])
    return ""


_BRACKETS = {"Op": "[]", "Pq": "()", "Dq": '""', "Qq": '""', "Sq": "''", "Ql": "''", "Aq": "<>", "Bq": "[]"}
_BRACKETS |= {"Brq": "{}", "Eq": "  "}
_OPENING = {"Oo": "[", "Po": "(", "Do": '"', "Qo": '"', "So": "'", "Ao": "<", "Bo": "[", "Bro": "{"}
_CLOSING = {"Oc": "]", "Pc": ")", "Dc": '"', "Qc": '"', "Sc": "'", "Ac": ">", "Bc": "]", "Brc": "}"}
_NAMED = {
    "Bx": "BSD",
    "Ux": "UNIX",
    "Fx": "FreeBSD",
    "Nx": "NetBSD",
    "Ox": "OpenBSD",
    "Dx": "DragonFly",
    "At": "AT&T",
}
_PLAIN = frozenset(
    "Ad An Ap Ar Bk Cd Cm Dv Ef Ek Em En Er Es Ev Fa Fd Fl Fn Ft Ic In Li Lk Ms Mt Nd Nm No Ns Pa Pf Sx Sy Ta Tn Va "
    "Vt Xr Xo Xc Lb St %A %B %C %D %I %J %N %O %P %Q %R %T %U %V".split()
)
_SILENT = frozenset(("Bk", "Ek", "Ef", "Es", "-words", "-split", "-nosplit"))
_AFTER = frozenset(".,:;)]?!")


class _Mdoc:
    """The words of a line of mdoc, whose macros call each other."""

    def __init__(self) -> None:
        self.begun = False
        self._name = ""

    def knows(self, word: str) -> bool:
        """Whether it is a macro of words."""
        return word in _PLAIN or any(word in of for of in (_BRACKETS, _OPENING, _CLOSING, _NAMED))

    def line(self, macro: str, words: list[str], called: bool = False) -> str:
        """The line as it is read."""
        said, close, glue = "", "", False
        if macro == "Nm" and (not words or words[0] in _AFTER):
            words = [self._name, *words]
        elif macro == "Nm" and not self._name and words:
            self._name = words[0]
        elif macro == "Ar" and not words:
            words = ["file ..."]
        elif macro == "Nd":
            said = "—"
        elif macro == "Xr" and len(words) > 1:
            words = [f"{words[0]}({words[1]})", *words[2:]]
        for n, word in enumerate([macro, *words]):
            begins = glue
            glue = False
            if (n and not self.knows(word)) or (called and not self.knows(word)):
                text, glue_next = word, False
            elif word == "Fl":
                text, glue_next = "-", True
            elif word in _BRACKETS:
                text, glue_next = _BRACKETS[word][0], True
                close = _BRACKETS[word][1] + close
            elif word in _OPENING:
                text, glue_next = _OPENING[word], True
            elif word in _CLOSING:
                text, glue_next, begins = _CLOSING[word], False, True
            elif word in ("Ns", "Pf", "Ap"):
                said += "'" if word == "Ap" else ""
                glue = True
                continue
            else:
                text, glue_next = _NAMED.get(word, ""), False
            if not text or text in _SILENT:
                glue = begins
                continue
            said += text if begins or not said or text in _AFTER else f" {text}"
            glue = glue_next
        tail = ""
        while close and said and said[-1] in _AFTER - {")", "]"}:
            said, tail = said[:-1], said[-1] + tail
        return said.rstrip() + close.rstrip() + tail
