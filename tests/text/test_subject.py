"""What questions and queries are understood to ask about."""

import pytest
from hypothesis import strategies as st

from surefoot.text.subject import RELATIONS, Subject, bears, fit, generic, spellings, subject_of

POPQA = [
    ("What is {}'s occupation?", "occupation", "politician"),
    ("In what city was {} born?", "born", "politician"),
    ("What genre is {}?", "genre", "band"),
    ("Who is the father of {}?", "father", "king"),
    ("In what country is {}?", "country", "village"),
    ("Who was the producer of {}?", "producer", "film"),
    ("Who was the director of {}?", "director", "film"),
    ("What is {} the capital of?", "capital", "province"),
    ("Who was the screenwriter for {}?", "screenwriter", "film"),
    ("Who was the composer of {}?", "composer", "song"),
    ("What color is {}?", "color", "football club"),
    ("What is the religion of {}?", "religion", "bishop"),
    ("What sport does {} play?", "sport", "footballer"),
    ("Who is the author of {}?", "author", "novel"),
    ("Who is the mother of {}?", "mother", "king"),
    ("What is the capital of {}?", "capital", "province"),
]
"""The forms of PopQA's sixteen relations, what each asks, and a kind of thing that has it."""
ENTITIES = [
    "Charles Strachey, 4th Baron O'Hagan",
    "Funny Games U.S.",
    "Oklahoma!",
    "Busy Doin' Nothin'",
    "The Practice",
    "Western Hockey League",
    "John Heriot's Wife",
    "Father of the Bride",
    "1994–95 Fußball-Bundesliga",
    "canton of Baugy",
    "Who Framed Roger Rabbit",
    "In Deep",
]
NAME = st.lists(st.from_regex(r"[A-Z][a-zß-ü]{1,8}", fullmatch=True), min_size=1, max_size=4).map(" ".join)


@pytest.mark.parametrize(("form", "relation", "kind"), POPQA)
@pytest.mark.parametrize("entity", ENTITIES)
def test_every_form_of_popqa_gives_its_entity(form: str, relation: str, kind: str, entity: str) -> None:
    """Exactly as it was written, with what is asked of it and what it may be."""
    found = subject_of(form.format(entity))
    assert (found.entity, found.relation, found.form) == (entity, relation, True)
    assert kind in found.kinds


@pytest.mark.parametrize(
    ("text", "entity", "relation"),
    [
        ("Who was Goethe's father?", "Goethe", "father"),
        ("who is the father of ada lovelace", "ada lovelace", "father"),
        ("Father of the Bride", "Father of the Bride", ""),
        ("Henry Feilden, occupation", "Henry Feilden", "occupation"),
        ("Who composed “Imagine”?", "Imagine", "composed"),
        ("When in Rome", "When in Rome", ""),
        ("John Finlay (politician)", "John Finlay (politician)", ""),
        ("Who was Alan Turing?", "Alan Turing", ""),
        ("", "", ""),
    ],
)
def test_other_forms_are_known(text: str, entity: str, relation: str) -> None:
    """Questions, queries, and names that only look like them."""
    found = subject_of(text)
    assert (found.entity, found.relation) == (entity, relation)


@pytest.mark.parametrize(
    ("text", "entity"),
    [("Does the Hohrin Hut open in June?", "Hohrin Hut"), ("how do bees find flowers", "bees find flowers")],
)
def test_without_a_form_it_is_the_longest_name_or_the_words(text: str, entity: str) -> None:
    """And it says that no form fits."""
    found = subject_of(text)
    assert (found.entity, found.form) == (entity, False)


def test_each_relation_is_reached_by_each_of_its_names() -> None:
    """Also by the verbs."""
    assert all(subject_of(f"Xan {name}").kinds == kinds for name, (kinds, _) in RELATIONS.items())


def test_a_title_may_be_spelt_otherwise() -> None:
    """As written comes first; then with a capital, and a person's without the names in the midst."""
    assert spellings(Subject("lantern march")) == ("lantern march", "Lantern march", "Lantern March")
    person = Subject("Florence Marie Harsant", kinds=("politician",))
    assert spellings(person) == ("Florence Marie Harsant", "Florence Harsant")


def test_a_page_fits_by_its_title_then_by_its_opening() -> None:
    """A kind in brackets tells most, a word of the relation least."""
    film = subject_of("Who was the director of The Tree?")
    by_title = fit("The Tree (1993 film)", "", film)
    by_kind = fit("The Tree", "The Tree is a film.", film)
    by_word = fit("The Tree", "Directed by Anna Tresk.", film)
    assert by_title > by_kind > by_word > fit("The Tree", "It is a plant.", film) == 0
    assert fit("Anything", "at all", Subject("Anything")) == 1


def test_a_page_bears_the_name_in_title_text_or_part() -> None:
    """Case and accents do not matter; one word of a name is not enough."""
    asks = Subject("Florence Marie Harsant")
    assert bears("Florence Harsant", "", asks)
    assert bears("A painter", "Marie Harsant, Florence, was born", asks)
    assert not bears("Florence", "A city.", asks)


def test_lists_years_and_names_are_generic_unless_asked_for() -> None:
    """They are about no one thing."""
    assert all(
        generic(title, Subject("x")) for title in ("List of films", "1984", "Finlay (surname)", "X (disambiguation)")
    )
    assert not generic("1984", Subject("1984"))
    assert not generic("1984 (novel)", Subject("x"))
