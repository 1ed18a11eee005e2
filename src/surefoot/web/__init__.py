"""HTML, CSS and JavaScript without a build step: the viewer of a run, and the parts that draw in it. A file
holds its modules joined, beside the data that it shows.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

_BETWEEN_MODULES = re.compile(r"^(?:import .*\n|export )", re.MULTILINE)
"""What modules say to each other: each stands in one line, and in a joined script all names are known to all."""


@cache
def static(name: str) -> str:
    """The text of one of the files here."""
    return (files("surefoot") / "web" / name).read_text("utf-8")


def joined(names: Sequence[str]) -> str:
    """These modules as one script. No two may declare the same name, and one that uses another stands behind it."""
    whole = "\n".join(_BETWEEN_MODULES.sub("", static(f"{name}.js")) for name in names)
    return f'(() => {{\n"use strict";\n{whole}\n}})();\n'


def policy(script: str, style: str) -> str:
    """The Content-Security-Policy of a file that holds this script and this style, and nothing else that may run."""
    parts = ["default-src 'none'", f"script-src '{_hash(script)}'", f"style-src '{_hash(style)}'"]
    parts += ["base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"]
    return "; ".join(parts)


def filled(template: str, **parts: str) -> str:
    """The file with `@NAME@` replaced by each part, once and in order: what a part holds is not looked at again."""
    before, rest = "", static(template)
    for name, value in parts.items():
        found, _, rest = rest.partition(f"@{name}@")
        before += found + value
    return before + rest


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
