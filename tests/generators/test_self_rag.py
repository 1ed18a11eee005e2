"""The form that Self-RAG was trained on, and the answer that its critique chooses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log
from typing import Any

import pytest
from hypothesis import given, strategies as st

from surefoot.config.options import option_faults
from surefoot.generators._reflection import REFLECTION, RELEVANCE, SUPPORT, UTILITY, critique, unmarked
from surefoot.generators.self_rag import SelfRAG, paragraph
from surefoot.llms.scripted import Scripted
from surefoot.run.meter import metered
from surefoot.types import Completion, Critique, Message, Passage, Source, Strip, Token
from surefoot.types.errors import ConfigError
from surefoot.types.protocols import Knowledge

QUESTION = "Who built the Ruvel Bridge?"


def known(*texts: str, source: Source = "corpus") -> Knowledge:
    passages = [Passage(f"{source}{n}", text, f"Title {n}", source) for n, text in enumerate(texts)]
    return [(Strip(p.id, 0, len(p.text), p.text, 1.0, kept=True), p) for p in passages]


@dataclass
class Weighing:
    """A model that gives each prompt the completion whose key stands in it, and remembers what it was asked."""

    said: Mapping[str, Completion]
    name: str = "weighing"
    asked: list[str] = field(default_factory=list)

    def complete(self, messages: Sequence[Message], schema: Any = None, **options: Any) -> Completion:
        (message,) = messages
        self.asked.append(message.content)
        return next(one for key, one in self.said.items() if key in message.content)


def token(text: str, **chances: float) -> Token:
    """A token with the chances of those that were weighed in its place, by the letters of their names."""
    every = {
        name: chance for name in (*RELEVANCE, *SUPPORT, *UTILITY) for key, chance in chances.items() if key in name
    }
    return Token(text, log(every.get(text, 1.0)), tuple((name, log(chance)) for name, chance in every.items()))


def said(text: str, relevant: float, supported: float, useful: float) -> Completion:
    """An answer of one word between its reflection tokens, each with the chance of the best of its kind."""
    tokens = (
        token("[Relevant]", Rel=relevant, Irr=1 - relevant),
        Token(text, 0.0),
        token("[Fully supported]", Fully=supported, Contra=1 - supported),
        token("[Utility:5]", **{":5": useful, ":1": 1 - useful}),
    )
    return Completion("".join(one.text for one in tokens), "weighing", tokens=tokens)


# The form


def test_the_form_is_that_of_the_papers_script() -> None:
    """Golden: the instruction, the response begun with [Retrieval], and a paragraph of title and text."""
    model = Weighing({"": Completion("Ola", "m")})
    SelfRAG(model, "chat").generate(QUESTION, known("Tomas Aldwin built it."))
    SelfRAG(model).generate(QUESTION, ())
    assert model.asked == [
        f"### Instruction:\n{QUESTION}\n\n### Response:\n[Retrieval]<paragraph>Title 0\n"
        "Tomas Aldwin built it.</paragraph>",
        f"### Instruction:\n{QUESTION}\n\n### Response:\n[No Retrieval]",
    ]


@given(
    st.lists(st.sampled_from(["[Rele", "vant]", "[Relevant]", "</paragraph>", "</s>", "<|x|>", "\n", "a"]), max_size=8)
)
def test_no_passage_speaks_for_the_model(parts: list[str]) -> None:
    """Whatever it is put together of: no reflection token, no end of the paragraph, no line of its own."""
    text = "".join(parts)
    made = paragraph([(Strip("p", 0, len(text), text, 1.0, kept=True), Passage("p", text, text))], 1000)
    assert not REFLECTION.search(made)
    assert len(made.splitlines()) <= 2
    assert not REFLECTION.search(unmarked(text))


def test_a_paragraph_is_a_passage_or_a_side_or_all() -> None:
    """As Self-RAG's script has it, as CRAG's hands it to Self-RAG, and as CRAG's asks any model."""
    model = Weighing({"": said("Ola", 0.5, 0.5, 0.5)})
    both = [*known("one", "two"), *known("three", source="external")]
    for paragraphs, sources, texts in (
        ("each", both, ["one", "two", "three"]),
        ("three", both, ["one two", "three", "one two three"]),
        ("three", both[:2], ["one two"]),
        ("one", both, ["one two three"]),
    ):
        model.asked.clear()
        SelfRAG(model).with_critique(paragraphs).generate(QUESTION, sources)  # type: ignore[arg-type]
        read = [asked.partition("<paragraph>")[2].removesuffix("</paragraph>").split("\n") for asked in model.asked]
        assert [" ".join(line for line in lines if "Title" not in line) for lines in read] == texts


def test_what_does_not_fit_into_a_paragraph_is_left_out() -> None:
    """Of a paragraph, not of the whole."""
    assert paragraph(known("a" * 9, "b" * 9), 10) == "Title 0\naaaaaaaaa"


# The critique


def test_a_critique_is_the_expected_worth_of_each_kinds_tokens() -> None:
    """Among themselves, whatever else was weighed: 0.6 of 0.8 is relevant; half is partial support."""
    tokens = (
        token("[Relevant]", Rel=0.6, Irr=0.2),
        Token("Ola", log(0.5)),
        token("[Fully supported]", Fully=0.5, Partially=0.4, Contra=0.1),
        token("[Utility:5]", **{":5": 0.5, ":4": 0.25, ":1": 0.25}),
    )
    found = critique(Completion("", "m", tokens=tokens))
    assert (found.relevance, found.support, found.utility) == pytest.approx((0.75, 0.7, 0.5 + 0.125 - 0.25))
    assert found.likelihood == pytest.approx((0.6 * 0.5 * 0.5 * 0.5) ** 0.25)


def test_relevance_stands_first_and_the_others_where_they_were_written() -> None:
    """Support that was weighed where a word came was not said; of two places the first counts."""
    tokens = (
        Token("Ola", log(0.7), (("[Relevant]", log(0.1)), ("[Irrelevant]", log(0.1)), ("[Fully supported]", log(0.1)))),
        token("[No support / Contradictory]", Contra=1.0),
        token("[Fully supported]", Fully=1.0),
    )
    found = critique(Completion("", "m", tokens=tokens))
    assert (found.relevance, found.support, found.utility) == (0.5, 0.0, None)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[Relevant]Ola[Fully supported][Utility:5]", Critique(1.0, 1.0, 1.0, None)),
        ("[Irrelevant]Ola[Partially supported][Utility:2]", Critique(0.0, 0.5, -0.5, None)),
        ("Ola[No support / Contradictory]", Critique(None, 0.0, None, None)),
        ("Ola", Critique(None, None, None, None)),
    ],
)
def test_tokens_as_written_count_whole(text: str, found: Critique) -> None:
    """Where there are no log-probabilities."""
    assert critique(Completion(text, "m"), weighed=False) == found


def test_a_token_without_a_chance_is_no_critique() -> None:
    """Some endpoints say -9999 for what cannot be."""
    assert critique(Completion("", "m", tokens=(Token("[Relevant]", -9999.0),))).relevance is None


# The choice


def test_the_best_critique_wins_by_the_weights_of_the_script() -> None:
    """Relevance and support count whole, usefulness half, and the likelihood of the answer with them."""
    drafts = {
        "one": said("Ola", 0.9, 0.2, 0.9),
        "two": said("Vint", 0.6, 0.9, 0.1),
        "three": said("Ruhm", 0.5, 0.5, 0.5),
    }
    model = Weighing(drafts)
    found = known("one", "two", "three")
    with metered() as spent:
        answer = SelfRAG(model).generate(QUESTION, found)
    assert (answer.text, spent.degraded) == ("Ola", [])
    likelihood = exp((log(0.9) + log(0.2) + log(0.9)) / 4)
    assert answer.drafts[0].worth == pytest.approx(0.9 + 0.2 + 0.5 * (0.9 - 0.1) + likelihood)
    assert SelfRAG(model, utility=0.0).generate(QUESTION, found).text == "Vint"
    assert SelfRAG(model, support=0.0, relevance=1.0).generate(QUESTION, found).text == "Ola"


def test_an_answer_tells_from_which_drafts_its_critique_chose_it() -> None:
    """Each with its passages, its critique and its worth; the chosen one has the highest."""
    model = Weighing({"one": said("Ola", 0.6, 0.2, 0.5), "two": said("Vint", 0.9, 0.8, 0.7)})
    found = known("one", "two")
    first, second = SelfRAG(model).generate(QUESTION, found).drafts
    assert (first.text, first.passages, first.chosen) == ("Ola", ("corpus0",), False)
    assert (second.text, second.passages, second.chosen) == ("Vint", ("corpus1",), True)
    found_by = second.critique
    assert (found_by.relevance, found_by.support, found_by.utility) == pytest.approx((0.9, 0.8, 0.7 - 0.3))
    assert first.worth < second.worth


def test_in_a_closed_task_the_same_answers_add_up() -> None:
    """Two paragraphs that lead to "b" outweigh a better one that leads to "a"."""
    model = Weighing(
        {"one": said("A", 0.9, 0.9, 0.9), "two": said("B", 0.8, 0.8, 0.8), "three": said("b", 0.8, 0.8, 0.8)}
    )
    found = known("one", "two", "three")
    assert SelfRAG(model).generate(QUESTION, found).text == "A"
    assert SelfRAG(model).with_task("choice").generate(QUESTION, found).text == "B"
    assert SelfRAG(model, closed=True).with_task("qa").generate(QUESTION, found).text == "B"


def test_without_log_probabilities_the_tokens_as_written_decide_and_the_step_says_so() -> None:
    """Also where only some of the answers have them: they would not be comparable."""
    drafts = {
        "one": Completion("[Irrelevant]Ola[Utility:5]", "m"),
        "two": Completion("[Relevant]Vint[Fully supported][Utility:4]", "m", tokens=(Token("Vint", -9.0),)),
    }
    with metered() as spent:
        assert SelfRAG(Weighing(drafts)).generate(QUESTION, known("one", "two")).text == "Vint"
    assert spent.degraded == [
        "no log-probabilities came: reflection tokens count as they were written; set llm.logprobs"
    ]


def test_without_reflection_tokens_the_first_paragraph_is_answered_from_and_the_step_says_so() -> None:
    """Another model's likelihoods are no critique."""
    drafts = {
        "one": Completion("Ola", "phi", tokens=(Token("Ola", -3.0),)),
        "two": Completion("Vint", "phi", tokens=(Token("Vint", 0.0),)),
    }
    with metered() as spent:
        answer = SelfRAG(Weighing(drafts)).generate(QUESTION, known("one", "two"))
    assert (answer.text, answer.drafts) == ("Ola", ())
    assert spent.degraded == [
        "phi wrote no reflection tokens: answered from the first of 2 paragraphs; is it a model of Self-RAG, and does "
        "its server show special tokens?"
    ]


@pytest.mark.parametrize(("chance", "text", "calls"), [(0.3, "Ola", 3), (0.2, "Vint", 2), (0.1, "Vint", 2)])
def test_a_model_that_hardly_wants_to_retrieve_answers_from_memory(chance: float, text: str, calls: int) -> None:
    """Where its chance of [Retrieval] does not exceed the threshold."""
    wants = Completion("", "m", tokens=(Token("[Retrieval]", log(chance), (("[No Retrieval]", log(1 - chance)),)),))
    model = Weighing({"<paragraph>": said("Ola", 0.5, 0.5, 0.5), "[No": Completion("Vint", "m"), "": wants})
    answer = SelfRAG(model, threshold=0.2).generate(QUESTION, known("one", "two"))
    assert (answer.text, len(model.asked)) == (text, calls)


def test_an_answer_that_was_cut_says_so() -> None:
    with metered() as spent:
        assert (
            SelfRAG(Scripted(["[Relevant]one two three"]), max_tokens=2).generate(QUESTION, known("x")).text
            == "one two"
        )
    assert spent.degraded == ["cut off after 2 tokens; raise generator.max_tokens"]


def test_options_that_there_are_not_are_refused() -> None:
    """Before anything is asked."""
    assert [*option_faults("generator 'self_rag'", SelfRAG, {"paragraphs": "two"}, ("llm",))]
    with pytest.raises(ConfigError, match="qaa"):
        SelfRAG(Scripted(["x"]), prompt="qaa")
