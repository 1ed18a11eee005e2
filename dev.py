"""Everything a checkout needs, in one file that needs nothing: python3 dev.py demo | test | check | ...

Makes .venv on first use, with uv where it is present and with pip where not, and runs the command inside it.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
STAMP = VENV / "surefoot-setup"
LOCK = "requirements.lock"

COMMANDS = {
    "demo": [["surefoot", "demo"]],
    # On all cores, and without the slow ones; a later -m has the last word: -m "" runs all tests, -m slow those alone.
    "test": [["pytest", "-n", "logical", "--maxprocesses", "8", "--dist", "worksteal", "-m", "not slow"]],
    "lint": [["ruff", "check"], ["ruff", "format", "--check"]],
    "types": [["mypy"]],
    "docs": [["python", "docs/generate.py", "--check"]],
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
        code = run([str(BIN / line[0]), *line[1:], *(more if last else [])], check=False)
        if code:
            sys.exit(code)


def set_up():
    """Install into .venv what requirements.lock names, and this checkout's two packages, unless that was done already."""
    wanted = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in ("pyproject.toml", "lab/pyproject.toml", LOCK))).hexdigest()
    if STAMP.exists() and STAMP.read_text() == wanted:
        return
    print("Setting up .venv (once; a few minutes)", file=sys.stderr)
    uv = shutil.which("uv")
    run([uv, "venv", "--quiet", "--clear", str(VENV)] if uv else [sys.executable, "-m", "venv", "--clear", str(VENV)])
    install = [uv, "pip", "install", "--quiet"] if uv else [str(BIN / "python"), "-m", "pip", "install", "--quiet"]
    run([*install, "--requirement", LOCK])
    run([*install, "--no-deps", "--editable", ".", "--editable", "lab"])
    STAMP.write_text(wanted)


def run(line, check=True):
    """Run a command here; with `check`, end with its code when it fails."""
    code = subprocess.run(line, cwd=HERE, env={**os.environ, "VIRTUAL_ENV": str(VENV)}).returncode
    if check and code:
        sys.exit(f"failed: {' '.join(line)}")
    return code


if __name__ == "__main__":
    main(sys.argv[1:])
