"""Which page of an encyclopedia is meant, and which of its paragraphs come first."""

from surefoot.searchers._encyclopedia import AMBIGUOUS, DIRECT, SUFFIX, TEXT, Page, laid_out, looked_up, paragraphs
from surefoot.text.subject import subject_of

WEB = "https://example.org/wiki"


def page(title: str, lead: str = "Something.", via: str = DIRECT, ambiguous: bool = False) -> Page:
    """A page with an address."""
    return Page(title, lead, f"{WEB}/{title.replace(' ', '_')}", via, ambiguous)


def test_the_page_that_fits_comes_first_each_once_and_none_that_tells_apart() -> None:
    """Then the page of that very title; what merely mentions the name comes last."""
    about = subject_of("Who is the author of Boundary?")
    pages = [
        page("Boundary (disambiguation)", ambiguous=True),
        page("Border fences", "A novel that mentions a boundary.", TEXT),
        page("Boundary", "A boundary is a line."),
        page("Boundary (novel)", via=SUFFIX),
        page("Boundary (novel)", via=AMBIGUOUS),
    ]
    assert [found.title for found in looked_up(about, lambda _: pages)] == [
        "Boundary (novel)",
        "Boundary",
        "Border fences",
    ]


def test_what_speaks_of_the_relation_comes_before_the_rest_and_after_the_beginning() -> None:
    """Between them the first paragraph of each other page that may be meant; references are left out."""
    filler = "It goes on about other things for a while. " * 6
    parts = [f"Lead {number}. {filler}" for number in range(3)]
    sections = ["== Youth ==", filler, "== Faith ==", "His religion was Anglican.", "== Notes ==", "One."]
    text = "\n".join([*parts, *sections])
    pages = [page("Feilden"), page("Feilden (poet)", "A poet.", SUFFIX)]
    found = list(laid_out(pages, text, subject_of("Feilden religion")))
    titles = ["Feilden"] * 3 + ["Feilden (poet)", "Feilden › Faith", "Feilden › Youth"]
    assert [title for _, title, _, _ in found] == titles
    assert (found[4][0], found[3][3]) == (f"{WEB}/Feilden#Faith", SUFFIX)


def test_short_paragraphs_are_joined_under_their_heading_and_long_ones_cut() -> None:
    """Nothing is lost."""
    long = "This is a sentence of seven words. " * 60
    cut = list(paragraphs(f"One.\nTwo.\n\n== A ==\n{long}\n=== B ===\n== C ==\nThree."))
    assert cut[0] == ("", "One.\nTwo.")
    assert cut[-1] == ("C", "Three.")
    assert len(cut) > 3
    assert " ".join(text for heading, text in cut if heading == "A") == long.strip()
