"""Citations in the forms in which language models write them, as the one form [n]."""

import re

MARKER = re.compile(r"(?<!\s)\s*\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]")
"""A citation with the white space before it; its numbers part at commas."""

_WORD = r"(?:sources?|docs?|documents?|passages?|refs?|references?|citations?|cite|context|excerpts?|quellen?|fuentes?)"
_NAME = rf"{_WORD}\s*[:#]?\s*"
_NUMBERS = rf"\d{{1,3}}(?:(?:\s*(?:[,;&–-]|and|und|et|y|,\s*and)\s*)(?:{_NAME}|\^|\#)?\d{{1,3}})*"
_FORM = re.compile(
    rf"""
      \[\[\s*(?P<a>{_NUMBERS})\s*\]\](?:\([^()\s]*\))?                    # [[1]], [[1]](address)
    | \[(?:{_NAME}|\^|\#|S)(?P<b>{_NUMBERS})\s*\](?!\()                   # [source 1], [^1], [#1], [S1], [cite: 1, 2]
    | (?<!\w)\[\s*(?P<c>{_NUMBERS})\s*\](?:\([^()\s]*\))?                        # [1-3], [1; 2], [1](address)
    | 【\s*(?:{_NAME})?(?P<d>{_NUMBERS})\s*(?:†[^】]{{0,60}})?】            # 【1】, 【1†L3-L5】
    | \(\s*(?:see\s+|from\s+)?{_NAME}(?P<e>{_NUMBERS})\s*\)               # (source 1), (see sources 1 and 2)
    | <(?P<tag>sup|cite|ref|source)>\s*\[?(?:{_NAME})?(?P<f>{_NUMBERS})\]?\s*</(?P=tag)>
    | \{{\{{?\s*{_NAME}(?P<g>{_NUMBERS})\s*\}}\}}?                         # {{source 1}}
    | \\cite\{{\s*(?P<h>{_NUMBERS})\s*\}}
    | (?<=[^\W\d_][.,;:!?])(?P<i>[¹²³⁴-⁹]+)                               # of a footnote
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LIST = re.compile(rf"\n\W{{0,9}}+{_WORD}\W{{0,9}}(?:\W{{0,9}}\b\d{{1,3}}[\].:)].*(?:\n|\Z))+\s*\Z", re.IGNORECASE)
"""A list of sources at the end of an answer, which is no statement."""
_LATE = re.compile(rf"((?<![.!?…])[.!?…]+[\"'”’)]*)((?:{MARKER.pattern})+)")
_SUPERSCRIPTS = str.maketrans("¹²³⁴⁵⁶⁷⁸⁹", "123456789")
_LONGEST_RANGE = 10


def normalised(text: str) -> str:
    """The text with each citation as [n] or [n, m], before the full stop that it follows, and without a list of sources
    at its end."""
    return _LATE.sub(r"\2\1", _FORM.sub(_plain, _LIST.sub("", text)).rstrip())


def numbers(text: str) -> list[int]:
    """The sources that the markers of a text name, each once, in order."""
    found = [int(number) for group in MARKER.findall(text) for number in group.split(",")]
    return list(dict.fromkeys(found))


def _plain(match: re.Match[str]) -> str:
    found = next(value for name, value in match.groupdict().items() if value and name != "tag")
    if match["i"]:
        return "".join(f" [{number}]" for number in found.translate(_SUPERSCRIPTS))
    ends = re.sub(r"(\d+)\s*[–-]\s*(?:\D{0,12}?)(\d+)", _spread, found)
    return f"[{', '.join(dict.fromkeys(re.findall(r'[0-9]+', ends)))}]"


def _spread(match: re.Match[str]) -> str:
    first, last = int(match[1]), int(match[2])
    return ", ".join(map(str, range(first, last + 1))) if 0 <= last - first < _LONGEST_RANGE else match[0]
