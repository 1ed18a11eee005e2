"""Everything a checkout needs, in one file that needs nothing: python3 dev.py demo | test | check | ...

Makes .venv on first use, with uv where it is present and with pip where not, and runs the command inside it.
"""

import hashlib
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from itertools import chain
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
STAMP = VENV / "surefoot-setup"
LOCK = "requirements.lock"
PACKAGES = [folder for folder in (".", "lab") if (HERE / folder / "pyproject.toml").exists()]
TERMINAL = sys.stderr.isatty()
EVERY = 15  # seconds between two lines of progress where there is no terminal

COMMANDS = {
    "demo": [["surefoot", "demo"]],
    # On all cores, and without the slow ones; a later -m has the last word: -m "" runs all tests, -m slow those alone.
    "test": [["pytest", "-n", "logical", "--maxprocesses", "8", "--dist", "worksteal", "-m", "not slow"]],
    "lint": [["ruff", "check"], ["ruff", "format", "--check"]],
    "types": [["mypy"]],
    "docs": [["python", "docs/generate.py", "--check"]],
    "site": [["python", "docs/build_site.py"]],
}
COMMANDS["check"] = [line for name in ("lint", "types", "docs", "test") for line in COMMANDS[name]]


def main(arguments):
    """Run one of COMMANDS, with further arguments for its last line; or `surefoot` with any arguments."""
    if sys.version_info < (3, 11):  # noqa: UP036 - this file must start with an old Python to say so
        sys.exit(f"Surefoot needs Python 3.11 or newer; this is {sys.version.split()[0]}. Run dev.py with another one.")
    name, *more = arguments or ["help"]
    if name != "surefoot" and name not in COMMANDS:
        sys.exit(f"{__doc__}\nCommands: {', '.join(COMMANDS)}, surefoot")
    set_up()
    for line in [["surefoot"]] if name == "surefoot" else COMMANDS[name]:
        last = name == "surefoot" or line is COMMANDS[name][-1]
        code = run([str(BIN / line[0]), *line[1:], *(more if last else [])])
        if code:
            sys.exit(code)


def set_up():
    """Install into .venv what requirements.lock names, and the packages of this checkout, unless that was done."""
    named = [*(Path(folder, "pyproject.toml") for folder in PACKAGES), LOCK]
    wanted = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in named)).hexdigest()
    if STAMP.exists() and STAMP.read_text() == wanted:
        return
    uv = shutil.which("uv")
    count = sum("==" in line for line in (HERE / LOCK).read_text().splitlines())
    install = [uv, "pip", "install"] if uv else [str(BIN / "python"), "-m", "pip", "install", "--progress-bar", "off"]
    editable = [part for folder in PACKAGES for part in ("--editable", folder)]
    print("Setting up .venv, once; a few minutes", file=sys.stderr)
    watched("1/3 environment", [uv, "venv", "--clear", VENV] if uv else [sys.executable, "-m", "venv", "--clear", VENV])
    watched(f"2/3 up to {count} packages of {LOCK}", [*install, "--requirement", LOCK])
    watched("3/3 Surefoot", [*install, "--no-deps", *editable])
    STAMP.write_text(wanted)


def watched(step, line):
    """Run a command, showing `step`, the package at hand and the seconds; end with its output when it fails."""
    line = [str(part) for part in line]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    process = subprocess.Popen(line, cwd=HERE, env=environment(), **pipes)
    lines, output, package = queue.Queue(), [], ""
    threading.Thread(target=lambda: [lines.put(text) for text in chain(process.stdout, [None])], daemon=True).start()
    began = shown = time.monotonic()
    while True:
        try:
            text = lines.get(timeout=1)
        except queue.Empty:
            text = ""
        if text is None:
            break
        output.append(text)
        words = text.split()
        if len(words) > 1 and words[0] in ("Collecting", "Downloading", "+"):
            package = words[1]
        if time.monotonic() - shown >= (1 if TERMINAL else EVERY):
            shown = time.monotonic()
            show(f"{step}, {shown - began:.0f} s {package}", end="\r" if TERMINAL else "\n")
    show(f"{step}, {time.monotonic() - began:.0f} s")
    if process.wait():
        sys.exit(f"{''.join(output[-40:])}failed: {' '.join(line)}")


def show(text, end="\n"):
    """Print a line of progress over the one before, where there is a terminal."""
    print(f"  {text[:77]:77}" if TERMINAL else f"  {text}", end=end, file=sys.stderr, flush=True)


def run(line):
    """Run a command here; its exit code."""
    return subprocess.run(line, cwd=HERE, env=environment()).returncode


def environment():
    """The variables of this process, with .venv as the environment of Python."""
    return {**os.environ, "VIRTUAL_ENV": str(VENV)}


if __name__ == "__main__":
    main(sys.argv[1:])
