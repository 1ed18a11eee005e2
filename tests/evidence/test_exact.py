"""Exact things: which they are, where they stand, and which a sentence makes up."""

import pytest

from surefoot.evidence.exact import codes, exact, holds, made_up, misread


@pytest.mark.parametrize(
    ("question", "found", "every"),
    [
        ("What is the pressure of the TX-103?", ("TX-103",), ("TX-103",)),
        ("What is the default timeout in 2.9.0?", ("2.9.0",), ("2.9.0",)),
        ("What hours on Wednesday in 2026?", (), ("2026", "Wednesday")),
        ("Is 1,024 the limit of the 3rd 10MB file?", (), ("1024",)),
        ("What are the 10 best?", (), ()),
    ],
)
def test_identifiers_versions_and_dates_are_exact(
    question: str, found: tuple[str, ...], every: tuple[str, ...]
) -> None:
    """Quantities, ordinals and counts are not."""
    assert codes(question) == found
    assert exact(question) == every


@pytest.mark.parametrize(
    ("text", "thing", "there"),
    [
        ("the TX 103 pump", "TX-103", True),
        ("tx103.", "TX-103", True),
        ("TX-1034", "TX-103", False),
        ("v2.9.0 is out", "2.9.0", True),
        ("12.9.0 and 2.9.0.1", "2.9.0", False),
        ("1,024 bytes", "1024", True),
    ],
)
def test_an_exact_thing_stands_as_a_whole(text: str, thing: str, there: bool) -> None:
    """However it is spaced; a part of another one is another one."""
    assert holds(text, thing) is there


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("It sold 408 in 2024.", ("408",)),
        ("It takes 5 days, the 3rd is free [1].", ()),
        ("However, the board met.", ()),
        ("Anna Tresk said so.", ("Anna Tresk",)),
        ("The board met Josef Ruhn.", ("Josef Ruhn",)),
        ("Step 7: wait (source 9).", ()),
    ],
)
def test_numbers_and_names_that_the_source_lacks_are_made_up(sentence: str, found: tuple[str, ...]) -> None:
    """A number in words is a number there; the opening of a sentence is no name, a step's number no value."""
    assert made_up(sentence, "In 2024 the Board met three times in five days; one [1] was free.") == found


@pytest.mark.parametrize(
    ("sentence", "found"),
    [("It is CHF 180.", ("chf 180",)), ("It is CHF 210.", ()), ("It is £180, at 180 m.", ()), ("It is 5 kg.", ("5",))],
)
def test_a_number_stands_with_its_unit(sentence: str, found: tuple[str, ...]) -> None:
    """Where the source gives that unit to numbers; a unit that it does not use may be another word for its own."""
    assert made_up(sentence, "| Zurich | CHF 210 |\n| London | GBP 180 |") == found


BUDGET = "| Department | Q1 | Q3 |\n| --- | --- | --- |\n| Sales | 12 | 14 |\n| Law | 14 | 9 |"


@pytest.mark.parametrize(
    ("question", "answer", "found"),
    [
        ("What did sales get in Q3?", "It was 12.", ("Q1", "Q3")),
        ("What did sales get in Q3?", "It was 14.", None),  # it stands in both
        ("What did sales get in Q3 and Q1?", "12 and 14.", None),
        ("What did the sales department get?", "It was 12.", None),
        ("What did sales get in Q3?", "It is not told.", None),
    ],
)
def test_a_number_from_another_column_than_the_question_names_is_misread(
    question: str, answer: str, found: tuple[str, str] | None
) -> None:
    """The first column says what a row is about; a question that names none may mean any."""
    assert misread(question, answer, BUDGET) == found
