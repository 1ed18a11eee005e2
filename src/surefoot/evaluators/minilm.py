"""Surefoot's own evaluator: a cross-encoder of six layers that reads question and passage together.

minilm.onnx is what `surefoot lab train evaluator` made, minilm.json what was fitted for it, and minilm.md is their
model card.
"""

import itertools
import math
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from tokenizers import Encoding, Tokenizer

from surefoot.evidence.policies import finite, fitted_for
from surefoot.models.cross_encoder import CLS, SEP, LoadedModel, Logits, encoded, in_latin_script
from surefoot.run import meter
from surefoot.types import Grade
from surefoot.types.protocols import Pair

QUESTION_PIECES = 64
"""Word pieces read of a question; a longer one loses its end, and the grade says so."""
TITLE_PIECES = 32
"""Word pieces read of a title."""
WINDOW = 256
"""Pieces read at once; a longer text is read in windows that share a quarter."""
LONGEST_SPAN = 30
"""Most pieces of a span of evidence."""

Range = tuple[int, int]
"""Start and end, in characters."""
Triple = tuple[str, str, str]
"""Question, title and text."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """A question and a text as the network reads them: [CLS] question [SEP] title [SEP] text [SEP]."""

    ids: list[int]
    sides: list[int]
    """0 for the question, 1 for title and text."""
    first: int
    """Position of the text's first piece."""
    offsets: list[Range]
    """Place in the text of each of its pieces."""
    words: list[int | None]
    """The number of the word that each piece of the text belongs to."""
    cut: bool
    """The question's end is missing."""


SpanReading = tuple[float, Range | None, Range | None]
"""The logit, which is NaN where any number of the output is, the span, and the window that was read, if it is one."""


class MiniLM:
    """A calibrated cross-encoder, made for this: grades whether a passage answers a question, and points at the words.

    `score` is its logit, `probability` the calibrated chance that the passage holds the answer, `span` the words that
    answer. A text of more than 256 word pieces is read in overlapping windows and graded by its best one. It learned
    from English text; a text in another script is graded, and the reason says so. One run a text, since in a batch an
    int8 score would depend on its neighbours; `threads` of them side by side (None: one for each core that this process
    may use). `model`: a folder that `surefoot lab train evaluator` wrote; None: the weights of the package. Cost: some
    25 ms for a passage of 100 words and a core.
    """

    returns_spans = True
    languages = ("en",)

    def __init__(self, model: str | None = None, threads: int | None = None) -> None:
        self._model = LoadedModel(Path(model or Path(__file__).parent), "evaluator", threads)
        self.name = self._model.name
        with self._model.card() as card:
            self.thresholds = fitted_for(self.name, card["thresholds"])
            self._margin = card["evidence"]["margin"]
            """By how much the best span must beat "no answer here"."""
            if not isinstance(self._margin, int | float):
                raise ValueError(f"the margin must be a number, not {self._margin!r}")

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """One grade a pair; what is empty cannot be graded. Equal pairs of a call are read once.

        Raises ModelError when the model does not load or run.
        """
        triples = [(question, p.title, p.text) for question, p in pairs]
        each = list(dict.fromkeys(triples))
        read = dict(zip(each, self._read(each), strict=True)) if each else {}
        meter.count(graded=len(pairs), cached=len(pairs) - len(each))
        return tuple(replace(read[triple], passage_id=p.id) for triple, (_, p) in zip(triples, pairs, strict=True))

    def _read(self, triples: Sequence[Triple]) -> list[Grade]:
        _, reader = self._model.loaded()
        texts = encode(reader, triples)
        cuts = [(i, *cut) for i, pieces in enumerate(texts) if not _lacking(pieces) for cut in windows(pieces)]
        cuts.sort(key=lambda cut: -len(cut[1].ids))  # the longest begin first, so that the threads end together
        read: dict[int, list[SpanReading]] = defaultdict(list)
        for (i, *_), reading in zip(cuts, self._model.pool.each(self._run, [cut[1:] for cut in cuts]), strict=True):
            read[i].append(reading)
        return [self._grade(triples[i], pieces, read[i]) for i, pieces in enumerate(texts)]

    def _run(self, pieces: Pieces, window: Range | None) -> SpanReading:
        relevance, evidence = self._model.run(pieces.ids, pieces.sides)
        if not np.isfinite(evidence).all():
            return math.nan, None, window
        return float(relevance[0]), pointed(evidence[0], pieces, self._margin), window

    def _grade(self, triple: Triple, pieces: Pieces, read: Sequence[SpanReading]) -> Grade:
        """The grade by the best window, the first of equals; its `passage_id` is still empty."""
        if lacking := _lacking(pieces):
            return Grade("", None, reason=f"the {lacking} is empty")
        logit, *ranges = max(read, key=lambda one: (not math.isfinite(one[0]), one[0]))
        if not math.isfinite(logit):
            return finite(Grade("", logit))
        span, window = (_with_marks(found, triple[2]) for found in ranges)
        reasons = [f"points at “{triple[2][slice(*span)]}”" if span else "points at no answer"]
        reasons += _doubts(triple, pieces)
        probability = self._model.calibration.probability(logit)
        return Grade("", logit, probability, reason="; ".join(reasons), span=span, window=window)


def encode(tokenizer: Tokenizer, triples: Sequence[Triple]) -> list[Pieces]:
    """Pieces of each question, title and text; nothing of the text is cut."""
    return [_pieces(*three) for three in encoded(tokenizer, triples)]


def _pieces(question: Encoding, title: Encoding, text: Encoding) -> Pieces:
    opening = [CLS, *question.ids[:QUESTION_PIECES], SEP]
    head = [*opening, *title.ids[:TITLE_PIECES], SEP] if title.ids else opening
    ids = [*head, *text.ids, SEP]
    sides = [0] * len(opening) + [1] * (len(ids) - len(opening))
    return Pieces(ids, sides, len(head), text.offsets, text.word_ids, len(question.ids) > QUESTION_PIECES)


def windows(pieces: Pieces) -> Iterator[tuple[Pieces, Range | None]]:
    """The parts of a long text that are read one by one, of one length, and as few as share a quarter of what fits;
    each with its offsets. A short text whole, with None."""
    room = WINDOW - pieces.first - 1
    shared = room // 4
    body, total = pieces.ids[pieces.first : -1], len(pieces.offsets)
    if total <= room:
        yield pieces, None
        return
    count = -(-(total - shared) // (room - shared))
    size = -(-(total - shared) // count) + shared
    for start in range(0, total - shared, size - shared):
        part = slice(start, start + size)
        ids = [*pieces.ids[: pieces.first], *body[part], SEP]
        offsets, sides = pieces.offsets[part], pieces.sides[: len(ids)]
        window = replace(pieces, ids=ids, sides=sides, offsets=offsets, words=pieces.words[part])
        yield window, (offsets[0][0], offsets[-1][1])


def pointed(evidence: Logits, pieces: Pieces, margin: float) -> Range | None:
    """Offsets of the best span of whole words, of at most `LONGEST_SPAN` pieces; None unless it beats "no answer" by
    more than `margin`. `evidence`: a row a piece, how well it begins and how well it ends the evidence; at [CLS], that
    there is none."""
    body = slice(pieces.first, pieces.first + len(pieces.offsets))
    sums = np.add.outer(evidence[body, 0], evidence[body, 1])
    if not sums.size:
        return None
    reach = np.subtract.outer(np.arange(len(sums)), np.arange(len(sums))).T
    sums[(reach < 0) | (reach >= LONGEST_SPAN)] = -np.inf
    inside = np.array([a == b is not None for a, b in itertools.pairwise(pieces.words)], bool)
    sums[1:][inside] = -np.inf
    sums[:, :-1][:, inside] = -np.inf
    first, last = divmod(int(sums.argmax()), len(sums))
    if sums[first, last] - evidence[0].sum() <= margin:
        return None
    return pieces.offsets[first][0], pieces.offsets[last][1]


def _with_marks(found: Range | None, text: str) -> Range | None:
    """With the accents of its last letter, where they are characters of their own: no piece holds them."""
    if found is None:
        return None
    start, end = found
    while end < len(text) and unicodedata.category(text[end]).startswith("M"):
        end += 1
    return start, end


def _lacking(pieces: Pieces) -> str:
    """The part without anything readable: "question", "passage" or, empty, none."""
    if pieces.ids[1] == SEP:
        return "question"
    return "" if pieces.offsets else "passage"


def _doubts(triple: Triple, pieces: Pieces) -> Iterator[str]:
    """Caveats on how this pair was read."""
    if pieces.cut:
        yield f"of the question only the first {QUESTION_PIECES} word pieces were read"
    for what, text in (("question", triple[0]), ("passage", triple[2])):
        if not in_latin_script(text):
            yield f"the {what} is not in Latin script, and the evaluator learned from English"
