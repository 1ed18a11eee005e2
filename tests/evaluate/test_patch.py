"""Patches: what they may touch, and how they get into a file and out of it."""

import hashlib
import json
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from surefoot import components
from surefoot.config.settings import read
from surefoot.evaluate.patch import APPLIED, apply, diff, joined, refused, revert, shown, size, tried, written
from surefoot.retrievers._given import USE
from surefoot.types.errors import ConfigError, UsageError

FILE = """\
# How we search. Ask Ines before touching this.
evaluator = "lexical"         # no model here

[retriever]
use = "bm25"   # words, as they stand

[pipeline]
# Ten is what fits on a page.
k = 1  # one
rounds = 3

[llm]
use = "scripted"

[llm.replies]
"a # b" = "c"  # [pipeline]
"""

SIMPLE = {"evaluator": {"use": "lexical"}, "embedder": {"use": "hashing"}, "retriever": {"use": USE}}
"""A configuration that needs neither an index nor a model: its texts come with the questions."""
OWN_RETRIEVER = {"retriever": {"use": "surefoot.retrievers.bm25:Bm25"}}


@pytest.mark.parametrize(
    ("text", "patch", "after"),
    [
        (FILE, {"pipeline": {"k": 10}}, FILE.replace("k = 1  # one", "k = 10  # one")),
        (FILE, {"pipeline": {"external_k": 4}}, FILE.replace("rounds = 3\n", "rounds = 3\nexternal_k = 4\n")),
        ("[pipeline]\nk = 1", {"refiner": {"size": 2}}, "[pipeline]\nk = 1\n\n[refiner]\nsize = 2\n"),
        ("", {"pipeline": {"k": 10}}, "[pipeline]\nk = 10\n"),
        (
            '[refiner]\nuse = "strips" # x\nsize = 2\n',
            {"refiner": {"use": "passages"}},
            '[refiner]\nuse = "passages" # x\n',
        ),
        ('evaluator = "lexical"\n', {"evaluator": {"use": "cosine"}}, '[evaluator]\nuse = "cosine"\n'),
        ("[pipeline]\r\nk = 1\r\n", {"pipeline": {"k": 2, "rounds": 1}}, "[pipeline]\r\nk = 2\r\nrounds = 1\r\n"),
    ],
    ids="value setting section empty component one-line windows".split(),
)
def test_a_patch_changes_its_settings_and_nothing_else(text: str, patch: Any, after: str) -> None:
    """Comments and line ends stay; what is new goes to the end; another component takes the options of the one before
    along."""
    assert written(text, patch) == after


def test_what_is_no_toml_is_refused() -> None:
    """By one line."""
    with pytest.raises(ConfigError, match="is not TOML"):
        written("[pipeline", {"pipeline": {"k": 2}})
    with pytest.raises(ConfigError, match="is not TOML: it is nested more than 100 deep"):
        written("x = " + "[" * 5_000, {"pipeline": {"k": 2}})


VALUES = st.one_of(st.integers(-5, 5), st.floats(-9, 9), st.booleans(), st.text("ab#\"'\\\n=[]é", max_size=6))
PATCHES = st.dictionaries(
    st.sampled_from(["pipeline", "refiner", "retriever", "evaluator", "llm", "thresholds"]),
    st.dictionaries(st.sampled_from(["use", "k", "rounds", "mode", "replies"]), VALUES, min_size=1).map(
        lambda values: {k: v if k != "use" else "other" for k, v in values.items()}
    ),
    min_size=1,
)


@given(PATCHES, st.sampled_from([FILE, "", 'llm = "local"\npipeline = { k = 1 } # x\n[refiner] # y\n[refiner.sub]\n']))
def test_what_is_written_is_what_the_patch_comes_to(patch: dict[str, Any], text: str) -> None:
    """Or the file has a shape that is left alone, and the settings are named."""
    try:
        after = written(text, patch)
    except ConfigError as error:
        assert "write by hand" in str(error)  # noqa: PT017
        return
    assert read(tomllib.loads(after)) == read(read(tomllib.loads(text)), patch)
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        line for line in after.splitlines() if line.startswith("#")
    ]


def test_the_difference_is_shown_as_patches_are() -> None:
    """The line before, the line after, and where; or on one line as --set takes it, counted by settings."""
    patch = {"pipeline": {"k": 10, "rounds": 1}, "refiner": {"mode": "sentences"}}
    assert shown(patch) == 'pipeline.k=10, pipeline.rounds=1, refiner.mode="sentences"'
    assert size(patch) == 3
    said = diff(FILE, {"pipeline": {"k": 10}})
    assert said.startswith("--- surefoot.toml\n+++ surefoot.toml\n@@")
    assert "\n-k = 1  # one\n+k = 10  # one\n" in said


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ({"index": {"path": "other.db"}}, "search the same index"),
        ({"embedder": {"use": "static"}}, "surefoot index --rebuild"),
        ({"network": {"allow": ["*"]}}, "for you to say"),
        ({"judge": {"use": "llm"}}, "what measures"),
        ({"pipeline": {"depth": 3}}, "no setting 'depth'"),
        ({"generator": {"use": "extractive", "max_tokens": 3}}, "no setting 'max_tokens'"),
        ({"retriever": {"use": "magic"}}, "no name that Surefoot knows"),
        ({"umpire": {"k": 3}}, "there are: index,"),
        ({"generator": {"use": "os:system"}}, "no name that Surefoot knows"),
        ({"refiner": {"mode": "strips"}}, "no name that Surefoot knows"),
        ({"evaluator": {"use": "minilm", "model": "/tmp/evil.onnx"}}, "no name that Surefoot knows"),
        ({"searcher": {"use": "folder", "path": "/etc"}}, "no name that Surefoot knows"),
        ({"thresholds": {"file": "x.toml"}}, "no name that Surefoot knows"),
        ({"searcher": {"use": "wikipedia"}}, "allow it with --outside"),
        ({"searcher": {"use": "pages", "of": {"use": "ddgs"}}}, "allow it with --outside"),
        ({"llm": {"use": "openai"}}, "allow it with --outside"),
        ({"retriever": {"use": "pgvector"}}, "allow it with --outside"),
        ({"pipeline": 3}, "must be a section"),
    ],
)
def test_what_a_patch_may_not_touch_is_refused_with_its_reason(patch: Any, why: str) -> None:
    """What would change the index under the comparison, run code, read files, or ask other machines."""
    assert why in refused(patch, read({}))


@pytest.mark.parametrize(
    "patch",
    [
        {"pipeline": {"k": 10}},
        {"retriever": {"use": "hybrid", "retrievers": ["bm25", "dense"]}},
        {"refiner": {"mode": "sentences", "size": 2}},
        {"thresholds": {"upper": 1.0, "lower": 0.0, "evaluator": "minilm-7e508c61"}},
        {"retriever": {"use": "reranked", "of": "hybrid", "reranker": "minilm"}},
        {"policy": {"use": "count"}},
        {"generator": {"whole": False}},
        {"searcher": {"use": "nowhere"}},
    ],
)
def test_numbers_and_known_names_may_be_set(patch: Any) -> None:
    """All that tuning takes."""
    assert refused(patch, read({})) == ""


@pytest.mark.parametrize(
    ("config", "patch", "why"),
    [
        ({}, {"searcher": {"use": "wikipedia"}}, ""),
        ({}, {"searcher": {"use": "searxng", "url": "http://evil.example"}}, "no name that Surefoot knows"),
        ({"network": {"allow": []}}, {"searcher": {"use": "wikipedia"}}, "[network] allows none"),
        (SIMPLE, {"retriever": {"use": "hybrid"}}, "come with the questions"),
        (OWN_RETRIEVER, {"retriever": {"use": "hybrid"}}, "need not be in the index"),
        (OWN_RETRIEVER, {"pipeline": {"k": 10}}, ""),
        ({"thresholds": {"preset": "popqa"}}, {"thresholds": {"upper": 0.5}}, "not set one by one"),
        ({"evaluator": {"use": "cascade"}}, {"thresholds": {"upper": 0.5}}, "not set one by one"),
        ({"thresholds": {"upper": 2.0}}, {"evaluator": {"use": "lexical"}}, "mean nothing for 'lexical'"),
        ({"thresholds": {"upper": 2.0}}, {"evaluator": {"use": "lexical"}, "thresholds": {"upper": 0.6}}, ""),
    ],
)
def test_what_is_allowed_hangs_on_the_configuration(config: Any, patch: Any, why: str) -> None:
    """Other machines may be asked where who runs it allows it, a place is refused all the same; thresholds are on the
    scale of one evaluator."""
    found = refused(patch, read(config), outside=True)
    assert why in found
    assert bool(found) == bool(why)


def test_what_the_user_installed_may_be_tried_with_its_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the name that it is plugged in by."""
    code = "class Mine:\n    def __init__(self, weight=1): pass\n    def grade(self, pairs): return ()\n"
    (tmp_path / "acme_tried.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint("mine", "acme_tried:Mine", "surefoot.evaluators")
    monkeypatch.setattr(components, "entry_points", lambda group: [point] if group == point.group else [])
    assert refused({"evaluator": {"use": "mine", "weight": 2}}, read({})) == ""
    assert "no setting 'height'" in refused({"evaluator": {"use": "mine", "height": 2}}, read({}))
    assert "no name that Surefoot knows" in refused({"evaluator": {"use": "acme_tried:Mine"}}, read({}))


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ({"pipeline": {"k": 0}}, "greater than or equal to 1"),
        ({"refiner": {"size": "two"}}, "no name that Surefoot knows"),
        ({"refiner": {"size": True}}, "must be a whole number"),
        ({"pipeline": {"k": 10}, "refiner": {"sizes": 1}}, "no setting 'sizes'"),
        ({"refiner": {"use": "strips"}}, "changes nothing"),
    ],
)
def test_what_cannot_be_built_is_found_by_the_dry_run(patch: Any, why: str) -> None:
    """Unknown keys, wrong types, and what changes nothing; before any question is asked. Else it gives the
    configuration, complete."""
    assert tried(read(SIMPLE), {"pipeline": {"k": 3}}) == read(SIMPLE, {"pipeline": {"k": 3}})
    with pytest.raises(UsageError, match=why):
        tried(read(SIMPLE), patch)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the line that installs it."""
    for name in ("libzim", *(name for name in sys.modules if name.startswith("libzim."))):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "surefoot.searchers.zim", raising=False)
    with pytest.raises(UsageError, match=r"surefoot\[zim\]"):
        tried(read(SIMPLE), {"searcher": {"use": "zim"}})


def test_patches_join_where_they_do_not_contradict() -> None:
    """Not where both set one thing, or one names a component whose options the other sets."""
    assert joined({"pipeline": {"k": 3}}, {"pipeline": {"rounds": 1}, "refiner": {"size": 2}}) == {
        "pipeline": {"k": 3, "rounds": 1},
        "refiner": {"size": 2},
    }
    assert joined({"pipeline": {"k": 3}}, {"pipeline": {"k": 4}}) is None
    assert joined({"refiner": {"use": "strips"}}, {"refiner": {"size": 2}}) is None


@pytest.mark.parametrize("before", [FILE.encode(), b"", FILE.replace("\n", "\r\n").encode(), "# é".encode(), None])
def test_revert_brings_the_very_bytes_back(tmp_path: Path, before: bytes | None) -> None:
    """Of the file that was there; one that was not there goes."""
    file, folder = tmp_path / "surefoot.toml", tmp_path / "run"
    if before is not None:
        file.write_bytes(before)
    folder.mkdir()
    apply(file, {"pipeline": {"k": 10}}, folder)
    assert tomllib.loads(file.read_bytes().decode())["pipeline"]["k"] == 10
    assert revert(folder, file) == file
    assert (file.read_bytes() if file.exists() else None) == before


def test_it_is_applied_once_and_reverted_once(tmp_path: Path) -> None:
    """Twice would lose what was there at first; so would a file into which something was written by hand since."""
    file = tmp_path / "surefoot.toml"
    file.write_text(FILE)
    apply(file, {"pipeline": {"k": 10}}, tmp_path)
    with pytest.raises(UsageError, match="applied already"):
        apply(file, {"pipeline": {"k": 11}}, tmp_path)
    applied = file.read_text()
    file.write_text("# mine\n")
    with pytest.raises(UsageError, match="was changed since"):
        revert(tmp_path, file)
    assert file.read_text() == "# mine\n"
    file.write_text(applied)
    revert(tmp_path, file)
    with pytest.raises(UsageError, match="nothing of"):
        revert(tmp_path, file)


def test_a_folder_does_not_say_which_file_is_written_over(tmp_path: Path) -> None:
    """It may be anybody's, and name a file whose bytes everybody knows, such as a fresh account's ~/.bashrc."""
    theirs = tmp_path / "bashrc"
    theirs.write_text("# as it comes\n")
    about = {"file": str(theirs), "existed": False, "before": None}
    about["after"] = hashlib.sha256(theirs.read_bytes()).hexdigest()
    (tmp_path / APPLIED).write_text(json.dumps(about))
    with pytest.raises(
        UsageError, match=r"is in .*bashrc, not in .*surefoot\.toml; if that is yours, name it: --config"
    ):
        revert(tmp_path, tmp_path / "surefoot.toml")
    assert theirs.read_text() == "# as it comes\n"
    assert revert(tmp_path, theirs) == theirs
    assert not theirs.exists()


def test_what_was_killed_before_the_file_was_written_is_reverted_too(tmp_path: Path) -> None:
    """The folder says that it is applied; the file is as it was."""
    file = tmp_path / "surefoot.toml"
    file.write_text(FILE)
    apply(file, {"pipeline": {"k": 10}}, tmp_path)
    file.write_text(FILE)
    revert(tmp_path, file)
    assert file.read_text() == FILE
    assert not (tmp_path / APPLIED).exists()


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    """What it points to is what is written."""
    real, link = tmp_path / "real.toml", tmp_path / "surefoot.toml"
    real.write_text(FILE)
    link.symlink_to(real)
    apply(link, {"pipeline": {"k": 10}}, tmp_path)
    assert link.is_symlink()
    assert "k = 10" in real.read_text()
