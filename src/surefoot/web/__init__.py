"""HTML, CSS and JavaScript without a build step: the viewer of a run, the page that `surefoot serve` opens, and one
answer to hand on. A served page loads its modules one by one; a file holds them joined, beside the data that it shows.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from surefoot.run.store import to_json
from surefoot.types import Trace

_STYLES = ("trace.css", "ask.css")
"""Styles of the served page, in this order."""
LANGUAGES = ("en", "de", "fr", "es", "zh")
"""Those of the page, the first where a browser asks for none of them."""
_SHARED = ("language", "dom", "words", "blocks", "scale", "passages", "confidence", "answer", "turn", "shared")
"""Modules of a shared answer, joined in this order."""


@cache
def static(name: str) -> str:
    """The text of one of the files here."""
    return (files("surefoot") / "web" / name).read_text("utf-8")


@cache
def served(language: str) -> str:
    """The page that `surefoot serve` opens, in one of `LANGUAGES`. Its style, its texts and the kept theme stand in it,
    so that its first paint waits for no second answer; its modules are files of their own."""
    known = texts(language)
    words = {name: escape(text) for name, text in known.items() if isinstance(text, str)}
    page = Template(static("ask.html")).substitute(words, lang=language)
    return _filled(page, STYLE=_style(), THEME=static("theme.js"), TEXTS=_embedded(known))


@cache
def texts(language: str) -> dict[str, str | dict[str, str]]:
    """The texts of the page in one of `LANGUAGES`; of one with a number in it its plural forms, as CLDR calls them."""
    found: dict[str, str | dict[str, str]] = json.loads(static(f"{language}.json"))
    return found


def texts_of(script: str, language: str) -> str:
    """Those texts that the script of a file uses, as they stand in it."""
    return _embedded({name: text for name, text in texts(language).items() if f'("{name}"' in script})


def _embedded(values: Mapping[str, object]) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


@cache
def served_policy() -> str:
    """Content-Security-Policy of the served page: what stands in it, its own files, and nothing else."""
    theme = hashed(static("theme.js"))
    parts = ["default-src 'none'", f"script-src 'self' '{theme}'", f"style-src '{hashed(_style())}'"]
    parts += ["img-src 'self' blob:", "connect-src 'self'", "frame-src 'self'", "base-uri 'none'", "form-action 'none'"]
    parts += ["frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"]
    return "; ".join(parts)


def _style() -> str:
    return "".join(map(static, _STYLES))


def joined(names: Sequence[str]) -> str:
    """These modules as one script, without imports and exports, each of which stands in one line. No two may declare
    the same name, and one that uses another stands behind it."""
    lines = (line for name in names for line in static(f"{name}.js").split("\n") if not line.startswith("import "))
    whole = "\n".join(line.removeprefix("export ") for line in lines)
    return f'(() => {{\n"use strict";\n{whole}\n}})();\n'


def policy(script: str, style: str) -> str:
    """The Content-Security-Policy of a file that holds this script and this style, and nothing else that may run."""
    parts = ["default-src 'none'", f"script-src '{hashed(script)}'", f"style-src '{hashed(style)}'"]
    parts += ["base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"]
    return "; ".join(parts)


def filled(template: str, **parts: str) -> str:
    """The head that all files have and the template, with `@NAME@` replaced by each part, in the order in which they
    stand there; what a part holds is left as it is."""
    return _filled(static("head.html") + static(template), **parts)


def _filled(text: str, **parts: str) -> str:
    before, rest = "", text
    for name, value in parts.items():
        found, _, rest = rest.partition(f"@{name}@")
        before += found + value
    return before + rest


def shared(trace: Trace, language: str = LANGUAGES[0]) -> str:
    """One answer with all that led to it, as an HTML file that needs nothing else and asks nothing of any network.

    Left out is the configuration, which names paths. The same trace gives the same text.
    """
    script, style = joined(_SHARED), static("trace.css")
    data = {**to_json(trace), "config": {}}
    names = "shared_title", "opening_answer", "shared_no_script"
    title, opening, no_script = (str(texts(language)[name]) for name in names)
    head = {"LANGUAGE": language, "POLICY": policy(script, style), "TITLE": title, "STYLE": style}
    head |= {"OPENING": opening, "NO_SCRIPT": no_script}
    return filled("shared.html", **head, TEXTS=texts_of(script, language), DATA=packed(data), SCRIPT=script)


def packed(value: Any, compress: Callable[[bytes], bytes] = bytes) -> str:
    """The value as letters that mean nothing to HTML."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(compress(text.encode("utf-8", "replace"))).decode()


def hashed(text: str) -> str:
    """The text as a Content-Security-Policy names it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
