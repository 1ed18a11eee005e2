"""The files of a branch of a git repository, by the program git: nothing of its history, and no submodules."""

import os
import subprocess
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

from surefoot.network import Network
from surefoot.network.values import one_line
from surefoot.types.errors import NetworkError, UsageError

_SECONDS = 600
_HARMLESS = (
    *("core.hooksPath=/dev/null", "core.symlinks=false", "core.fsmonitor=false"),
    *("protocol.ext.allow=never", "http.followRedirects=false"),
)
"""Settings under which nothing of a repository is run, or leads out of its folder or to another host."""
_PORTS = {"http": 80, "https": 443, "ssh": 22}


def update(source: str, folder: Path, network: Network) -> None:
    """Make the folder the files of the branch behind `#`, else of the usual one. Raises UsageError and NetworkError."""
    url, branch = urldefrag(source.removeprefix("git+"))
    parts = urlsplit(url)
    if parts.password:
        raise UsageError("the address holds a password; let git's own credential helper keep it")
    if parts.scheme != "file":
        network.require(str(parts.hostname), parts.port or _PORTS[parts.scheme])
    if not _repository(folder).is_dir():
        _git(folder, "init", "--quiet")
    _git(folder, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", url, branch or "HEAD")
    _git(folder, "reset", "--quiet", "--hard", "FETCH_HEAD")
    _git(folder, "clean", "--quiet", "-ffdx")


def _repository(folder: Path) -> Path:
    """Where git keeps its own files: beside the mirror, where no index finds them."""
    return folder.with_name(f"{folder.name}.git")


def _git(folder: Path, *words: str) -> None:
    settings = [word for each in _HARMLESS for word in ("-c", each)]
    quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "GIT_SSH_COMMAND": "ssh -oBatchMode=yes"}
    # Named outright: git would look for a repository above, or in its variables, and reset that one.
    command = ["git", f"--git-dir={_repository(folder)}", f"--work-tree={folder}", *settings, *words]
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            command, cwd=folder, env=own | quiet, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except FileNotFoundError:
        raise UsageError("git is not installed; install it, or index a folder that holds the repository") from None
    except subprocess.TimeoutExpired:
        raise NetworkError(f"git {words[0]} took more than {_SECONDS} s") from None
    if done.returncode:
        why = next((line for line in done.stderr.split("\n") if line.startswith("fatal:")), done.stderr.strip())
        raise NetworkError(f"git {words[0]} failed: {one_line(why.removeprefix('fatal: '), 200)}")
