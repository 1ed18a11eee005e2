"""Which sources are relied on, and which decide nothing alone."""

from dataclasses import replace

import pytest

from surefoot.evidence.sources import ALONE, Sources, corroborated
from surefoot.types import Action, Grade, Passage, Trust

TEXT = "The bridge was built by Aldwin."
AT = (24, 30)


def web(id: str, url: str, text: str = TEXT, trust: Trust = "untrusted") -> Passage:
    return Passage(id, text, source="external", url=url, trust=trust)


def grade(id: str, label: Action = Action.CORRECT, span: tuple[int, int] | None = AT) -> Grade:
    return Grade(id, 3.0, label=label, span=span)


def labels(*pairs: tuple[Passage, Grade]) -> list[Action | None]:
    passages, grades = zip(*pairs, strict=True)
    return [found.label for found in corroborated(passages, grades)]


ONE = web("a", "https://pages.example/1"), grade("a")


def test_an_untrusted_source_alone_is_ambiguous_at_most_and_says_so() -> None:
    """Whatever its grade."""
    (found,) = corroborated([ONE[0]], [ONE[1]])
    assert (found.label, found.cap, found.score) == (Action.AMBIGUOUS, Action.AMBIGUOUS, 3.0)
    assert found.reason == ALONE


def test_a_page_of_the_web_that_a_language_model_grades_correct_decides_alone() -> None:
    """Not one whose grade compares words, nor one that the user calls untrusted."""
    read = replace(grade("a", span=None), cap=Action.CORRECT)
    pages = [web("a", "https://pages.example/1", trust=trust) for trust in ("web", "untrusted")]
    assert [labels((page, read)) for page in pages] == [[Action.CORRECT], [Action.AMBIGUOUS]]
    assert labels((pages[0], grade("a"))) == [Action.AMBIGUOUS]


def test_two_sources_that_point_at_the_same_words_back_each_other() -> None:
    """Each is then CORRECT."""
    other = web("b", "https://elsewhere.test/x", "Aldwin built it."), grade("b", Action.AMBIGUOUS, (0, 6))
    assert labels(ONE, other) == [Action.CORRECT, Action.AMBIGUOUS]


@pytest.mark.parametrize(
    "other",
    [
        (web("b", "https://other.pages.example/2"), grade("b")),
        (web("b", "https://pages.example./2"), grade("b")),
        (web("b", "https://elsewhere.test/x", "Zorblax built it."), grade("b", span=(0, 7))),
        (web("b", "https://elsewhere.test/x"), grade("b", Action.INCORRECT)),
    ],
    ids=["subdomain", "another spelling of the host", "other words", "graded incorrect"],
)
def test_a_passage_that_is_no_agreeing_source_backs_nothing(other: tuple[Passage, Grade]) -> None:
    """Whoever owns a host has all its subdomains, and who disagrees is alone."""
    assert labels(ONE, other)[0] is Action.AMBIGUOUS


def test_an_address_that_nobody_can_read_backs_nothing_and_stops_nothing() -> None:
    """A hit of a search may have any: of two of them nobody knows whether they are two sources."""
    others = [(web(id, f"https://[{id}/"), grade(id)) for id in "bc"]
    assert labels(ONE, *others) == [Action.AMBIGUOUS] * 3


def test_without_spans_another_source_that_is_correct_backs() -> None:
    """An evaluator that points at nothing leaves nothing else to go by."""
    one, other = (ONE[0], grade("a", span=None)), (web("b", "https://elsewhere.test/x"), grade("b", span=None))
    assert labels(one, other) == [Action.CORRECT] * 2


def test_a_plain_source_decides_alone() -> None:
    """As every file of the index does unless it is untrusted."""
    assert labels((Passage("a", TEXT, url="notes.md"), grade("a"))) == [Action.CORRECT]


def test_patterns_say_which_sources_stand_otherwise() -> None:
    """And who is named in both is doubted."""
    sources = Sources(trusted=("faq/*", "mail/boss*"), untrusted=("mail/*", "https://*.example/*"))
    urls = ["faq/a.md", "mail/boss.eml", "mail/x.eml", "https://pages.example/1", "notes.md"]
    placed = sources.placed([Passage(str(n), TEXT, url=url) for n, url in enumerate(urls)])
    assert [p.trust for p in placed] == ["trusted", "untrusted", "untrusted", "untrusted", "plain"]


def test_a_trust_that_no_pattern_names_stays() -> None:
    """What a searcher brings from the web stays untrusted."""
    assert Sources().placed([ONE[0]]) == (ONE[0],)


def test_a_row_stands_as_its_file_does_and_not_as_the_address_that_it_claims() -> None:
    """Or a mail would vouch for itself."""
    row = Passage("a", TEXT, url="faq/a.md", file="mail/rows.jsonl")
    (placed,) = Sources(trusted=("faq/*",), untrusted=("mail/*",)).placed([row])
    assert placed.trust == "untrusted"
