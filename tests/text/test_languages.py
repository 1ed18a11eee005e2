"""In what language a sentence is written."""

import pytest

from effort import effort
from surefoot.text.languages import OTHER, language


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The bridge was built by Tomas Aldwin.", "en"),
        ("Die Brücke ist von ihm und nicht von einem anderen gebaut.", "de"),
        ("Le pont est construit par lui, et non par les autres.", "fr"),
        ("El puente fue construido por él y no por los otros.", "es"),
        ("Il ponte non è stato costruito dagli altri, ma da chi lo dice.", "it"),
        ("A ponte foi construída por ele, e não pelos outros.", "pt"),
        ("De brug is door hem gebouwd, en niet door een ander.", "nl"),
        ("Most jest zbudowany przez niego, a nie przez kogo innego w tym roku.", "pl"),
        ("Bu köprü onun için ve sadece bir kişi olarak yapılmıştır.", "tr"),
        ("Мост построил он, а не другие.", "cyrillic"),
        ("这座桥是他建的。", "cjk"),
        ("橋は彼が建てたのです。", "cjk"),
        ("الجسر بناه هو وليس غيره.", "arabic"),
        ("पुल उसने बनाया था।", "devanagari"),
    ],
)
def test_whole_sentences_are_told(sentence: str, expected: str) -> None:
    """By script, or by small words."""
    assert language(sentence) == expected


def test_of_two_languages_as_likely_neither_is_named() -> None:
    """Spanish, whose two small words French has too."""
    assert language("¿A qué hora cierra la piscina?") == OTHER


@pytest.mark.parametrize(
    "sentence",
    [
        "He sang in Der Ring des Nibelungen at La Scala in 1951.",
        "The Universidade de São Paulo and the Université de Paris signed it.",
        "Larraín married María Teresa de la Cruz y Haedo in the town of El Paso.",
        "Москва (Moscow) is the capital and the largest city of the country.",
    ],
)
def test_names_of_other_languages_make_no_sentence_foreign(sentence: str) -> None:
    """They stand in English sentences every day."""
    assert language(sentence) == "en"


@pytest.mark.parametrize("text", ["", "VACUUM FULL", "42", "Aldwin, Tomas"])
def test_what_has_no_small_words_is_left_open(text: str) -> None:
    """Nothing is guessed from a name."""
    assert language(text) == ""


def test_letters_that_english_lacks_tell_what_no_small_word_does() -> None:
    """Two words in lower case, since names have such letters, too; and no small word of English."""
    assert language("Metadados: resposta_canónica; prioridade máxima.") == OTHER
    assert language("He ate crème brûlée in the café.") == "en"
    assert language("Kraków, Łódź, Gdańsk") == ""


def test_a_name_that_is_quoted_is_no_part_of_the_sentence_around_it() -> None:
    """Whatever its script."""
    names = frozenset(("ruvel", "bridge"))
    assert language("客问Ruvel Bridge事,灯前一笑中。", names) == "cjk"
    assert language("Ruvel Bridge", names) == ""


@pytest.mark.parametrize("piece", ["a", "a.b,", "a/", "“"])
def test_a_word_without_end_is_read_in_linear_time(piece: str) -> None:
    """It may be an address, which was looked for from each of its letters."""
    assert effort(lambda: language(piece * (40_000 // len(piece))), 5) < 5
