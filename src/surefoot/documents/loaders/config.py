"""Settings: TOML, INI, properties and YAML, as text in their sections.

They are not parsed: comments are half of what they say, and YAML's aliases can unfold to any size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import BinaryIO

from surefoot.documents.loaders import Block, Document, DocumentProblem
from surefoot.documents.loaders.text import decoded
from surefoot.text.blocks import code

_SECTION = re.compile(r"\s*\[{1,2}([^\[\]\n]{1,300})\]{1,2}\s*(?:[#;].*)?\Z")
_KEY = re.compile(r"( *)(?:- )?[\"']?([^\s\"'#:&*!{}\[\]|>,-][^\"'#:\n]{0,200})[\"']?:\s*(?:#.*|[&!]\S+\s*)?\Z")
_YAML = (".yaml", ".yml")
_DEEPEST = 2
"""Levels of keys of YAML that are headings; deeper ones would part what belongs together."""


class ConfigLoader:
    """Reads files of settings, with their sections or outermost keys as paths."""

    def read(self, stream: BinaryIO, name: str) -> Iterator[Document | DocumentProblem]:
        """The whole file as one document of code; an empty line parts two blocks."""
        text, problem = decoded(stream)
        if problem:
            yield problem
        suffix = PurePath(name).suffix.lower()
        paths = _keys(text) if suffix in _YAML else _sections(text)
        language = "yaml" if suffix in _YAML else suffix[1:]
        yield Document("", PurePath(name).name, tuple(_blocks(text, paths, language)))


def _blocks(text: str, paths: Iterator[tuple[str, ...]], language: str) -> Iterator[Block]:
    """Runs of lines under the same path; comments above a section belong to it."""
    lines: list[str] = []
    path: tuple[str, ...] = ()
    begin = 1
    for number, (line, here) in enumerate(zip(text.split("\n"), paths, strict=True), start=1):
        if here != path or not line.strip():
            ahead = len(lines)
            while here != path and ahead and lines[ahead - 1].lstrip().startswith(("#", ";")):
                ahead -= 1
            if block := code("\n".join(lines[:ahead]), language):
                yield Block(block, "code", path, f"L{begin}")
            lines = lines[ahead:]
            begin = number - len(lines) + (not line.strip())
            path = here
        if line.strip():
            lines.append(line)
    if block := code("\n".join(lines), language):
        yield Block(block, "code", path, f"L{begin}")


def _sections(text: str) -> Iterator[tuple[str, ...]]:
    """For each line the section that it stands in."""
    path: tuple[str, ...] = ()
    for line in text.split("\n"):
        if found := _SECTION.match(line):
            path = (found[1].strip(),)
        yield path


def _keys(text: str) -> Iterator[tuple[str, ...]]:
    """For each line the keys above it that hold no value of their own, the outermost first."""
    open_keys: list[tuple[int, str]] = []
    for line in text.split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            indent = len(line) - len(line.lstrip())
            listed = line.lstrip().startswith("- ")
            while open_keys and (open_keys[-1][0] > indent or (open_keys[-1][0] == indent and not listed)):
                open_keys.pop()
            if len(open_keys) < _DEEPEST and not listed and (found := _KEY.match(line)):
                open_keys.append((indent, found[2].strip()))
        yield tuple(key for _, key in open_keys)
