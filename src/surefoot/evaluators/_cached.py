"""A cache around an evaluator."""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock

from surefoot.evidence.policies import finite
from surefoot.run import meter
from surefoot.types import Grade, Passage, Thresholds
from surefoot.types.errors import ComponentError
from surefoot.types.protocols import Evaluator, Pair, languages_of, returns_spans

REMEMBERED = 20_000
"""Grades kept, the latest used: a strip may be a whole passage, and a question may come again."""


class CachedEvaluator:
    """Another evaluator's grades, each asked for once: the latest `most` are kept, and count as `cached`.

    Two pairs are the same when only the passages' ids differ. One that could not be graded is asked for again.
    """

    def __init__(self, evaluator: Evaluator, most: int = REMEMBERED) -> None:
        self.inner = evaluator
        self.most = most
        self.name = evaluator.name
        self.returns_spans = returns_spans(evaluator)
        self.languages = languages_of(evaluator)
        self._known: OrderedDict[bytes, Grade] = OrderedDict()
        self._lock = Lock()

    @property
    def thresholds(self) -> Thresholds:
        """The inner one's; raises what it raises where it has none."""
        return self.inner.thresholds

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """One grade a pair, in order; the inner evaluator gets each new pair once. Raises what it raises."""
        keys = [_key(*pair) for pair in pairs]
        known = self._recalled(keys)
        fresh = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in known}
        meter.count(graded=len(pairs) - len(fresh), cached=len(pairs) - len(fresh))
        found = known | (self._graded(fresh) if fresh else {})
        return tuple(replace(found[key], passage_id=p.id) for key, (_, p) in zip(keys, pairs, strict=True))

    def _recalled(self, keys: Sequence[bytes]) -> dict[bytes, Grade]:
        with self._lock:
            known = {key: self._known[key] for key in keys if key in self._known}
            for key in known:
                self._known.move_to_end(key)
        return known

    def _graded(self, fresh: Mapping[bytes, Pair]) -> dict[bytes, Grade]:
        grades = self.inner.grade(list(fresh.values()))
        if len(grades) != len(fresh):
            raise ComponentError(f"{self.name} gave {len(grades)} grades for {len(fresh)} passages")
        found = dict(zip(fresh, grades, strict=True))
        with self._lock:
            self._known.update({key: grade for key, grade in found.items() if finite(grade).score is not None})
            while len(self._known) > self.most:
                self._known.popitem(last=False)
        return found


def _key(question: str, passage: Passage) -> bytes:
    # The whole passage: an evaluator may read its address or its score. And not the texts themselves: 20,000
    # of 100,000 characters would be kept.
    return hashlib.blake2b(repr((question, replace(passage, id=""))).encode(), digest_size=16).digest()
