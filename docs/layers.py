"""Draws docs/images/layers.svg: which room of the package may import which, as tests/test_imports.py holds it."""

from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "images" / "layers.svg"
CAPTIONS = {
    "types": "values",
    "text": "foundations",
    "evidence": "data, evidence",
    "evaluators": "components",
    "pipeline": "the line",
    "config": "configuration",
    "evaluate": "evaluation",
    "server": "fronts",
    "cli": "commands",
}
"""The caption of a layer, by a room in it."""

WIDTH, LEFT, RIGHT = 900, 120, 40
LINE, GAP, LETTER = 30, 12, 7.4
STYLE = """
  text { font: 12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1f2328; }
  .caption { fill: #59636e; } .layer { fill: #f6f8fa; } .room { fill: #fff; stroke: #8c959f; }
  .arrow { stroke: #59636e; stroke-width: 2; fill: none; } .head { fill: #59636e; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; } .caption { fill: #9198a1; } .layer { fill: #151b23; }
    .room { fill: #0d1117; stroke: #656c76; } .arrow { stroke: #9198a1; } .head { fill: #9198a1; }
  }
"""


def layers() -> tuple[tuple[str, ...], ...]:
    """Read the rooms of each layer from `LAYERS` of the test."""
    spec = spec_from_file_location("test_imports", ROOT / "tests" / "test_imports.py")
    assert spec
    assert spec.loader
    spec.loader.exec_module(test := module_from_spec(spec))
    return tuple(test.LAYERS)


def picture(found: Sequence[Sequence[str]]) -> str:
    """Draw the layers one above the other, imports pointing down; colours follow the reader's light or dark mode."""
    parts, top = [], 8
    for rooms in reversed(found):
        caption = next((CAPTIONS[room] for room in rooms if room in CAPTIONS), "")
        lines = _lines([f"{room}/" if (ROOT / "src" / "surefoot" / room).is_dir() else f"{room}.py" for room in rooms])
        height = len(lines) * LINE + 6
        parts.append(f'<rect class="layer" x="8" y="{top}" width="{WIDTH - 16 - RIGHT}" height="{height}" rx="6"/>')
        parts.append(f'<text class="caption" x="18" y="{top + 22}">{caption}</text>')
        for row, line in enumerate(lines):
            parts += _boxes(line, top + row * LINE + 4)
        top += height + GAP
    end, x = top - GAP, WIDTH - RIGHT / 2 - 4
    arrow = f'<path class="arrow" d="M{x} 8V{end - 10}"/><path class="head" d="M{x - 6} {end - 12}h12l-6 12z"/>'
    turned = f'<text class="caption" transform="translate({x + 16} {end / 2}) rotate(-90)">imports</text>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {end + 8}" role="img">'
    title = "<title>The rooms of the package; each imports only from its own layer and from those below it</title>"
    return "\n".join([head, title, f"<style>{STYLE}</style>", *parts, arrow, turned, "</svg>", ""])


def _wide(name: str) -> float:
    return len(name) * LETTER + 18


def _lines(names: Sequence[str]) -> list[list[str]]:
    """Spread the names over as many lines as they need."""
    lines: list[list[str]] = [[]]
    for name in names:
        if LEFT + sum(_wide(other) + 8 for other in [*lines[-1], name]) > WIDTH - 16 - RIGHT:
            lines.append([])
        lines[-1].append(name)
    return lines


def _boxes(names: Sequence[str], top: float) -> list[str]:
    boxes, left = [], float(LEFT)
    for name in names:
        wide = _wide(name)
        boxes.append(f'<rect class="room" x="{left:g}" y="{top:g}" width="{wide:.1f}" height="24" rx="4"/>')
        boxes.append(f'<text x="{left + 9:g}" y="{top + 16:g}">{name}</text>')
        left = round(left + wide + 8, 1)
    return boxes


if __name__ == "__main__":
    TARGET.write_text(picture(layers()), encoding="utf-8")
