"""Surefoot's own evaluator: how it reads, what it says of what it read, and that a score is the pair's alone."""

import hashlib
import json
import math
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from surefoot.evaluators.minilm import LONGEST_SPAN, WINDOW, MiniLM, Pieces, encode, pointed, windows
from surefoot.models.cross_encoder import CLS, SEP, tokenizer
from surefoot.types import Grade, Passage
from surefoot.types.errors import ModelError
from surefoot.types.protocols import Pair

QUESTION = "Who built the Ruvel Bridge?"
TEXTS = (
    "The Ruvel Bridge was built in 1911 by Tomas Aldwin.",
    "Tomas Aldwin built it.",
    "Grate the cheese, add flour and eggs, and boil the dumplings.",
    "The bridge is closed. " * 40,
    "Ruvel",
    "The hut stands at 2,214 metres; its keeper is called Josef, and the path to it is steep. " * 30,
)
PAIRS: list[Pair] = [(QUESTION, Passage(str(n), text, "Bridge" * (n % 2))) for n, text in enumerate(TEXTS)]
PAIRS += [("What is of iron?", PAIRS[0][1])]
TOKENIZER = tokenizer()


@pytest.fixture(params=["tiny", "shipped"])
def model(request: pytest.FixtureRequest) -> str | None:
    """A model that the tests make, where torch is there to make it; and the one that ships."""
    return str(request.getfixturevalue("tiny_minilm")) if request.param == "tiny" else None


@pytest.fixture
def evaluator(model: str | None) -> MiniLM:
    return MiniLM(model, threads=1)


def grade(evaluator: MiniLM, text: str, question: str = QUESTION, title: str = "") -> Grade:
    return evaluator.grade([(question, Passage("1", text, title))])[0]


def read(text: str, question: str = QUESTION, title: str = "") -> Pieces:
    return encode(TOKENIZER, [(question, title, text)])[0]


# A score is the pair's alone


@pytest.mark.parametrize("threads", [1, 4])
def test_a_score_does_not_depend_on_what_it_was_scored_with(model: str | None, threads: int) -> None:
    """To the last bit: alone, all at once, in any order, more than once, on one thread and on four."""
    alone = [MiniLM(model, threads=1).grade([pair])[0] for pair in PAIRS]
    chance = random.Random(threads)
    for _ in range(3):
        chosen = chance.choices(range(len(PAIRS)), k=9)
        cut = chance.randint(0, 9)
        evaluator = MiniLM(model, threads)
        grades = [g for part in (chosen[:cut], chosen[cut:]) for g in evaluator.grade([PAIRS[i] for i in part])]
        assert grades == [alone[i] for i in chosen]


@pytest.mark.slow
def test_many_threads_share_one_evaluator(model: str | None) -> None:
    """All ask at once, of an evaluator that has not loaded its model yet, and get what each would get alone."""
    alone = MiniLM(model).grade(PAIRS)
    shared, gate = MiniLM(model, threads=2), Barrier(8)

    def ask(number: int) -> tuple[Grade, ...]:
        gate.wait()
        return shared.grade(PAIRS[number % 3 :])

    with ThreadPoolExecutor(8) as pool:
        for number, grades in enumerate(pool.map(ask, range(8))):
            assert grades == alone[number % 3 :]


# What a grade says


@pytest.mark.parametrize("nothing", ["", "  \n\t", "\x00\x01"])
def test_what_is_empty_cannot_be_graded(evaluator: MiniLM, nothing: str) -> None:
    """Without a word to read there is no score, which is not a low one; a title alone is no passage."""
    empty = grade(evaluator, nothing, title="Ruvel Bridge")
    assert (empty.score, empty.probability, empty.reason) == (None, None, "the passage is empty")
    unasked = grade(evaluator, TEXTS[0], nothing)
    assert (unasked.score, unasked.probability, unasked.reason) == (None, None, "the question is empty")


def test_a_span_is_a_slice_of_the_passage(evaluator: MiniLM) -> None:
    """And the reason quotes it."""
    for (_, passage), found in zip(PAIRS, evaluator.grade(PAIRS), strict=True):
        if found.span:
            start, end = found.span
            assert 0 <= start < end <= len(passage.text)
            assert f"points at “{passage.text[start:end]}”" in found.reason
        else:
            assert found.reason.startswith("points at no answer")


def test_probability_rises_with_the_score(evaluator: MiniLM) -> None:
    """It is read off a rising line."""
    grades = sorted(evaluator.grade(PAIRS), key=lambda g: g.score or 0.0)
    chances = [g.probability for g in grades]
    assert None not in chances
    assert chances == sorted(chances, key=lambda chance: chance or 0.0)


@pytest.mark.parametrize(
    ("question", "text", "doubted"),
    [
        (QUESTION, "Мост Рувел построил Томас Алдвин.", ["passage"]),
        (QUESTION, "鲁韦尔桥建于1911年", ["passage"]),
        ("谁建的桥？", TEXTS[0], ["question"]),
        ("谁建的桥？", "桥", ["question", "passage"]),
        (QUESTION, "Le pont fut bâti à Çeşme", []),
        (QUESTION, "1911", []),
    ],
)
def test_another_script_is_graded_and_the_reason_says_so(
    evaluator: MiniLM, question: str, text: str, doubted: list[str]
) -> None:
    """It learned from English; numbers are of no script."""
    found = grade(evaluator, text, question)
    assert found.score is not None
    said = [what for what in ("question", "passage") if f"the {what} is not in Latin script" in found.reason]
    assert said == doubted


# Long passages


@pytest.mark.parametrize("model", ["tiny", pytest.param("shipped", marks=pytest.mark.slow)], indirect=True)
def test_a_long_passage_is_graded_by_its_best_window(evaluator: MiniLM) -> None:
    """100,000 characters; the answer deep inside is found by a window that holds it, and the span lies in that."""
    filler = "Grate the cheese, add flour and eggs, and boil the dumplings in salted water. " * 1300
    text = f"{filler[:70_000]} {TEXTS[0]} {filler[70_000:]}"
    assert len(text) > 100_000
    found, plain = grade(evaluator, text), grade(evaluator, filler)
    assert found.score is not None
    assert plain.score is not None
    assert found.score > plain.score
    assert found.window is not None
    assert TEXTS[0] in text[slice(*found.window)]
    assert found.span is None or found.window[0] <= found.span[0] < found.span[1] <= found.window[1]


words = st.text("abcdefgh ß桥1.,", min_size=0, max_size=12)


@given(st.integers(1, 1500), words, words)
def test_windows_leave_nothing_unread(count: int, question: str, title: str) -> None:
    """Each fits, keeps question and title, and shares a quarter with the one before; together they are all pieces."""
    pieces = read("iron " * count, question, title)
    room = WINDOW - pieces.first - 1
    seen: set[tuple[int, int]] = set()
    parts = list(windows(pieces))
    for part, window in parts:
        assert len(part.ids) == len(part.sides) <= WINDOW
        assert part.ids[: part.first] == pieces.ids[: pieces.first]
        assert part.ids[-1] == SEP
        assert len(part.offsets) == len(part.ids) - part.first - 1
        assert seen.isdisjoint(part.offsets) == (not seen)
        seen |= set(part.offsets)
        assert window == ((part.offsets[0][0], part.offsets[-1][1]) if count > room else None)
    assert seen == set(pieces.offsets)
    assert len(parts) == 1 + math.ceil(max(0, count - room) / (room - room // 4))


# Pieces and spans


def test_the_network_reads_question_title_and_text() -> None:
    """With BERT's marks between them, and without room for a title that is not there."""
    pieces = read("It is of iron.", "Who is it?", "Bridge")
    marks = [i for i, piece in enumerate(pieces.ids) if piece in (CLS, SEP)]
    assert marks == [0, 5, 7, 13]
    assert pieces.sides == [0] * 6 + [1] * 8
    assert (pieces.first, pieces.cut) == (8, False)
    assert pieces.offsets == [(0, 2), (3, 5), (6, 8), (9, 13), (13, 14)]
    assert read("It is of iron.", "Who is it?").first == 6


def test_a_mark_that_stands_in_a_text_is_text() -> None:
    """A passage that holds "[SEP]" does not end there, nor does one that holds "[PAD]" vanish."""
    pieces = read("iron [SEP] [CLS] [PAD] iron", "who [SEP]", "[SEP]")
    assert pieces.ids.count(SEP) == 3
    assert pieces.ids.count(CLS) == 1
    assert 0 not in pieces.ids


evidence = st.lists(st.integers(-9, 9), min_size=2, max_size=80).map(
    lambda numbers: np.array(numbers[: len(numbers) // 2 * 2], np.float32).reshape(-1, 2)
)


@given(evidence, st.integers(-5, 5), st.lists(st.booleans(), min_size=40, max_size=40))
def test_the_best_span_is_pointed_at(scores: Any, margin: int, begins: list[bool]) -> None:
    """The best of whole words that is short enough, by trying each; none when "no answer" comes within the margin."""
    offsets = [(3 * i, 3 * i + 2) for i in range(len(scores))]
    words: list[int | None] = [sum(begins[1 : i + 1]) for i in range(len(scores))]
    pieces = Pieces([CLS, 7, SEP, *range(200, 200 + len(scores)), SEP], [], 3, offsets, words, cut=False)
    nothing = np.array([[1.0, 2.0], [50, 50], [50, 50]], np.float32)
    found = pointed(np.concatenate([nothing, scores, [[50, 50]]]).astype(np.float32), pieces, margin)
    spans = {
        (offsets[a][0], offsets[b][1]): scores[a, 0] + scores[b, 1]
        for a in range(len(scores))
        for b in range(a, min(len(scores), a + LONGEST_SPAN))
        if words[a] not in words[:a] and words[b] not in words[b + 1 :]
    }
    best = max(spans.values())
    assert (found is None) == (best - 3 <= margin)
    assert found is None or spans[found] == best


@given(st.text(min_size=1, max_size=60), st.integers(0, 2**32 - 1))
def test_a_span_of_any_text_is_a_slice_of_it(text: str, seed: int) -> None:
    """Of the characters that it has, in any script, and never an empty one."""
    pieces = read(text)
    logits = np.random.default_rng(seed).normal(size=(len(pieces.ids), 2)).astype(np.float32)
    found = pointed(logits, pieces, -math.inf)
    assert (found is None) == (not pieces.offsets)
    if found:
        assert 0 <= found[0] < found[1] <= len(text)


# What can be wrong with a model


@pytest.mark.parametrize(
    ("relevance", "evidence"), [(math.nan, 0.0), (math.inf, 0.0), (-math.inf, 0.0), (1.0, math.nan), (1.0, math.inf)]
)
def test_a_model_that_returns_no_number_has_not_graded(relevance: float, evidence: float) -> None:
    """Neither a score nor a span is made of it; the reason says what came."""

    def run(ids: list[int], sides: list[int]) -> tuple[Any, Any]:
        return np.array([relevance]), np.full((1, len(ids), 2), evidence)

    evaluator = MiniLM()
    evaluator._model.run = run  # type: ignore[method-assign]
    found = grade(evaluator, TEXTS[3] * 3)
    assert (found.score, found.probability, found.span) == (None, None, None)
    assert found.reason in ("the evaluator returned nan", "the evaluator returned inf", "the evaluator returned -inf")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with what is no model, and a card that vouches for it."""
    card = {
        "format": 1,
        "sha256": hashlib.sha256(b"not a model").hexdigest(),
        "calibration": {"logits": [0.0, 2.0], "probabilities": [0.0, 1.0]},
        "evidence": {"margin": 0.0},
        "thresholds": {"upper": 1.0, "lower": 0.0, "strip": 0.0, "fitted_on": "nothing"},
    }
    (tmp_path / "minilm.onnx").write_bytes(b"not a model")
    (tmp_path / "minilm.json").write_text(json.dumps(card))
    return tmp_path


def fault(folder: Path) -> str:
    """What is said of the model in a folder, which must be one line with the way out."""
    with pytest.raises(ModelError) as raised:
        grade(MiniLM(str(folder)), TEXTS[0])
    said = str(raised.value)
    assert said.endswith("reinstall surefoot, or train again: surefoot lab train evaluator")
    assert "\n" not in said
    return said


def test_a_truncated_model_is_not_loaded(folder: Path) -> None:
    """The card knows its hash; nor is what is no model at all."""
    assert "does not load" in fault(folder)
    (folder / "minilm.onnx").write_bytes(b"not a mode")
    assert f"{folder / 'minilm.onnx'} is not the one that minilm.json was made for" in fault(folder)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"format": 2}, "is of format 2, and this version reads 1"),
        ({"sha256": None}, "cannot be read"),
        ({"thresholds": {"upper": 1}}, "cannot be read"),
        ({"thresholds": {"upper": 1, "lower": 2, "strip": 0}}, "cannot be read: the fitted lower 2 lies above upper 1"),
        ({"thresholds": {"upper": math.nan, "lower": 0, "strip": 0}}, "NaN is no number"),
        ({"thresholds": {"upper": "1", "lower": 0, "strip": 0}}, "thresholds must be finite numbers"),
        ({"evidence": {"margin": math.nan}}, "NaN is no number"),
        ({"evidence": {"margin": "1"}}, "the margin must be a number, not '1'"),
        ({"calibration": {"logits": [1, 0], "probabilities": [0, 1]}}, "needs ascending scores"),
        ({"calibration": {"logits": [0, 1], "probabilities": [0, 2]}}, "needs ascending scores"),
        ({"evidence": {}}, "has no 'margin'"),
    ],
)
def test_a_card_that_does_not_fit_is_refused(folder: Path, changed: dict[str, Any], said: str) -> None:
    """Of another version, or with values that mean nothing."""
    card = json.loads((folder / "minilm.json").read_text())
    (folder / "minilm.json").write_text(json.dumps({**card, **changed}))
    assert said in fault(folder)
