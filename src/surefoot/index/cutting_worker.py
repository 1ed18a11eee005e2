"""The reading process of an index: `documents.worker` with our splitter, so that cutting costs the index no time."""

from surefoot.documents.worker import serve
from surefoot.index.splitter import passages

if __name__ == "__main__":
    serve(passages)
