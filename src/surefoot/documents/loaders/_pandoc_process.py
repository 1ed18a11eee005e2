"""Pandoc as a process that reads many files in turn, since its start takes longer than most files do.

It is a child of the process that reads files, whose limits of memory and processor time it inherits, and ends with it:
its input ends then.
"""

import atexit
import shutil
import signal
import subprocess
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from surefoot.documents.loaders import Unreadable
from surefoot.types.errors import MissingExtra

_MEMORY = "-M700m"
"""Of pandoc's heap: below `limits.MEMORY`, so that it says itself that it has run out."""
_SCRIPT = Path(__file__).with_name("pandoc.lua")
_MOST = 100
"""Files that one process reads: the limit of processor time is for all of them."""
_PAGE = 40
"""Bytes of XML, at most, for each byte of a file; and a million."""


class PandocError(Exception):
    """Pandoc could not read a file; the text is what it says."""


class PandocProcess:
    """A process of pandoc, started on the first file, and again when it has read some or has ended."""

    def __init__(self, program: str) -> None:
        self._command = (program, "+RTS", _MEMORY, "-RTS", "lua", str(_SCRIPT))
        self._process: subprocess.Popen[bytes] | None = None
        self._read = 0

    def xml(self, content: bytes, source: str) -> bytes:
        """A document in this format as XML. Raises PandocError, and Unreadable where it takes too much."""
        if self._read >= _MOST:
            self.end()
        fresh = self._process is None
        try:
            is_read, answer = self._ask(content, source)
        except OSError:
            status = self.end()
            if not fresh:  # it may have spent on others what this file needs
                return self.xml(content, source)
            if status == -getattr(signal, "SIGXCPU", 0):
                raise Unreadable("takes pandoc too much processor time; split it") from None
            raise Unreadable("needs more memory than pandoc is given; split it") from None
        if not is_read:
            raise PandocError(" ".join(answer.decode("utf-8", "replace").split()))
        return answer

    def _ask(self, content: bytes, source: str) -> tuple[bool, bytes]:
        """Raises OSError where the process ends before it has answered."""
        if self._process is None:
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        self._read += 1
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise BrokenPipeError
        stdin.write(f"{source} {len(content)}\n".encode() + content)
        stdin.flush()
        kind, _, length = stdout.readline(40).partition(b" ")
        if not length:
            raise BrokenPipeError
        if int(length) > 1_000_000 + _PAGE * len(content):
            self.end()
            raise Unreadable("unfolds to more than is safe to hold; split it")
        answer = stdout.read(int(length))
        if len(answer) < int(length):
            raise BrokenPipeError
        return kind == b"ok", answer

    def end(self) -> int:
        """End the process; its exit status."""
        process, self._process, self._read = self._process, None, 0
        if process is None:
            return 0
        for pipe in filter(None, (process.stdin, process.stdout)):
            with suppress(OSError):
                pipe.close()
        try:
            return process.wait(1)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


@cache
def pandoc() -> PandocProcess:
    """The one of this process. Raises MissingExtra where there is no pandoc."""
    spec = find_spec("pypandoc")
    for folder in spec.submodule_search_locations or () if spec else ():
        for name in ("pandoc", "pandoc.exe"):
            if (program := Path(folder, "files", name)).is_file():
                return _ended_at_exit(PandocProcess(str(program)))
    if found := shutil.which("pandoc"):
        return _ended_at_exit(PandocProcess(found))
    raise MissingExtra("pandoc", "formats")


def _ended_at_exit(process: PandocProcess) -> PandocProcess:
    atexit.register(process.end)
    return process
