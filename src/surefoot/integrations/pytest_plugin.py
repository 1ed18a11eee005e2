"""Surefoot in pytest: the fixture `surefoot_record` collects the answers of a test run, for `surefoot evaluate`.

pytest imports this file wherever Surefoot is installed, so it imports nothing that costs time. Records travel as user
properties of a test's report: the one process that gets the reports of all workers of pytest-xdist writes the file.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

FILE = Path(".surefoot", "pytest.jsonl")
"""The records of the last test run that had any, below pytest's root folder, in the order of the tests' names."""
NAME = "surefoot_record"


@pytest.fixture(name=NAME)
def recorder(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Records an answered question for `surefoot evaluate`: `surefoot_record(question, answer, contexts, truths)`."""
    test = request.node

    def record(
        question: str, answer: str, contexts: Sequence[str] | None = None, truths: Sequence[str] = (), **columns: Any
    ) -> None:
        row = {**columns, "id": test.nodeid, "question": question, "answer": answer, "truths": [*truths]}
        test.user_properties.append((NAME, row if contexts is None else {**row, "contexts": [*contexts]}))

    return record


class _Records:
    def __init__(self) -> None:
        self.rows: dict[str, list[object]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if rows := [row for name, row in report.user_properties if name == NAME]:
            self.rows[report.nodeid] = rows

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.rows:
            file = session.config.rootpath / FILE
            file.parent.mkdir(exist_ok=True)
            lines = [json.dumps(row) for _, rows in sorted(self.rows.items()) for row in rows]
            file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Collect the records where all reports come to."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Records())
