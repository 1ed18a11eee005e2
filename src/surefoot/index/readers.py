"""The reading processes of this program, shared by all indexing and opening of pages, and ended with it."""

import atexit
import sys

from surefoot.documents.reader_pool import Readers

READERS = Readers((sys.executable, "-P", "-m", "surefoot.index.cutting_worker"))
# -P: nothing is imported from the folder that we are in
atexit.register(READERS.end)
