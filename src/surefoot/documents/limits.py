"""Limits on reading one file or page, far above what ordinary ones were measured to take."""

MEMORY = 1_000_000_000
"""Bytes of address space of a reading process. Python and the libraries take 40 to 150 MB of it; a text file of 100 MB,
the largest that is read whole, took 590 MB."""

WRITTEN = 10_000_000
"""Bytes of a file that such a process may write: Python caches compiled modules, and nothing else is written."""

IDLE = 60
"""Seconds without a request after which a process ends; a new one starts in half a second."""


def processor_seconds(size: int) -> int:
    """Seconds of processor time for a file of `size` bytes.

    Ordinary files took, per megabyte: text 0.4 s, JSON lines 0.3 s, HTML 2.4 s, PDF 3.5 s; small ones at most 1 s.
    """
    return 30 + size // 200_000


def silent_seconds(size: int) -> int:
    """Seconds by the clock that we wait for the next item of a file of `size` bytes.

    This is the limit where processor time cannot be limited, or where a file waits instead of computing. Ten times as
    long, since a busy machine may give a process a tenth of a processor.
    """
    return 10 * processor_seconds(size)


def output_characters(size: int) -> int:
    """Characters of passages, titles, ids and addresses that a file of `size` bytes may yield.

    A Word document may unpack to 100 MB, and each passage of a row repeats the row's title and address.
    """
    return 100_000_000 + 4 * size
