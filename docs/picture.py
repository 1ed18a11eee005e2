"""Draws docs/images/demo.svg: what `surefoot demo` prints, as it stands in a terminal of 100 columns."""

import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

TARGET = Path(__file__).parent / "images" / "demo.svg"
FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"


def main() -> None:
    """Run the demo and write the picture; fonts are the reader's own, so that the file asks nothing of the network."""
    environment = {**os.environ, "FORCE_COLOR": "1", "TTY_INTERACTIVE": "0", "COLUMNS": "100", "TERM": "xterm-256color"}
    line = [sys.executable, "-c", "from surefoot.cli import main; main()", "demo"]
    printed = subprocess.run(line, env=environment, capture_output=True, text=True, check=True).stdout
    console = Console(record=True, width=100, file=open(os.devnull, "w"), color_system="truecolor")
    console.print(Text.from_ansi(printed))
    svg = console.export_svg(title="surefoot demo", theme=MONOKAI, code_format=_without_web_fonts())
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(svg, encoding="utf-8")


def _without_web_fonts() -> str:
    from rich._export_format import CONSOLE_SVG_FORMAT as given

    start, end = given.index("@font-face"), given.index(".{unique_id}-matrix")
    return (given[:start] + given[end:]).replace("Fira Code, monospace", FONT)


if __name__ == "__main__":
    main()
