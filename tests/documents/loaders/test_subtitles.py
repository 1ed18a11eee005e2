"""Subtitles as their readers see them."""

import pytest

from documents.loaders.opening import one
from surefoot.documents.loaders import Unreadable


def test_what_is_spoken_in_a_row_is_one_paragraph_with_its_time():
    """Without numbers, times, tags and what is shown on; with its speaker."""
    text = "WEBVTT\n\nNOTE no words\n\n1\n00:01.500 --> 00:03.000 align:left\n<v Tilda>The <i>hut</i>\n\n"
    text += "00:03.000 --> 00:05.000\nThe hut\nhas forty beds.\n\n" + "01:00:07.000 --> 01:00:09.000\nThe hut\n"
    found = one(text, "film.vtt")
    assert [(block.place, block.text) for block in found.blocks] == [
        ("t=00:00:01", "Tilda: The hut The hut has forty beds. The hut")
    ]


def test_a_paragraph_ends_with_a_sentence():
    """Once it is long enough to be read by itself."""
    cues = [f"{n}\n00:00:{n:02},000 --> 00:00:{n:02},900\n{{\\an8}}word {n} {'x ' * 10}end.\n" for n in range(1, 9)]
    found = one("\n".join(cues), "film.srt")
    assert [block.place for block in found.blocks] == ["t=00:00:01", "t=00:00:05"]
    assert found.blocks[0].text.startswith("word 1 x")


def test_what_is_written_as_an_entity_is_read_as_its_character():
    """After the tags are gone, so that a written `<` is no tag."""
    assert one("WEBVTT\n\n00:01.000 --> 00:02.000\nropes &amp; beds &lt; 40\n", "film.vtt").text == "ropes & beds < 40"


def test_a_text_without_times_is_refused():
    """It is no film's."""
    with pytest.raises(Unreadable, match="holds no subtitles"):
        one("Forty beds.", "film.srt")
