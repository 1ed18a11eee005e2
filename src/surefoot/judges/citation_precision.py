"""Citation precision (ALCE): the share of the answer's citations that its statements need."""

from typing import ClassVar

from surefoot.judges._citations import cited
from surefoot.judges._diamond import built_in
from surefoot.judges._scores import scored
from surefoot.judges._support import carries, plainly
from surefoot.types import Metric, Passage, Record, Score
from surefoot.types.protocols import Verifier


class CitationPrecision:
    """The share of the answer's citations by [n] that its statements need, by the verifier.

    A statement needs a citation where it is carried, and this source carries it alone or the others that it cites do
    not (Gao et al. 2023, section 3). Cost: a sentence to verify a statement, and two more for each source of one that
    cites several.
    """

    about: ClassVar[Metric] = built_in()["citation_precision"]
    name = metric = about.name

    def __init__(self, verifier: Verifier) -> None:
        self.verifier = verifier

    def judge(self, record: Record) -> Score:
        """The record's score; it applies where there are contexts and an answer that cites one."""
        found = cited(self, record, self.verifier)
        if isinstance(found, Score):
            return found
        pairs: list[tuple[str, tuple[Passage, ...]]] = []
        for one in found:
            if one.carried and len(one.sources) > 1:
                for place, source in enumerate(one.sources):
                    rest = (*one.sources[:place], *one.sources[place + 1 :])
                    pairs += [(one.text, tuple(filter(None, several))) for several in ((source,), rest)]
        verdicts = carries(self, record, self.verifier, [pair for pair in pairs if pair[1]])
        if isinstance(verdicts, Score):
            return verdicts
        known = iter(verdicts)
        carried = [bool(evidence) and next(known) for _, evidence in pairs]
        needed = sum(alone or not rest for alone, rest in zip(carried[::2], carried[1::2], strict=True))
        needed += sum(one.carried for one in found if len(one.sources) == 1)
        every = sum(len(one.sources) for one in found)
        wrong = next((plainly(one.text) for one in found if one.sources and not one.carried), "")
        reason = f"{needed} of {every} citations are needed"
        reason += f"; “{wrong}” is not carried by what it cites" if wrong else ""
        return scored(self, record, needed / every, reason)
