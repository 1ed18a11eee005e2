"""Questions that are made of how an encyclopedia's articles begin."""

import pytest

from surefoot_lab.train.openings import MOST, questions, stated_facts

VILLAGE = "Landresse is a commune in the Doubs department in eastern France. Its population was 217 in 2019."
PLAYER = "Vida Moren (born 12 March 1951) is a Larrow former footballer. He was born in Harlow, the son of Jon Moren."
FILM = (
    "Low Water is a 1974 comedy film directed by the Larrow filmmaker Ida Brandt, written by Kai R. Solberg and "
    "starring Nils Berg. It was released on 3 May 1974."
)


def answers(text: str) -> dict[str, str]:
    return {wording.questions[0]: answer for wording, answer in stated_facts(text)}


@pytest.mark.parametrize(
    ("text", "queries", "answer"),
    [
        (VILLAGE, "In what country is {x}?", "France"),
        (VILLAGE, "What is the population of {x}?", "217"),
        (PLAYER, "What sport does {x} play?", "footballer"),
        (PLAYER, "What is {x}'s occupation?", "Larrow former footballer"),
        (PLAYER, "In what city was {x} born?", "Harlow"),
        (PLAYER, "When was {x} born?", "12 March 1951"),
        (PLAYER, "Who is the father of {x}?", "Jon Moren"),
        (FILM, "What genre is {x}?", "comedy"),
        (FILM, "Who was the director of {x}?", "Ida Brandt"),
        (FILM, "Who was the screenwriter for {x}?", "Kai R. Solberg"),
        (FILM, "Who starred in {x}?", "Nils Berg"),
        (FILM, "When was {x} released?", "3 May 1974"),
    ],
)
def test_an_opening_tells(text: str, queries: str, answer: str) -> None:
    """What it says of a place, a person or a work, to the word."""
    assert answers(text)[queries] == answer


def test_a_question_has_the_passage_that_answers_it() -> None:
    """In the format of labelled data: under the article's bare name, with the words that answer and their passage."""
    passage = {"id": "7", "title": "Low Water (1974 film)", "text": FILM}
    rows = {row["prop"]: row for row in questions([passage])}
    row = rows["Who was the director of {x}?"]
    assert row["question"] in {
        f"Who {verb} Low Water?" for verb in ("was the director of", "directed", "is the director of")
    }
    assert (row["answers"], row["s_wiki_title"]) == (["Ida Brandt"], "Low Water (1974 film)")
    assert row["passages"] == [{**passage, "label": 1}]


def test_no_wording_outweighs_the_others() -> None:
    """Of each at most so many are asked, the same whatever the order."""
    many = [
        {"id": str(n), "title": f"Landresse {n}", "text": f"Landresse {n} is a commune in eastern France."}
        for n in range(MOST + 20)
    ]
    queries = questions(many)
    assert len(queries) == MOST
    assert questions(many[::-1]) == queries
