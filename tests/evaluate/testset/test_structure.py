"""Facts that documents state by their structure, and questions about them."""

import pytest

from surefoot.evaluate.testset.structure import Fact, Structure, facts, question_above
from surefoot.types import Passage

STAFF = Passage(
    "staff",
    "| Name | Manager | City | Since |\n| --- | --- | --- | --- |\n"
    "| Ada Berg | Eva Roth | Graz | 2014 |\n| Tom Lind | Eva Roth | Bern | (not known) |\n"
    "| Eva Roth | Max Moor | Graz | 2009 |",
    "Office › Staff",
    file="staff.xlsx",
)
CITIES = Passage("cities", "| City | Hotel |\n| --- | --- |\n| Graz | Aurora |", "Office › Cities", file="cities.xlsx")
SETTINGS = Passage(
    "settings",
    "FERRY_HOME\n: The folder in which the ferry keeps its letters.\n\n"
    "FERRY_LOG\n: The file in FERRY_HOME to which each crossing is written.",
    "Ferry › Settings",
    file="ferry.html",
)
OPTIONS = tuple(
    Passage(command, f"-q\n: {meaning}", f"Ferry › {command}", file="ferry.html")
    for command, meaning in (("load", "Prints nothing while it loads the cargo."), ("sail", "Leaves without a signal."))
)


def questions(*passages: Passage) -> list[str]:
    structure = Structure(passages)
    return [structure.question(fact) for fact in structure.facts]


def fact(structure: Structure, key: str, column: str = "") -> Fact:
    return next(one for one in structure.facts if (one.key, one.column) == (key, column))


def test_a_cell_is_asked_for_by_its_row_and_column() -> None:
    """What stands in brackets in place of a value is none."""
    assert "What is the Manager of “Ada Berg”?" in questions(STAFF)
    assert "What is the Since of “Tom Lind”?" not in questions(STAFF)
    assert [one.value for one in facts(STAFF)][:2] == ["Eva Roth", "Graz"]


def test_a_cell_may_name_its_column_itself() -> None:
    found = [*facts(Passage("p", "| retry | Type: time | Default: 5 days | Main |"))]
    assert [(one.key, one.column, one.value) for one in found] == [
        ("retry", "Type", "time"),
        ("retry", "Default", "5 days"),
    ]


def test_a_row_named_by_a_number_says_of_what() -> None:
    years = Passage("p", "| Years | Days |\n| --- | --- |\n| 5 to 9 | 27 |")
    assert questions(years) == ["What is the Days of “Years 5 to 9”?"]


def test_a_row_that_was_cut_off_holds_no_fact() -> None:
    assert [*facts(Passage("p", "| Name | City |\n| --- | --- |\n|"))] == []


def test_a_value_is_a_slice_of_its_passage() -> None:
    for one in (*facts(STAFF), *facts(SETTINGS)):
        assert one.passage.text[one.start : one.end] == one.value
        assert one.unit[0] <= one.start < one.end <= one.unit[1]


def test_a_name_with_several_meanings_comes_with_the_heading_that_tells_them_apart() -> None:
    """Where no heading does, nobody asks for it."""
    assert questions(*OPTIONS) == ["What does “-q” in “load” mean?", "What does “-q” in “sail” mean?"]
    same = [Passage(one.id, one.text, "Ferry", file="ferry.html") for one in OPTIONS]
    assert questions(*same) == []


def test_the_same_meaning_in_other_words_needs_no_heading() -> None:
    """And either answers."""
    text = "FERRY_HOME\n: This is the folder in which a ferry keeps its letters."
    structure = Structure([SETTINGS, Passage("other", text, "Handbook", file="book.html")])
    assert structure.question(fact(structure, "FERRY_HOME")) == "What does “FERRY_HOME” mean?"
    assert len(structure.same(fact(structure, "FERRY_HOME"))) == 2


def test_a_meaning_of_three_keys_is_none() -> None:
    """It is the section that an index of terms points to."""
    entries = [f"{key}\n: Main options [How the ferry is set up]" for key in ("anchor", "bell", "cargo")]
    assert questions(Passage("p", "\n\n".join(entries), file="f")) == []
    assert len(questions(Passage("p", "\n\n".join(entries[:2]), file="f"))) == 2


def test_a_heading_that_asks_is_the_question() -> None:
    """Only of the passage that it stands above."""
    faq = Passage("p", "The captain overslept. He was tired.", "FAQ › 1. Why is it late?")
    assert questions(faq) == ["Why is it late?"]
    assert question_above(faq, before=faq.title) == ""


def test_a_hop_leads_over_a_cell_to_its_row() -> None:
    """In another table too."""
    structure = Structure([STAFF, CITIES])
    hops = [question for one in structure.facts for question, _ in structure.hops(one)]
    assert "What is the Manager of the Manager of “Ada Berg”?" in hops
    assert "What is the Hotel of the City of “Ada Berg”?" in hops


def test_a_hop_leads_over_the_one_term_that_a_meaning_names_as_it_is_written() -> None:
    structure = Structure([SETTINGS])
    [(question, other)] = structure.hops(fact(structure, "FERRY_LOG"))
    assert question == "What does the other term in the explanation of “FERRY_LOG” mean?"
    assert other.key == "FERRY_HOME"
    small = Passage("p", SETTINGS.text.replace("in FERRY_HOME", "in ferry_home"), file="f")
    assert [*Structure([small]).hops(fact(Structure([small]), "FERRY_LOG"))] == []


def test_a_false_premise_is_the_value_of_another_row() -> None:
    structure = Structure([STAFF])
    assert structure.premise(fact(structure, "Ada Berg", "City")) == ("Why is the City of “Ada Berg” Bern?", "Bern")


def test_no_premise_is_false_that_holds_of_the_fact_too() -> None:
    both = Passage("p", "| Name | City |\n| --- | --- |\n| Ada Berg | Graz |\n| Tom Lind | Graz |", file="f")
    structure = Structure([both])
    assert structure.premise(structure.facts[0]) == ("", "")


def test_an_absent_name_is_made_of_two_that_are_there() -> None:
    structure = Structure([STAFF])
    assert structure.absent(fact(structure, "Ada Berg", "City")) == "Ada Lind"


def test_a_name_of_which_a_row_has_all_parts_is_not_absent() -> None:
    known = Passage("known", "Ada and her cousin Lind are at sea.", file="f")
    structure = Structure([STAFF, known])
    assert structure.absent(fact(structure, "Ada Berg", "City")) == ""


@pytest.mark.parametrize("key", ["Graz", "0 to 4", "list of names"])
def test_only_a_name_of_several_parts_is_recombined(key: str) -> None:
    text = f"| Key | Value |\n| --- | --- |\n| {key} | a |\n| Ada Berg | b |\n| roll or call | c |\n| 5 to 9 | d |"
    structure = Structure([Passage("p", text, file="f")])
    assert structure.absent(next(one for one in structure.facts if one.value == "a")) == ""


def test_questions_are_in_the_language_of_the_passage() -> None:
    text = "Fährhaus\n: Das ist das Haus, in dem die Fähre und ihre Leute nicht nur im Winter sind."
    assert questions(Passage("p", text, file="f")) == ["Was bedeutet „Fährhaus“?"]


def test_each_key_is_drawn_once_before_any_is_drawn_again() -> None:
    drawn = Structure([STAFF]).drawn("single")
    assert {one.key for one in drawn[:3]} == {"Ada Berg", "Tom Lind", "Eva Roth"}
    assert drawn == Structure([STAFF]).drawn("single") != Structure([STAFF]).drawn("other")
