"""Misspelt words of a question, mended by those of the index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.embedders.hashing import Hashing
from surefoot.index.build import build
from surefoot.index.search import Index
from surefoot.index.spelling import FEWEST, mended

OFTEN = ["commit form", "commit from", "commit from", "repository statistics"]
RARE = ["plyr", "reshape", "reshape"]


def made(folder: Path, texts: list[str]) -> Path:
    (folder / "a.csv").write_text("text\n" + "".join(f"{text}\n" for text in texts))
    build([folder / "a.csv"], folder / "index.db", Hashing())
    return folder / "index.db"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """So few passages that one is enough."""
    with Index.open(made(tmp_path_factory.mktemp("small"), OFTEN + RARE)) as index:
        yield index


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """So many that a word must stand in some of them."""
    texts = [f"{text} {n}" for n in range(200) for text in OFTEN] + RARE
    with Index.open(made(tmp_path_factory.mktemp("large"), texts)) as index:
        yield index


@pytest.mark.parametrize("typo", ["comit", "commmit", "comnit", "ommit", "commti", "COMIT"])
def test_a_word_is_mended_by_the_one_that_differs_in_a_letter(large: Index, typo: str) -> None:
    """One too few, too many or another, or two in another order; the rest stays as it was written."""
    assert mended(f"How do I undo a {typo}?", large) == "How do I undo a commit?"


def test_a_short_word_and_a_name_are_mended_in_the_order_of_letters_only(large: Index) -> None:
    """Another letter would make them another word."""
    assert mended("How do I fom a Comit for Ofmr?", large) == "How do I fom a Comit for Ofmr?"
    assert mended("Who is Fomr?", large) == "Who is form?"


def test_a_word_is_mended_wherever_it_stands(large: Index) -> None:
    """In capitals too, and between underscores."""
    assert mended("Comit a comit, comit_form", large) == "commit a commit, commit_form"


def test_letters_in_another_order_come_first(small: Index) -> None:
    """ "fomr" is "form", though "for" and "from" stand in more passages."""
    assert mended("fomr", small) == "form"


def test_of_several_the_word_of_most_passages_is_taken(tmp_path: Path) -> None:
    """And of those in equally many always the same."""
    with Index.open(made(tmp_path, ["better zetter", "zetter", "gamna", "gamda"])) as index:
        assert mended("xetter", index) == "zetter"
        assert mended("gamma", index) == "gamna"


def test_a_rare_word_mends_no_other_in_a_large_index(large: Index, small: Index) -> None:
    """A name that no passage holds is a name all the same; FEWEST passages make a word common."""
    assert FEWEST > 2
    for name, rare in (("dplyr", "plyr"), ("reshaped", "reshape")):
        assert mended(f"pivot with {name}", large) == f"pivot with {name}"
        assert rare in mended(f"pivot with {name}", small)


def test_a_rare_word_of_the_index_is_not_mended(large: Index) -> None:
    """It may look like a common one."""
    assert large.known(["plyr"]) == {"plyr": 1}
    assert mended("plyr form", large) == "plyr form"


@pytest.mark.parametrize("word", ["How", "who", "when", "from"])
def test_function_words_are_no_misspellings(tmp_path: Path, word: str) -> None:
    """A small index may lack them and hold "row": the question would be another."""
    with Index.open(made(tmp_path, ["row wo hwen form"])) as index:
        assert mended(f"{word} thick is it?", index) == f"{word} thick is it?"


@pytest.mark.parametrize(
    "question",
    [
        "Wie kann ich den comit wieder herstellen und auch das form?",
        "Comment annuler le comit et pour quelle raison ?",
        "如何撤销已经推送到远程仓库的 comit？",
    ],
)
def test_words_of_another_language_are_no_misspellings(large: Index, question: str) -> None:
    """They stay, though a word of the index be near."""
    assert mended(question, large) == question


@pytest.mark.parametrize("word", ["fo", "form256", "2comit", "cömit", "commitcommitcommitcommitco", "fromage"])
def test_what_is_no_word_of_english_letters_stays(large: Index, word: str) -> None:
    """Too short or too long, with a digit or a foreign letter, or too far from any."""
    assert mended(f"the {word} of it", large) == f"the {word} of it"


@given(st.lists(st.sampled_from("commit form from repository statistics plyr the of 3.5 – ?".split())).map(" ".join))
def test_a_question_of_known_words_stays(large: Index, question: str) -> None:
    """And a mended one is mended no further."""
    assert mended(question, large) == question
    typo = question.replace("commit", "comit")
    assert mended(mended(typo, large), large) == mended(typo, large)
