"""The text of a picture, read by tesseract where that is installed."""

import os
import shutil
import subprocess
from functools import cache

from surefoot.documents.loaders import Unreadable

INSTALL = "install tesseract (apt-get install tesseract-ocr, brew install tesseract)"
SECONDS = 60
"""That one picture may take by the clock; a page of a book takes 3 to 8 s of a processor."""
_LANGUAGES = 4
"""Languages that are looked for, at most, of those that are installed; each makes it slower."""


def picture_text(picture: bytes) -> str:
    """The text of a picture in PNG or JPEG, paragraphs parted by empty lines. Raises Unreadable.

    The process inherits the limits of memory and processor time of the one that reads.
    """
    program, languages = _tesseract()
    try:
        done = subprocess.run(
            [program, "stdin", "stdout", "-l", languages],
            input=picture,
            capture_output=True,
            timeout=SECONDS,
            env=os.environ | {"OMP_THREAD_LIMIT": "1"},
        )
    except subprocess.TimeoutExpired:
        raise Unreadable(f"takes tesseract more than {SECONDS} s; read it with another OCR program") from None
    if done.returncode:
        raise Unreadable("is a picture that tesseract cannot read; save it again, as PNG")
    return done.stdout.decode("utf-8", "replace").replace("\f", "").replace("-\n", "")


@cache
def _tesseract() -> tuple[str, str]:
    """The program, and the languages that are installed. Raises Unreadable where there is none."""
    if not (program := shutil.which("tesseract")):
        raise Unreadable(f"is a picture without a text layer; {INSTALL}, and index it again")
    listed = subprocess.run([program, "--list-langs"], capture_output=True, text=True, timeout=SECONDS).stdout
    languages = [name for name in listed.split("\n")[1:] if name and name != "osd" and "/" not in name]
    return program, "+".join(sorted(languages, key=lambda name: name != "eng")[:_LANGUAGES]) or "eng"
