"""HTML, CSS and JavaScript without a build step: the viewer of a run, the page that `surefoot serve` opens, and one
answer to hand on. A served page loads its modules one by one; a file holds them joined, beside the data that it shows.
"""

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from surefoot.run.store import to_json
from surefoot.types import Trace

_STYLES = ("trace.css", "ask.css")
"""Styles of the served page, in this order."""
_SHARED = ("dom", "words", "blocks", "scale", "passages", "confidence", "answer", "turn", "shared")
"""Modules of a shared answer, joined in this order."""


@cache
def static(name: str) -> str:
    """The text of one of the files here."""
    return (files("surefoot") / "web" / name).read_text("utf-8")


@cache
def served() -> str:
    """The page that `surefoot serve` opens. Its style and the kept theme stand in it, so that its first paint waits for
    no second answer; its modules are files of their own."""
    return _filled(static("ask.html"), STYLE=_style(), THEME=static("theme.js"))


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


def shared(trace: Trace) -> str:
    """One answer with all that led to it, as an HTML file that needs nothing else and asks nothing of any network.

    Left out is the configuration, which names paths. The same trace gives the same text.
    """
    script, style = joined(_SHARED), static("trace.css")
    data = {**to_json(trace), "config": {}}
    head = {"POLICY": policy(script, style), "TITLE": "An answer · Surefoot", "STYLE": style}
    return filled("shared.html", **head, DATA=packed(data), SCRIPT=script)


def packed(value: Any, compress: Callable[[bytes], bytes] = bytes) -> str:
    """The value as letters that mean nothing to HTML."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return base64.b64encode(compress(text.encode("utf-8", "replace"))).decode()


def hashed(text: str) -> str:
    """The text as a Content-Security-Policy names it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
