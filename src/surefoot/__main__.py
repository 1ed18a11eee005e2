"""What `surefoot` and `python -m surefoot` start."""

from __future__ import annotations

import gc


def main() -> None:
    """Run the command line. The garbage collector rests while it is imported: nothing imported is ever garbage."""
    gc.disable()
    from surefoot.cli import main as run

    gc.enable()
    run()


if __name__ == "__main__":
    main()
