"""A checkout installed as a stranger installs it: with the pip that Python 3.11 brings, into a venv of its own."""

import os
import subprocess
import tempfile
import venv
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).parents[2]
OLD_PIP = "pip==23.2.1"
READ = "import sys; from surefoot.documents.loaders import read; print(*read(open(sys.argv[1], 'rb'), sys.argv[1]))"

Python = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def python() -> Iterator[Python]:
    """Runs the Python of a venv that the old pip has installed the checkout into."""
    with tempfile.TemporaryDirectory(prefix="surefoot-venv-") as folder:  # 600 MB are not kept as `tmp_path` is
        venv.create(folder, with_pip=True)
        program = Path(folder) / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        without = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}

        def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
            line = [str(program), *map(str, words)]
            return subprocess.run(line, capture_output=True, text=True, cwd=folder, env=without, timeout=900)

        old = run("-m", "pip", "install", "--quiet", "--retries", "1", OLD_PIP)
        if old.returncode:
            pytest.skip(f"no {OLD_PIP} from the package index: {old.stderr.strip()[-200:]}")
        done = run("-m", "pip", "install", "--quiet", CHECKOUT)
        assert done.returncode == 0, done.stderr
        yield run


def test_what_the_old_pip_installs_reads_html(python: Python, tmp_path: Path) -> None:
    """With nothing but what `surefoot` itself requires."""
    page = tmp_path / "bridge.html"
    page.write_text("<html><body><p>The Ruvel Bridge was built by Tomas Aldwin in 1911.</p></body></html>")
    done = python("-c", READ, page)
    assert "Tomas Aldwin" in done.stdout, done.stderr
