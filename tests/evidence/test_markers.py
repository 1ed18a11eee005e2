"""Citations in all the forms in which models write them."""

import pytest

from surefoot.evidence.markers import normalised, numbers


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("So it is [1, 2].", "So it is [1, 2]."),
        ("So it is [1-3].", "So it is [1, 2, 3]."),
        ("So it is [1; 2].", "So it is [1, 2]."),
        ("So it is [Source 1].", "So it is [1]."),
        ("So it is [Sources 1, 2, and 3].", "So it is [1, 2, 3]."),
        ("So it is [citation:1] [cite: 1, 2].", "So it is [1] [1, 2]."),
        ("So it is [doc 1; doc 2].", "So it is [1, 2]."),
        ("So it is (source 1).", "So it is [1]."),
        ("So it is (see Passages 2 and 3).", "So it is [2, 3]."),
        ("So it is【1】.", "So it is[1]."),
        ("So it is 【2†L3-L5】.", "So it is [2]."),
        ("So it is [^1].", "So it is [1]."),
        ("So it is [[1]](https://example.org).", "So it is [1]."),
        ("So it is [1](https://example.org).", "So it is [1]."),
        ("So it is <sup>1</sup>.", "So it is [1]."),
        ("So it is <cite>[2]</cite>.", "So it is [2]."),
        ("So it is {{source 1}}.", "So it is [1]."),
        (r"So it is \cite{1}.", "So it is [1]."),
        ("So it is.¹ Not 10³ m².", "So it is [1]. Not 10³ m²."),
    ],
)
def test_a_citation_in_any_form_is_one(text: str, plain: str) -> None:
    """Of ranges each source, of addresses the number."""
    assert normalised(text) == plain


@pytest.mark.parametrize("text", ["Use (1) and (2).", "x = a[1-3] + 2", "[this](https://example.org)", "[2023-2025]"])
def test_what_is_no_citation_stays(text: str) -> None:
    """Lists, code, links, years."""
    assert normalised(text) == text


@pytest.mark.parametrize("heading", ["Sources:", "**References**", "## Citations"])
def test_a_list_of_sources_at_the_end_is_no_statement(heading: str) -> None:
    """It repeats what the markers say."""
    assert normalised(f"It ends. [1]\n\n{heading}\n[1] Handbook\n2. Policy") == "It ends [1]."


def test_the_numbers_of_markers_come_once_and_in_order() -> None:
    """From any number of them."""
    assert numbers("A [2, 1]. B [1]. C [3]") == [2, 1, 3]
