"""The entry point of `surefoot` and `python -m surefoot`."""

from __future__ import annotations

import gc


def main() -> None:
    """Run the command line. The garbage collector rests until a command is imported: no module is ever garbage."""
    gc.disable()
    from surefoot.cli import main as run

    run()


if __name__ == "__main__":
    main()
