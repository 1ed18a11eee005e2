"""The fixture that collects the answers of a test run, whoever ran the tests."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from surefoot.evaluate.records.files import read

TESTS = """
import pytest

@pytest.mark.parametrize("n", range(6))
def test_answer(n, surefoot_record):
    surefoot_record(f"Who built {n}?", "Aldwin", ["Aldwin built it."], ["Aldwin"], domain="law")
    assert n != 4, "a test that fails has a record too"

def test_two(surefoot_record):
    surefoot_record("Who?", "Aldwin")
    surefoot_record("When?", "1911")
"""


@pytest.mark.parametrize("workers", [(), ("-p", "xdist", "-n", "2")])
def test_all_records_are_in_one_file_also_of_several_workers(tmp_path: Path, workers: tuple[str, ...]) -> None:
    """In the order of the tests' names, as records that `surefoot evaluate` reads."""
    (tmp_path / "test_rag.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "surefoot.integrations.pytest_plugin", *workers]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run([*command, "--rootdir", tmp_path, tmp_path], capture_output=True, text=True, env=alone)
    assert "1 failed, 6 passed" in done.stdout, done.stdout + done.stderr
    found = read(tmp_path / ".surefoot" / "pytest.jsonl").records
    assert [one.id.rpartition("::")[2] for one in found] == [
        *(f"test_answer[{n}]" for n in range(6)),
        "test_two",
        "test_two#2",
    ]
    assert (found[3].question, found[3].answer, found[3].truths) == ("Who built 3?", "Aldwin", ("Aldwin",))
    assert [one.text for one in found[3].contexts or ()] == ["Aldwin built it."]
    assert found[3].tags == {"domain": "law"}
    assert found[6].contexts is None


def test_nothing_is_imported_until_it_is_used() -> None:
    """Every test run of a machine with Surefoot imports the plugin."""
    code = (
        "import sys, surefoot.integrations.pytest_plugin\n"
        "print(json.dumps([name for name in sys.modules if name.startswith('surefoot') or name == 'numpy']))"
    )
    done = subprocess.run([sys.executable, "-c", f"import json\n{code}"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["surefoot", "surefoot.integrations", "surefoot.integrations.pytest_plugin"]
