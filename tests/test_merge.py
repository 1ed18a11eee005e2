"""Local and external knowledge side by side: what says the same is kept once, what differs is shown."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from surefoot.evidence.differences import agree, conflicts
from surefoot.evidence.merge import covered, distinct, fresh, same, selected
from surefoot.types import Conflict, Grade, Passage, Strip

BRIDGE = "The Ruvel Bridge was built in 1911 by Tomas Aldwin and it has one arch."


def strip(passage_id: str, text: str, kept: bool = True) -> Strip:
    return Strip(passage_id, 0, len(text), text, 0.5, kept, "" if kept else "too low")


def test_the_first_of_two_that_say_the_same_stays() -> None:
    """The other is dropped, not lost, and says whom it repeats; case, accents and punctuation do not matter."""
    local, external = strip("local", BRIDGE), strip("web", BRIDGE.upper().replace(".", "!"))
    first, second = distinct([local, external])
    assert first is local
    assert (second.kept, second.reason) == (False, "says the same as a strip of local")


@settings(deadline=None)
@given(st.lists(st.builds(strip, st.text("ab", max_size=2), st.text("ab ", max_size=12), st.booleans()), max_size=6))
def test_merging_keeps_order_and_merges_once(strips: list[Strip]) -> None:
    """No strip is lost, moved or kept anew; merging what is merged changes nothing."""
    merged = distinct(strips)
    assert [(s.passage_id, s.text) for s in merged] == [(s.passage_id, s.text) for s in strips]
    assert all(before.kept or before == after for before, after in zip(strips, merged, strict=True))
    assert distinct(merged) == merged


# The same text


LONG = f"{BRIDGE} The mayor opened it in June. It carries the road to Larrow, and boats pass below it every day."


@pytest.mark.parametrize(
    "copy",
    [
        LONG.upper(),
        LONG.replace(". ", ".\n\n").replace("bridge", "“bridge”"),
        LONG.replace("Aldwin", "Aldwin[1]").replace("June.", "June.[2][3]"),
        LONG.replace(" every day", " each day"),
        LONG.removesuffix(" every day."),
    ],
)
def test_a_copy_says_the_same(copy: str) -> None:
    """Other spacing, letters or footnotes, or one small word, make no other text."""
    assert same(copy, LONG)


@pytest.mark.parametrize(
    "other",
    [
        LONG.replace("1911", "1912"),
        LONG.replace("Tomas Aldwin", "Josef Ruhn"),
        LONG.replace("was built", "was not built"),
        f"{LONG} Another half of it stands on the far bank, and it was never finished by those who came after them.",
    ],
)
def test_one_word_that_tells_makes_another_text(other: str) -> None:
    """A year, a name or a negation is what the two would differ about."""
    assert not same(other, LONG)


# What comes from outside


def page(id: str, text: str, title: str = "Page") -> Passage:
    return Passage(id, text, title, "external")


def test_a_hit_is_new_by_id_and_by_words() -> None:
    """The first of several stays, in order."""
    known = [Passage("local", BRIDGE, "Page")]
    hits = [page("a", BRIDGE.upper()), page("b", "New."), page("b", "Newer."), page("c", "new"), page("local", "x")]
    assert fresh(hits, known) == (hits[1],)


def test_passages_that_repeat_or_are_too_many_are_set_aside_with_the_reason() -> None:
    """Whole, as dropped strips; what repeats does not take a place."""
    texts = {"a": BRIDGE, "b": LONG, "c": LONG.upper(), "d": "Fog hides it.", "e": "Boats pass it."}
    kept, aside = selected([page(*item) for item in texts.items()], [Passage("local", BRIDGE)], 2)
    assert [passage.id for passage in kept] == ["b", "d"]
    assert [(strip.passage_id, strip.text, strip.kept, strip.reason) for strip in aside] == [
        ("a", texts["a"], False, "says the same as local"),
        ("c", texts["c"], False, "says the same as b"),
        ("e", texts["e"], False, "not among the best 2 passages from outside"),
    ]


# Conflicts


def evidence(id: str, text: str, answer: str = "", source: str = "corpus", kept: bool = True) -> tuple[Passage, Grade]:
    at = text.find(answer)
    passage = Passage(id, text, source=source)  # type: ignore[arg-type]
    return passage, Grade(id, 1.0 if kept else None, span=(at, at + len(answer)) if answer else None)


def found(*pairs: tuple[Passage, Grade], question: str = "") -> tuple[Conflict, ...]:
    """What conflicts among these, every passage being one strip; one without a score is dropped."""
    strips = [Strip(p.id, 0, len(p.text), p.text, g.score, kept=g.score is not None) for p, g in pairs]
    return conflicts(question, [p for p, _ in pairs], [g for _, g in pairs], strips)


ALDWIN = evidence("a", "Tomas Aldwin built it.", "Tomas Aldwin")
RUHN = evidence("b", "It was built by Josef Ruhn.", "Josef Ruhn", "external")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Tomas Aldwin", "TOMAS ALDWIN"),
        ("Tomas Aldwin", "Aldwin"),
        ("Tomas Aldwin", "Aldwin, T."),
        ("politician", "a Conservative politician"),
        ("Café Iruña", "cafe Iruna"),
        ("U.S.", "United States"),
        ("USA", "United States of America"),
        ("1911", "in May 1911"),
        ("2,214 m", "2214 metres"),
        ("21 February 1818", "Feb 21, 1818"),
        ("1911", "before the war"),
        ("…", "Aldwin"),
    ],
)
def test_answers_that_may_be_the_same_are_no_conflict(one: str, other: str) -> None:
    """Case, accents, parts, initials, other forms of a date; a number and words cannot be compared."""
    assert agree(one, other)
    assert agree(other, one)


@pytest.mark.parametrize(
    ("one", "other"), [("Tresk", "Larrow"), ("1911", "1912"), ("May 1911", "May 1912"), ("2,214 m", "2,241 m")]
)
def test_other_names_dates_and_numbers_do_not_agree(one: str, other: str) -> None:
    """Two dates in one month of different years are different dates."""
    assert not agree(one, other)


def test_an_answer_that_the_other_side_has_too_is_in_no_conflict() -> None:
    """A second opinion outside does not make the first one doubtful."""
    assert found(ALDWIN, RUHN, evidence("c", "Aldwin built it.", "Aldwin", "external")) == ()


@pytest.mark.parametrize(("probability", "count"), [(0.49, 0), (0.5, 1)])
def test_what_is_pointed_at_in_doubt_is_not_said(probability: float, count: int) -> None:
    """Where the evaluator thinks it likelier that there is no answer."""
    (a, grade), (b, other) = ALDWIN, RUHN
    strips = [Strip(p.id, 0, len(p.text), p.text, 1.0, kept=True) for p in (a, b)]
    assert len(conflicts("", [a, b], [replace(grade, probability=probability), other], strips)) == count


def test_an_answer_outside_the_kept_strips_is_no_evidence() -> None:
    """The evaluator pointed at words that refinement dropped."""
    (a, grade), (b, other) = ALDWIN, RUHN
    half = Strip("b", 0, 6, b.text[:6], 1.0, kept=True)
    whole = Strip("a", 0, len(a.text), a.text, 1.0, kept=True)
    assert conflicts("", [a, b], [grade, other], [whole, half]) == ()


def titled(title: str, text: str, answer: str = "", source: str = "corpus") -> tuple[Passage, Grade]:
    passage, grade = evidence(title, text, answer, source)
    return replace(passage, id=f"{source} {title}", title=title), replace(grade, passage_id=f"{source} {title}")


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ("Larrow Hut", "Larrow Hut", 1),
        ("Larrow Hut", "The Larrow Hut: opening hours", 1),
        ("Larrow Hut", "", 1),
        ("Larrow Hut", "Kestrel Hut", 0),
        ("John Blake (judge)", "John Blake (bishop)", 0),
        ("John Blake", "John Blake (bishop)", 0),
    ],
)
def test_titles_that_name_two_things_make_no_conflict(one: str, other: str, count: int) -> None:
    """Of two namesakes each may have another answer."""
    pairs = titled(one, "Born in Torvath.", "Torvath"), titled(other, "Born in Ambrel.", "Ambrel", "external")
    assert len(found(*pairs)) == count


def two(
    one: str, other: str, text: str = "Meals: EUR 40.", its: str = "Meals: EUR 48.", letters: int = 7
) -> Sequence[Conflict]:
    """The conflicts of two passages of the corpus with these titles, each in a file of its own, whose last letters are
    the answer."""
    pairs = titled(one, text, text[-letters:-1]), titled(other, its, its[-letters:-1])
    return found(*pairs, question="What is the allowance of the Larrow Hut?")


def test_the_newer_one_of_two_versions_is_named_first() -> None:
    """By the dates of their titles, whatever order they were found in; the same text twice is no difference."""
    old, new = "Policy (of 1 March 2023) › Meals", "Policy (of January 2026) › Meals"
    for pair in ((old, new), (new, old)):
        texts = ("Meals: EUR 40.", "Meals: EUR 48.") if pair[0] == old else ("Meals: EUR 48.", "Meals: EUR 40.")
        assert [(c.local_says, c.external_says) for c in two(*pair, *texts)] == [("EUR 48", "EUR 40")]
    assert two(old, new, "Meals: EUR 40.", "Meals: EUR 40.") == ()
    assert two(old, "Policy (of January 2026) › Hotels") == ()


def test_of_a_table_the_first_row_that_is_pointed_at_differs() -> None:
    """A span may run on into the next row; shown is what a reader finds in one."""
    old, new = ("| Zurich | CHF 180 |\n| Vienna | EUR 120 |", "| Zurich | CHF 210 |\n| Vienna | EUR 120 |")
    pairs = [titled(f"Policy (of {year})", text, text[11:-2]) for year, text in ((2023, old), (2026, new))]
    assert [(c.local_says, c.external_says) for c in found(*pairs)] == [("CHF 210", "CHF 180")]


def test_documents_about_what_the_question_names_conflict() -> None:
    """A page about another thing, which mentions it, is in no conflict with it."""
    texts = ("Guests are invited.", "It was emptied.", 8)
    assert len(two("Larrow Hut, rules", "The Larrow Hut", *texts)) == len(two("Larrow Hut", "", *texts)) == 1
    assert two("Larrow Hut, rules", "Rules of the house", *texts) == ()
    assert two("Larrow Hut, rules", "Kestrel Hut") == ()
    assert two("Larrow Hut", "The Larrow Hut", its="Meals: EUR 40.") == ()


def test_other_numbers_and_names_conflict_whatever_the_titles() -> None:
    """Three hours are not six; parts of one document speak of different things."""
    assert len(two("Prices", "At a glance")) == 1
    assert len(two("Races", "At a glance", "It takes three hours.", "It takes six hours.", 12)) == 1
    assert len(two("Founders", "At a glance", "By Tomas Wyler.", "By Ines Aldaro.", 13)) == 1
    assert two("Races", "At a glance", "It takes three hours.", "It takes 3 hours.", 11) == ()
    assert two("Prices › Meals", "Prices › Rooms") == ()


@pytest.mark.parametrize(
    ("text", "its"),
    [
        ("40 EUR", "3 hours"),
        ("40", "table 3 of the second part"),
        ("40", "3.\n4"),
        ("40", "Guests"),
        ("Guests", "people"),
    ],
)
def test_values_of_two_kinds_are_in_no_conflict(text: str, its: str) -> None:
    """Of two units, a number in a clause, one that runs on into the next line, a number beside words."""
    pairs = titled("Prices", text, text), titled("At a glance", its, its)
    assert found(*pairs, question="What is the allowance of the Larrow Hut?") == ()


PAGE = Passage(
    "a", "Set the time limit for a connection. It is 30 seconds, or 0 for none. Change it with reload.", "Hut › limit"
)


@pytest.mark.parametrize(
    "copy",
    [
        Passage("b", PAGE.text, "limit"),
        Passage("b", PAGE.text, "The manual of the hut › limit"),
        Passage("b", "It is 30 seconds, or 0 for none. Change it with reload.", "Hut › limit"),
        Passage("b", PAGE.text.replace(". ", ".\n"), ""),
    ],
    ids=["whole", "from another page", "a part", "other lines"],
)
def test_a_passage_is_covered_by_one_that_says_all_of_it(copy: Passage) -> None:
    """Whatever the page is called; not the other way round where it says more."""
    assert covered(copy, PAGE)
    assert covered(PAGE, replace(PAGE, text=f"{PAGE.text} And more."))
    assert not covered(replace(PAGE, text=f"{PAGE.text} And more."), PAGE)


@pytest.mark.parametrize(
    "other",
    [
        replace(PAGE, text=PAGE.text.replace("30", "60")),
        replace(PAGE, text=PAGE.text.replace("time", "size")),
        replace(PAGE, title="Hut › smtp_limit"),
        replace(PAGE, title="connection"),
        replace(PAGE, text="With 0 seconds, or for none, it is a time limit."),
    ],
    ids=["another number", "another word", "another heading", "a heading that it names", "other order"],
)
def test_a_passage_that_differs_in_one_thing_is_not_covered(other: Passage) -> None:
    """Manuals describe many options in nearly the same words."""
    assert not covered(other, PAGE)
