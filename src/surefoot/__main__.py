"""The entry point of `surefoot` and `python -m surefoot`."""

import atexit
import gc
import os
import sys
import threading


def main() -> None:
    """Run the command line. The garbage collector rests until a command is imported: no module is ever garbage."""
    gc.disable()
    from surefoot.cli import INTERRUPTED, main as run

    try:
        run()
    except SystemExit as leaving:
        if leaving.code == INTERRUPTED and threading.active_count() > 1:
            _leave(INTERRUPTED)
        raise


def _leave(code: int) -> None:
    """End now: Python would wait for its other threads, and a model that reads its prompt can take long."""
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
