"""Makes `version-2.db.gz`, an index as an earlier revision made it: python tests/index/earlier.py, in a checkout."""

import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path

REVISION = "87774c96"
"""Of the last ones that made version 2."""
HERE = Path(__file__).parent
DOCUMENTS = {
    "bridge.md": "# Ruvel Bridge\n\nThe Ruvel Bridge was built in 1911 by Tomas Aldwin.\n",
    "hut.md": "# Larrow Hut\n\nThe Larrow Hut was built in 1927 by Josef Keller.\n",
}
"""Of the folder `docs`, beside that of the index."""


def write(folder: Path) -> None:
    """Write the documents."""
    (folder / "docs").mkdir(parents=True)
    for name, text in DOCUMENTS.items():
        (folder / "docs" / name).write_text(text)


def main() -> None:
    """Index them with the revision's own code."""
    with tempfile.TemporaryDirectory() as temporary:
        source, work = Path(temporary, "source"), Path(temporary, "work")
        source.mkdir()
        write(work)
        archive = subprocess.run(
            ["git", "archive", REVISION, "src"], cwd=HERE.parents[1], capture_output=True, check=True
        )
        subprocess.run(["tar", "x"], input=archive.stdout, cwd=source, check=True)
        command = [sys.executable, "-m", "surefoot", "index", "docs", "--set", "embedder.use=hashing"]
        subprocess.run(command, cwd=work, env={**os.environ, "PYTHONPATH": str(source / "src")}, check=True)
        made = (work / ".surefoot" / "index.db").read_bytes()
    (HERE / "version-2.db.gz").write_bytes(gzip.compress(made, mtime=0))


if __name__ == "__main__":
    main()
