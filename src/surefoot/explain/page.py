"""An explanation as one HTML page without scripts or network, on which texts are never markup.

Coloured words have signs too, and every value that shows under the pointer is in a table as well.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence

from surefoot.explain.action import ActionExplanation
from surefoot.explain.answer import Needs
from surefoot.explain.explanation import (
    Explanation,
    clean,
    degree,
    flips_action,
    margins,
    number,
    signs,
    strongest,
    trust,
)
from surefoot.types import Attribution, Trace
from surefoot.web import static

_STYLE = static("explanation.css")


def page(explained: Explanation) -> str:
    """The page's text. The policy in its head allows only its own style."""
    question = explained.action.question if explained.action else explained.grade.question if explained.grade else ""
    hashed = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{hashed}'; base-uri 'none'; form-action 'none'"
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Why: {clean(question)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>",
        f"<h1>{clean(question)}</h1>",
    ]
    if explained.action and explained.trace:
        parts += _action(explained.action, explained.trace)
    if explained.grade:
        parts += _grade(explained.grade)
        parts.append(_lines(trust(explained.grade), "dim"))
    if explained.answer:
        parts += _answer(explained.answer)
    return "\n".join([*parts, "</body>\n</html>\n"])


def _grade(found: Attribution) -> Iterator[str]:
    yield f"<h2>{clean(found.of)}: {found.full:.3g}</h2>"
    yield _lines(["Words with + raise the score, words with − lower it; the more signs, the more."], "dim")
    sides = [side for side in ("question", "title", "text") if any(unit.side == side for unit in found.units)]
    yield '<dl class="words">'
    yield from (f"<dt>{side}</dt>\n<dd>{_words(found, side)}</dd>" for side in sides)
    yield "</dl>"
    rows = [
        [clean(found.units[n].words), found.units[n].side, number(found.values[n]), f"{found.errors[n]:.2g}"]
        for n in strongest(found, len(found.units))
    ]
    table = _table("Each word's Shapley value", ["word", "of"], ["value", "± standard error"], rows)
    yield f"<details>\n<summary>All values</summary>\n{table}\n</details>"


def _words(found: Attribution, side: str) -> str:
    most = max(map(abs, found.values))
    return " ".join(
        f'<span{_shade(value, most)} title="{number(value)} ± {error:.2g}">'
        f"{clean(unit.words)}{_signs(value, most)}</span>"
        for unit, value, error in zip(found.units, found.values, found.errors, strict=True)
        if unit.side == side
    )


def _action(found: ActionExplanation, trace: Trace) -> Iterator[str]:
    yield f"<h2>{found.action.value.upper()}</h2>"
    yield _lines([found.because, *margins(found)])
    yield "<h2>What would have flipped it</h2>"
    yield _lines(flips_action(found))
    if found.without:
        yield _passages(found, trace)


def _passages(found: ActionExplanation, trace: Trace) -> str:
    values: Sequence[float | None] = found.carried.values if found.carried else [None] * len(found.without)
    most = max((abs(value) for value in values if value is not None), default=0.0)
    rows = []
    for alone, value, passage in zip(found.without, values, trace.passages, strict=True):
        score = "–" if alone.score is None else f"{alone.score:.3g}"
        carried = "–" if value is None else f"{number(value)}{_signs(value, most)}"
        rows.append([clean(passage.id), clean(passage.title), alone.action.value, score, carried])
    of = f"What each passage did; carried: its Shapley value in the {found.carried.of}" if found.carried else "Passages"
    return _table(of, ["passage", "title", "without it"], ["score", "carried"], rows)


def _answer(found: Needs) -> Iterator[str]:
    yield "<h2>What the answer needed</h2>"
    yield _lines([found.text or "A refusal."])
    if not found.as_recorded:
        yield _lines(["! It is not what the trace recorded."])
    rows = []
    for place, one in enumerate(found.strips, start=1):
        outcome = "a refusal" if one.refused else one.text if one.changed else "the same"
        rows.append([f"[{place}]", "yes" if one.changed else "no", clean(outcome), clean(one.strip.text)])
    yield _table("Each strip, and what is answered without it", ["[n]", "needed", "without it", "strip"], [], rows)


def _table(caption: str, left: Sequence[str], right: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows of HTML; the columns to the right hold figures."""
    head = "".join(f'<th scope="col">{name}</th>' for name in (*left, *right))
    body = "\n".join(
        "<tr>" + "".join(f"<td{_kind(n >= len(left))}>{cell}</td>" for n, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><caption>{clean(caption)}</caption>\n<tr>{head}</tr>\n{body}\n</table></div>'


def _kind(figure: bool) -> str:
    return ' class="figure"' if figure else ""


def _lines(lines: Iterable[str], kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return "\n".join(f"<p{named}>{clean(each)}</p>" for each in lines)


def _shade(value: float, most: float) -> str:
    kind = _class(value, most).strip()
    return f' class="{kind}"' if kind else ""


def _class(value: float, most: float) -> str:
    strength = degree(value, most)
    return f" {'up' if value > 0 else 'down'}{strength}" if strength else ""


def _signs(value: float, most: float) -> str:
    found = signs(value, most)
    return f"<sup>{found}</sup>" if found else ""
