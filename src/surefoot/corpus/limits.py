"""What the reading of one file or page may take: far above what ordinary ones were seen to take."""

from __future__ import annotations

MEMORY = 1_000_000_000
"""Bytes of address space of a process that reads. Python and the libraries are 40 to 150 MB of it; a text file of
100 MB, the largest that is read whole, took 590 MB."""

WRITTEN = 10_000_000
"""Bytes of a file that such a process may write: Python keeps compiled modules. It has no other reason to."""

IDLE = 60
"""Seconds without a request after which a process ends; another one starts in half a second."""


def processor_seconds(size: int) -> int:
    """Seconds of processor time for a file of so many bytes.

    Ordinary ones took, a megabyte: text 0.4 s, JSON lines 0.3 s, HTML 2.4 s, PDF 3.5 s; small ones a second at most.
    """
    return 30 + size // 200_000


def silent_seconds(size: int) -> int:
    """Seconds by the clock that a file of so many bytes may keep us waiting for the next thing found in it.

    It holds where the processor's time cannot be limited, or is not what a file takes; a busy machine gives a process a
    tenth of a processor.
    """
    return 10 * processor_seconds(size)


def output_characters(size: int) -> int:
    """Characters that a file of so many bytes may give as passages, titles, ids and addresses.

    A Word document may unpack to 100 MB, and a row repeats its title and address with each of its passages.
    """
    return 100_000_000 + 4 * size
