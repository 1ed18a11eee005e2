"""An answer is held against its strips: what they carry is cited, and what nothing carries is withheld."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings, strategies as st

from effort import is_proportional
from surefoot.evidence.citations import Check, _absent, grounded
from surefoot.evidence.links import NO_LINK
from surefoot.types import Answer, Assertion, Citation, Passage, Strip, Support

BRIDGE = Passage(
    "b", "The Ruvel Bridge was built in 1911 by Tomas Aldwin. He called it “a leap of iron”.", "Ruvel Bridge"
)
HUT = Passage("h", "The hut stands at 2,214 m. Its keeper is Josef Ruhn.", "Upper Larrow Hut")
WHO = "Who built the Ruvel Bridge?"
HIGH = "How high is the Upper Larrow Hut?"


def strip(passage: Passage) -> Strip:
    return Strip(passage.id, 0, len(passage.text), passage.text, 1.0, kept=True)


KNOWLEDGE = [(strip(BRIDGE), BRIDGE), (strip(HUT), HUT)]


def ground(question: str, text: str, check: Check = "refuse") -> Answer:
    return grounded(question, Answer(text, model="m"), KNOWLEDGE, check=check)


def only(answer: Answer) -> Citation:
    assert not answer.refused
    (citation,) = answer.citations
    return citation


def test_a_cited_answer_is_verified_word_for_word() -> None:
    """The quote is the longest run of the strip's own words in the sentence."""
    answer = ground(WHO, "It was built in 1911 by Tomas Aldwin [1].")
    quote = "was built in 1911 by Tomas Aldwin"
    cited = Citation(1, strip(BRIDGE), quote, quoted=True, title=BRIDGE.title, url=BRIDGE.url)
    assert answer == Answer("It was built in 1911 by Tomas Aldwin. [1]", (cited,), model="m")


@pytest.mark.parametrize(
    ("question", "text", "quote"),
    [
        (WHO, "TOMAS ALDWIN built it [1].", "Tomas Aldwin"),
        (HIGH, "It is at 2214 m [2].", "at 2,214 m"),
        (HIGH, "Its height: 2,214 m! [2]", "2,214 m"),
    ],
)
def test_a_quote_is_as_the_source_writes_it(question: str, text: str, quote: str) -> None:
    """Whatever the answer makes of capitals, punctuation and thousands."""
    assert only(ground(question, text)).quote == quote


@pytest.mark.parametrize(
    "text",
    [
        "Tomas Aldwin built it [1].",
        "Tomas Aldwin built it. [1]",
        "Tomas Aldwin built it.[1]",
        "Tomas Aldwin [1] built it.",
        "[1] Tomas Aldwin built it.",
        "Tomas Aldwin built it.",
    ],
)
def test_a_marker_belongs_to_its_sentence(text: str) -> None:
    """Before the full stop or behind it; and a sentence without one gets that of the strip that carries it."""
    answer = ground(WHO, text)
    assert answer.text == "Tomas Aldwin built it. [1]"
    assert only(answer).quoted


@pytest.mark.parametrize("said", ["The Olm is a river. [1]", "Yes, the Olm is a river. [1]"])
def test_a_yes_in_the_questions_own_words_is_quoted_whole(said: str) -> None:
    """It adds no word, so all of them have to stand there."""
    question = "Is the Olm a river?"
    answers = [
        grounded(question, Answer(said), [(strip(one), one)])
        for one in (Passage("o", "The Olm is a river in the north."), Passage("o", "The Olm feeds a river."))
    ]
    assert [one.quoted for one in answers[0].citations] == [True]
    assert not any(one.quoted for one in answers[1].citations)


def test_several_markers_are_several_citations() -> None:
    """In one bracket or in two, each once; each is checked for itself."""
    for text in ("Tomas Aldwin [1, 2, 1].", "Tomas Aldwin [1][2]."):
        first, second = ground(WHO, text).citations
        assert (first.marker, first.quoted, second.marker, second.quoted) == (1, True, 2, False)
        assert second.reason == "nothing of the sentence stands in the source"


@pytest.mark.parametrize("marker", [0, 3, 999])
def test_a_source_that_does_not_exist_or_carry_it_stays_in_sight(marker: int) -> None:
    """Unverified, and the strip that does carry the sentence is cited beside it."""
    answer = ground(WHO, f"Tomas Aldwin built it [{marker}].")
    missing, found = answer.citations
    assert missing == Citation(marker, None, "", quoted=False, reason=f"there is no source {marker}")
    assert (found.marker, found.quoted) == (1, True)
    assert answer.text == f"Tomas Aldwin built it. [{marker}] [1]"
    wrong, right = ground(WHO, "Tomas Aldwin built it [2].").citations
    assert (wrong.marker, wrong.quoted, right.marker, right.quoted) == (2, False, 1, True)


@pytest.mark.parametrize(
    ("question", "text", "absent"),
    [
        (WHO, "Tomas Brandt built it [1].", "Tomas Brandt"),
        (WHO, "Tomas Aldwin built it in 1912 [1].", "1912"),
        (WHO, "Tomas Aldwin and Josef Ruhn built it [1].", "Tomas Aldwin and Josef Ruhn"),
        (WHO, "Bergen's Tomas Aldwin did [1].", "Bergen's Tomas Aldwin"),
        (HIGH, "It stands at 214 m [2].", "214"),
        (HIGH, "It stands at 2.2 km [2].", "2.2"),
        (HIGH, "It stands at 2,215 m [2].", "2,215"),
    ],
)
def test_a_name_or_number_that_the_source_lacks_is_not_verified(question: str, text: str, absent: str) -> None:
    """The reason names it; a part of a number is not the number."""
    citation = only(ground(question, text, "mark"))
    assert (citation.quoted, citation.reason) == (False, f"not in the source: {absent}")


@pytest.mark.parametrize(
    "said",
    [
        "It was built by Tomas Aldwin, and the moon is made of cheese [1].",
        "It was built by Tomas Aldwin; others praise its marvellous acoustics [1].",
        "It was built by Tomas Aldwin while thirteen jugglers applauded [1].",
    ],
)
def test_a_clause_that_the_source_does_not_hold_is_not_carried_by_the_one_that_it_holds(said: str) -> None:
    """Each clause is checked, also where it has neither a name nor a number."""
    citation = only(ground(WHO, said, "mark"))
    assert citation.quote
    assert not citation.quoted
    assert ground(WHO, said).refused


def test_names_of_the_question_and_the_title_need_not_stand_in_the_strip() -> None:
    """The title says what the text is about, and the question was given."""
    assert only(ground(HIGH, "The Upper Larrow Hut stands at 2,214 m [2].")).quoted
    assert only(ground("Who built it for King Harald?", "Tomas Aldwin built it for King Harald [1].")).quoted


@pytest.mark.parametrize(
    "quotation", ["“a leap of steel”", '"I made it"', "'leap of faith'", "‘a leap’ and “don’t”", "“eap of iro”"]
)
def test_a_made_up_quotation_is_never_verified(quotation: str) -> None:
    """In any quotation marks, also where the rest of the sentence is true, and though it begin inside a word."""
    citation = only(ground(WHO, f"Tomas Aldwin called it {quotation} [1].", "mark"))
    assert not citation.quoted
    assert citation.reason.startswith("not in the source: ")


@pytest.mark.parametrize(
    "text",
    [
        "Henry Brandt built it [1].",
        "Nobody knows [2].",
        "A troll.",
        "[1] [2].",
        "",
        "…",
        "The Ruvel Bridge was built [1].",
    ],
)
def test_an_answer_that_stands_in_no_strip_is_withheld(text: str) -> None:
    """It is not shown; what the model said is kept apart. Words of the question prove nothing."""
    assert ground(WHO, text) == Answer("", refused=True, model="m", withheld=text)


@pytest.mark.parametrize(
    "text",
    [
        "Not found.",
        "not found [1]",
        "“Not found”",
        "The builder, Tomas Aldwin, is not mentioned in the sources.",
        "It is not explicitly stated in the given text who built it in 1911.",
        "The sources do not hold the answer.",
        "Source [1] doesn’t say who built it, only that Tomas Aldwin called it iron.",
        "The provided passage does not explicitly mention who built it in 1911.",
        "None of the sources say whether Tomas Aldwin built it.",
        "I don't know, perhaps Tomas Aldwin.",
        "It cannot be determined whether Tomas Aldwin built it.",
        "There is no information about Tomas Aldwin.",
    ],
)
def test_not_found_is_a_refusal(text: str) -> None:
    """In the model's many ways of saying so, though it names what stands in a strip."""
    assert ground(WHO, text).refused


@pytest.mark.parametrize(
    "text",
    [
        "Tomas Aldwin, who does not hold a degree.",
        "Tomas Aldwin; his grave was not found until 1990.",
        "Tomas Aldwin does not say why in 1911.",
    ],
)
def test_an_answer_with_a_negation_is_an_answer(text: str) -> None:
    """Only what is said of the sources is about the sources."""
    assert not ground(WHO, text, "mark").refused


words_of_the_case = st.sampled_from(
    "Tomas Aldwin Brandt built 1911 1912 it. He “a leap” [1] [2] [9] not found U.S.".split()
)


@settings(deadline=None)
@given(st.lists(words_of_the_case, max_size=12).map(" ".join))
def test_what_is_shown_is_checked(text: str) -> None:
    """A quote stands in its strip as it is; what is verified has one; what is refused shows no text."""
    answer = ground(WHO, text)
    assert answer.refused == (answer.text == "") == (answer.withheld is not None)
    for citation in answer.citations:
        assert citation.quote in (citation.strip.text if citation.strip else "")
        assert citation.quoted == (citation.reason == "")
        assert citation.quote or not citation.quoted


@pytest.mark.parametrize("verdict", ["Yes.", "No, it was not.", "yes"])
def test_a_bare_yes_or_no_is_passed_on_as_unverified(verdict: str) -> None:
    """There is nothing in it to check, and a question that asks for no more must not always be refused."""
    passages = [Passage("a", "It is of iron.", "Cheese"), Passage("b", "The bridge was built in 1911.", "Ruvel Bridge")]
    knowledge = [(Strip(p.id, 0, len(p.text), p.text, 1.0, kept=True), p) for p in passages]
    answer = grounded("Was the Ruvel Bridge built?", Answer(verdict), knowledge)
    assert not answer.refused
    assert [(c.marker, c.quoted, c.quote) for c in answer.citations] == [(2, False, "")]


@pytest.mark.parametrize("said", ["Yes [1].", "True [2]", "This claim is false [1].", "The statement is not true [1]."])
def test_a_verdict_may_name_its_source(said: str) -> None:
    """It is passed on with the marker that it has, unquoted; with a marker that leads nowhere, or with words that stand
    nowhere behind it, it proves nothing."""
    passed = ground("Was the Ruvel Bridge built?", said)
    assert [(c.quoted, c.supported) for c in passed.citations] == [(False, None)]
    assert ground("Was the Ruvel Bridge built?", "Yes, by green trolls [1].").refused
    assert ground("Was the Ruvel Bridge built?", "Yes [9].").citations[-1].strip is not None


# What is checked, and what becomes of the rest


def test_a_letter_is_held_against_the_sources_by_what_it_stands_for() -> None:
    """It stays as the model wrote it; the words of its choice carry the citation, or are missing."""
    right = grounded(WHO, Answer("B", stands_for="Tomas Aldwin"), KNOWLEDGE)
    assert (right.text, right.refused) == ("B [1]", False)
    assert [(c.quote, c.quoted) for c in right.citations] == [("Tomas Aldwin", True)]
    assert grounded(WHO, Answer("A", stands_for="Henry Brandt"), KNOWLEDGE).refused
    marked = grounded(WHO, Answer("A", stands_for="Henry Brandt"), KNOWLEDGE, check="mark")
    assert (marked.text, marked.uncited, marked.citations) == ("A", ("A",), ())


def test_a_claim_that_is_called_true_is_what_the_verifier_reads() -> None:
    """Not the word "true", which every source carries."""
    claim, read = "The Ruvel Bridge was built by Tomas Aldwin.", []

    def support(assertions: Sequence[Assertion]) -> tuple[Support, ...]:
        read.extend(assertion.text for assertion in assertions)
        return tuple(Support(True, 1.0) for _ in assertions)

    answer = grounded(claim, Answer("true", stands_for=claim), KNOWLEDGE, support)
    assert read == [claim]
    assert (answer.text, [citation.supported for citation in answer.citations]) == ("true [1]", [True])


@pytest.mark.parametrize("said", ["A troll.", "Henry Brandt built it [1]."])
def test_what_a_check_withholds_is_marked_where_marks_are_wanted(said: str) -> None:
    """All of it is shown, and none of it as supported."""
    marked = grounded(WHO, Answer(said), KNOWLEDGE, check="mark")
    assert not marked.refused
    assert marked.uncited == (said.replace(" [1]", ""),)
    assert not any(citation.quoted for citation in marked.citations)
    assert grounded(WHO, Answer("I do not know."), KNOWLEDGE, check="mark").refused


def test_without_a_check_nothing_is_cited_and_every_sentence_is_unsupported() -> None:
    """But for addresses, which no setting lets through."""
    answer = grounded(WHO, Answer("Tomas Aldwin [1]. See http://evil.example/x."), KNOWLEDGE, check="off")
    assert answer.text == f"Tomas Aldwin [1]. See {NO_LINK}."
    assert answer.citations == ()
    assert answer.uncited == ("Tomas Aldwin [1].", f"See {NO_LINK}.")


def test_quotations_are_compared_letter_by_letter() -> None:
    """A generator that quotes says where; a slice that is not there is no quotation, and a draft of none is refused."""
    own = strip(BRIDGE)
    right, wrong = Citation(1, own, own.text, quoted=True), Citation(1, own, own.text.upper(), quoted=True)
    found = grounded(WHO, Answer("Tomas Aldwin [1]", (right, wrong)), [(own, BRIDGE)])
    assert [citation.quoted for citation in found.citations] == [True, False]
    assert found.citations[0].title == BRIDGE.title
    assert grounded(WHO, Answer("Tomas Aldwin [1]", (wrong,)), [(own, BRIDGE)]).refused


@pytest.mark.parametrize("end", ["\n", "\n\n", "\n  "])
def test_the_lines_of_a_list_survive(end: str) -> None:
    """A model's list stays one, each item with its own marker; sentences on one line stay there."""
    answer = ground(WHO, f"Builders:\n\n- Tomas Aldwin did.{end}- Tomas Aldwin in 1911. He built it in 1911.")
    assert answer.text == (
        f"Builders:\n\n- Tomas Aldwin did. [1]{end}- Tomas Aldwin in 1911. [1] He built it in 1911. [1]"
    )
    assert ground(WHO, "Tomas Aldwin did.  In 1911.").text == "Tomas Aldwin did. [1] In 1911. [1]"


def test_endless_white_space_is_looked_through_once() -> None:
    """A marker and a "but" may have space before them, which made each of the spaces a place to begin."""
    assert is_proportional(lambda spaces: ground(WHO, f"Tomas Aldwin{' ' * spaces}built it."), 10_000, 16)


@pytest.mark.parametrize("mark", ["“", "«", " 'a", " ‘a"])
def test_quotation_marks_that_nobody_closes_are_looked_through_once(mark: str) -> None:
    """From each of them the rest of the answer was read: 16 times the marks took 256 times as long."""

    def found(marks: int) -> list[str]:
        return _absent("", "it was “a leap of iron”, she said. " + mark * marks, "")[:1]

    assert is_proportional(found, 2_000, 16)
    assert found(2_000) == ["a leap of iron"]


def says(supported: bool | None) -> Callable[[Sequence[Assertion]], list[Support]]:
    """A verifier of one verdict."""
    return lambda assertions: [Support(None, supported) for _ in assertions]


def test_each_citation_says_whether_its_sources_carry_the_sentence() -> None:
    """As the verifier said; without a verifier nobody checked. A quotation may be cut so that it says what its passage
    does not, so it is checked too."""
    draft = Answer("It was built in 1911 by Tomas Aldwin [1].")
    for verdict in (True, False, None):
        assert only(grounded(WHO, draft, KNOWLEDGE, says(verdict))).supported is verdict
    assert only(grounded(WHO, draft, KNOWLEDGE)).supported is None
    quoted = Answer(BRIDGE.text, (Citation(1, strip(BRIDGE), BRIDGE.text, quoted=False),))
    assert only(grounded(WHO, quoted, KNOWLEDGE, says(False))).supported is False


def test_a_right_sentence_in_other_words_is_not_withheld() -> None:
    """No word of the source stands in it. If the verifier finds it there it is supported and not quoted; else it is
    withheld."""
    draft = Answer("An engineer put the crossing up.")
    assert grounded(WHO, draft, KNOWLEDGE).refused
    for verdict in (False, None):
        assert grounded(WHO, draft, KNOWLEDGE, says(verdict)).withheld == draft.text
    citation = only(grounded(WHO, draft, KNOWLEDGE, says(True)))
    assert (citation.supported, citation.quoted, citation.quote) == (True, False, "")
    assert citation.reason


def test_the_verifier_reads_the_cited_passages_and_the_question() -> None:
    """All of a sentence's sources together."""
    seen: list[Assertion] = []

    def keep(assertions: Sequence[Assertion]) -> list[Support]:
        seen.extend(assertions)
        return [Support(None, True) for _ in assertions]

    text = "Tomas Aldwin [1], and Josef Ruhn keeps the hut [2]."
    grounded(WHO, Answer(text), KNOWLEDGE, keep)
    assert seen == [Assertion("Tomas Aldwin, and Josef Ruhn keeps the hut.", (BRIDGE, HUT), WHO)]
