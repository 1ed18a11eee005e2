"""Surefoot's own graders on other machines: `surefoot serve` on each, and one of its own where none answers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from surefoot.evaluators.minilm import MiniLM
from surefoot.network import Network
from surefoot.network.endpoint import JsonEndpoint
from surefoot.network.nodes import Nodes
from surefoot.run import meter
from surefoot.run.fair_pool import FairPool
from surefoot.run.store import from_json
from surefoot.text.words import encodable
from surefoot.types import Grade, Passage, Thresholds
from surefoot.types.errors import ConfigError, EndpointError, TraceFault
from surefoot.types.protocols import Evaluator, Pair, languages_of, returns_spans
from surefoot.types.ranges import Count

_MOST_CHARACTERS = 100_000
"""Characters of a request, half of those that a server takes."""
_ENVELOPE, _PER_PASSAGE = 1 << 16, 1 << 12
"""Most bytes of an answer, and more for each passage: its reason quotes a span."""
_SIDE_BY_SIDE = 4
"""Requests to a node at a time: two that it works on, by default, and two that are on their way."""


class Remote:
    """The grades of another evaluator, `of` (None: `minilm`), from servers that have it too: equal to those made here.

    `base_url` lists what stands before `/grade` of each `surefoot serve`, such as `http://10.0.0.5:8710/v1`. A
    question's passages are spread over them, `batch` at most to a request; `Nodes` says how, and what becomes of a
    server that fails. One whose evaluator has another name, so other weights, refuses. What no server grades is graded
    here, and the step says so. Name, thresholds, spans and languages are those of `of`, whose model is not loaded
    before that. Titles and texts of passages leave this machine. `key_env` names the environment variable of the key,
    which goes to each of `base_url`; it may be unset. `timeout` is how many seconds a server may stay silent.
    """

    def __init__(
        self,
        base_url: Sequence[str],
        of: Evaluator | None = None,
        key_env: str = "SUREFOOT_KEY",
        batch: Count = 16,
        timeout: float = 20.0,
        network: Network | None = None,
    ) -> None:
        if not base_url:
            raise ConfigError("base_url lists no server; write it like ['http://10.0.0.5:8710/v1']")
        self._own = of or MiniLM()
        self.name = self._own.name
        self.returns_spans, self.languages = returns_spans(self._own), languages_of(self._own)
        self._nodes = Nodes([JsonEndpoint(self.name, one, key_env, timeout, 0, network) for one in base_url])
        self._pool = FairPool(_SIDE_BY_SIDE * len(base_url), "remote")
        self._servers, self._batch = len(base_url), batch

    @property
    def thresholds(self) -> Thresholds:
        """Those of `of`; raises what it raises where it has none."""
        return self._own.thresholds

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """One grade a pair. Raises what `of` raises, where it has to grade."""
        batches = [*self._batches(pairs)]
        answers = self._pool.each(self._graded, [([pairs[n] for n in batch],) for batch in batches])
        grades: dict[int, Grade] = {}
        for batch, answer in zip(batches, answers, strict=True):
            if not isinstance(answer, str):
                grades |= zip(batch, answer, strict=True)
        meter.count(graded=len(grades))
        if left := [n for n in range(len(pairs)) if n not in grades]:
            why = next(answer for answer in answers if isinstance(answer, str))
            meter.degrade(f"{len(left)} of {len(pairs)} passages were graded on this machine: {why}")
            grades |= zip(left, self._own.grade([pairs[n] for n in left]), strict=True)
        return tuple(grades[n] for n in range(len(pairs)))

    def _batches(self, pairs: Sequence[Pair]) -> Iterator[list[int]]:
        """Numbers of pairs of one question: a share for each server, and no more than a request may hold."""
        of_question: dict[str, list[int]] = {}
        for n, (question, _) in enumerate(pairs):
            of_question.setdefault(question, []).append(n)
        for numbers in of_question.values():
            most = min(self._batch, -(-len(numbers) // self._servers))
            batch, room = list[int](), _MOST_CHARACTERS
            for n in numbers:
                if batch and (len(batch) >= most or room < _size(pairs[n][1])):
                    yield batch
                    batch, room = [], _MOST_CHARACTERS
                batch.append(n)
                room -= _size(pairs[n][1])
            yield batch

    def _graded(self, pairs: Sequence[Pair]) -> tuple[Grade, ...] | str:
        """The grades of pairs of one question; or the reason why no server gave them."""
        passages = [passage for _, passage in pairs]
        texts = [{"title": encodable(one.title), "text": encodable(one.text)} for one in passages]
        request = {"evaluator": self.name, "question": encodable(pairs[0][0]), "passages": texts}
        most = _ENVELOPE + len(texts) * _PER_PASSAGE

        def work(endpoint: JsonEndpoint) -> tuple[Grade, ...]:
            sent = endpoint.json("grade", most, request)
            try:
                return _read(sent, passages)
            except (TypeError, KeyError, ValueError, TraceFault) as error:
                raise endpoint.nonsense(f"no grade for each of {len(texts)} passages: {error}", sent) from error

        try:
            return self._nodes.first(work, sum(map(_size, passages)) + len(texts))
        except EndpointError as error:
            return str(error)


def _read(sent: Any, passages: Sequence[Passage]) -> tuple[Grade, ...]:
    """The grades of an answer, with the ids of the passages. Raises ValueError and its like for what is none."""
    grades = from_json(tuple[Grade, ...], sent["grades"])
    for grade, passage in zip(grades, passages, strict=True):
        ranges = [one for one in (grade.span, grade.window) if one]
        if not all(0 <= start <= end <= len(passage.text) for start, end in ranges):
            raise ValueError(f"it points at {ranges} of {len(passage.text)} characters")
        if grade.probability is not None and not 0 <= grade.probability <= 1:
            raise ValueError(f"the probability {grade.probability}")
        if grade.score is None and not grade.reason:
            raise ValueError("no score, and no reason")
    return tuple(replace(one, passage_id=passage.id) for one, passage in zip(grades, passages, strict=True))


def _size(passage: Passage) -> int:
    return len(passage.title) + len(passage.text)
