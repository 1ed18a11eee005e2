"""What the commands print on."""

import pytest

from surefoot.cli._console import WIDE, out, plain


def test_a_table_in_a_file_has_room(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """No terminal there is too narrow for it; COLUMNS says how wide it may be after all."""
    monkeypatch.delenv("COLUMNS", raising=False)
    assert out.width == WIDE
    monkeypatch.setenv("COLUMNS", "70")
    assert out.width == 70


@pytest.mark.parametrize(
    "character",
    list("\x1b\x07\x7f\x9b\u061c\u200e\u200f\u202e\u2066\U000e0001\U000e0041\U000e007f\ud800"),
    ids=lambda character: f"{ord(character):x}",
)
def test_what_steers_a_terminal_or_hides_in_it_is_shown(character: str) -> None:
    """Tags spell ASCII that nobody sees, and that a model reads."""
    assert plain(f"a{character}b") == "a\ufffdb"


def test_a_line_is_one_line() -> None:
    """Whatever the text's own are, and bytes that are no text."""
    assert plain("one\n two\tthree caf\udce9.txt [bold]") == "one two three caf\ufffd.txt [bold]"


@pytest.mark.parametrize("text", ["Zoë ✓ 橋", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "👨\u200d👩"])
def test_letters_of_any_script_are_shown_as_they_are(text: str) -> None:
    """Joiners too: Persian words and families of emoji are made with them."""
    assert plain(text) == text
