"""Every block of code of the docs runs, page by page, in a folder that holds what the pages speak of."""

import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import yaml

from pages import PAGES, ROOT, Reader, blocks, folder as folder, names_of, template as template
from surefoot.config.settings import read
from surefoot.contracts import verify
from surefoot.evaluate.improve.system import levers_of
from surefoot.evaluators.lexical import Lexical
from surefoot.index.search import Index
from surefoot.types import Passage

NOT_RUN = {
    "python3 dev.py": "sets up an environment of its own",
    "curl ": "asks a server that stays",
    "scp ": "copies to another machine",
    " --ray ": "needs a cluster: tests/integrations/test_ray.py has one",
    'surefoot ask "When was the north bridge rebuilt?" --model local': "fetches 1.1 GB",
    'surefoot ask "When was the north bridge rebuilt?" --set searcher.use=zim': "reads 100 GB",
    "surefoot index https:": "reaches another machine",
    "surefoot index git+https:": "reaches another machine",
    "surefoot index maildir:": "reads somebody's mail",
    "surefoot index imaps:": "reaches another machine",
    "surefoot index s3:": "reaches another machine",
    "surefoot improve --revert": "needs a change that was proven",
    "surefoot serve restore": "is for a machine that has no server yet",
    "surefoot lab study": "takes minutes to half an hour",
    "surefoot lab train": "trains for hours",
    "surefoot lab evaluator models/mine": "needs what that trains",
}
"""Commands that the pages show and this does not run, by a part of them, each with the reason."""

ELSEWHERE = ("docs/own-index.md", "docs/frameworks.md", "docs/coming-from.md", "docs/reference/python.md")
"""Pages of the frameworks, run in their environment (tests/integrations), and the one that is made of docstrings."""

NOT_SETTINGS = {"docs/improve.md": "levers", "docs/roles/loader.md": "pyproject.toml"}
"""Pages whose TOML is no configuration, and what it is."""

OWN: Mapping[str, Callable[..., Any]] = {
    **dict.fromkeys(("Brevity", "Extract", "Jaccard", "Keywords", "Lead", "Trigrams"), lambda own: own()),
    "TwoWitnesses": lambda own: own(Lexical.thresholds),
    "TitleFirst": lambda own: own(Index.open(".surefoot/index.db")),
    "FromFunction": lambda own: own(lambda prompt, most: "Tomas Aldwin built it."),
}
"""Components that the pages define, each made; they keep the contract of their role."""


@pytest.fixture
def postgres() -> Iterator[str]:
    """The DSN of a real server; without one, an empty text."""
    if not (find_spec("pgserver") and find_spec("psycopg")):
        yield ""
        return
    launcher = [sys.executable, ROOT / "tests" / "services" / "postgres.py"]
    with subprocess.Popen(launcher, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        yield run.stdout.readline().strip()


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stays, ends at once: the server, a browser, a watch, a conversation. Wikipedia knows a bridge."""
    found = (Passage("w", "The north bridge was rebuilt in 1931.", "North bridge", "external", "https://e.example/w"),)
    pytest.importorskip("fastapi", reason="needs the extra server")
    import surefoot.server.app as server

    monkeypatch.setattr(server, "run", lambda *_: None)
    monkeypatch.setattr("surefoot.searchers.wikipedia.Wikipedia.search", lambda *_: found)
    monkeypatch.setattr("webbrowser.open", lambda _: True)
    monkeypatch.setattr("surefoot.cli.index.watch", lambda _paths, update, *_, **__: update())
    monkeypatch.setattr("surefoot.cli.serve.Timer", Mock())
    monkeypatch.setattr("sys.stdin", StringIO())


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if page not in ELSEWHERE and blocks(page)])
def test_every_block_of_a_page_runs(
    page: str, folder: Path, brief: None, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = blocks(page)
    if any("SUREFOOT_PG_DSN=" in block.code for block in every):
        dsn = request.getfixturevalue("postgres")
        monkeypatch.setenv("SUREFOOT_PG_DSN", dsn)
    if any("models/reranker" in block.code for block in every):
        shutil.copytree(request.getfixturevalue("tiny_cross_encoder")(), "models/reranker")
    if page == "docs/tutorial.md":  # it begins in an empty folder beside a clone
        (folder / "new").mkdir()
        monkeypatch.chdir(folder / "new")
        Path("surefoot").symlink_to(folder / "surefoot")
        [questions] = [block for block in every if block.language == "json"]
        Path("questions.jsonl").write_text(questions.code)
    if page == "docs/evaluate.md":  # it asks about these pages
        shutil.rmtree("docs")
        shutil.copytree(ROOT / "docs", "docs")
        shutil.copy(ROOT / "README.md", ".")
    reader = Reader(names_of(page), NOT_RUN)
    reader.read(every)
    for name in OWN.keys() & reader.names.keys():
        verify("judge" if name == "Brevity" else Path(page).stem, OWN[name](reader.names[name]))
    if reader.lacking:
        pytest.skip("; ".join(reader.lacking))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)])
def test_every_block_of_data_is_what_it_says(page: str, tmp_path: Path) -> None:
    for block in blocks(page):
        if block.language == "toml" and page not in NOT_SETTINGS:
            read(tomllib.loads(block.code))
        elif block.language == "toml" and NOT_SETTINGS[page] == "levers":
            (tmp_path / "levers.toml").write_text(block.code)
            assert levers_of(tmp_path / "levers.toml")
        elif block.language == "toml":
            [entry] = tomllib.loads(block.code)["project"]["entry-points"].values()
            assert entry.items() <= plugins()["surefoot.loaders"].items()
        elif block.language == "json":
            assert [json.loads(line) for line in one_a_line(block.code)]
        elif block.language == "yaml":
            assert yaml.safe_load(block.code)
        else:
            assert block.language in ("python", "sh", "text"), block.place


def plugins() -> dict[str, dict[str, str]]:
    """The entry points of the example of a plugin."""
    found = tomllib.loads((ROOT / "examples" / "plugin" / "pyproject.toml").read_text())
    return found["project"]["entry-points"]


def one_a_line(code: str) -> list[str]:
    """The values of a block of JSON: one a line, or the whole as one."""
    return code.splitlines() if code.startswith('{"') else [code]


def test_no_command_is_left_out_that_no_page_shows() -> None:
    shown = [line.removeprefix("$ ") for page in PAGES for block in blocks(page) for line in block.code.splitlines()]
    assert not [one for one in NOT_RUN if not any(one in line for line in shown)]
