"""The notebooks of examples/, from a fresh kernel each."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
RUN = """
import sys, nbformat
from nbclient import NotebookClient
NotebookClient(nbformat.read(sys.argv[1], 4), timeout=60).execute()
"""
"""In a process of its own: the kernel's libraries warn as they like, and talk over sockets."""


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_its_outputs(notebook: Path) -> None:
    """They would be stale, and hold paths of a machine."""
    cells = [one for one in json.loads(notebook.read_text("utf-8"))["cells"] if one["cell_type"] == "code"]
    assert [(one["outputs"], one["execution_count"]) for one in cells] == [([], None)] * len(cells)


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_to_its_end(notebook: Path, tmp_path: Path) -> None:
    """Offline, every cell."""
    for library in ("nbclient", "ipykernel", "pandas"):
        pytest.importorskip(library)
    environment = {**os.environ, "SUREFOOT_OFFLINE": "1", "IPYTHONDIR": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(notebook)], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-4000:]
