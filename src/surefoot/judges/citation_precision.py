"""Citation precision (ALCE): the share of the answer's citations that its statements need."""

from surefoot.judges._citations import cited
from surefoot.judges._diamond import built_in
from surefoot.judges._scores import Finding
from surefoot.judges._support import VerifierJudge, carries, plainly
from surefoot.types import Passage, Record


class CitationPrecision(VerifierJudge):
    """The share of the answer's citations by [n] that its statements need, by the verifier.

    A statement needs a citation where it is carried, and this source carries it alone or the others that it cites do
    not (Gao et al. 2023, section 3). Cost: a sentence to verify a statement, and two more for each source of one that
    cites several.
    """

    about = built_in()["citation_precision"]

    def find(self, record: Record) -> Finding:
        """It applies where the answer cites a context."""
        found = cited(self.verifier, record)
        pairs: list[tuple[str, tuple[Passage, ...]]] = []
        for one in found:
            if one.carried and len(one.sources) > 1:
                for place, source in enumerate(one.sources):
                    rest = (*one.sources[:place], *one.sources[place + 1 :])
                    pairs += [(one.text, tuple(filter(None, several))) for several in ((source,), rest)]
        known = iter(carries(self.verifier, record, [pair for pair in pairs if pair[1]]))
        carried = [bool(evidence) and next(known) for _, evidence in pairs]
        needed = sum(alone or not rest for alone, rest in zip(carried[::2], carried[1::2], strict=True))
        needed += sum(one.carried for one in found if len(one.sources) == 1)
        every = sum(len(one.sources) for one in found)
        wrong = next((plainly(one.text) for one in found if one.sources and not one.carried), "")
        reason = f"{needed} of {every} citations are needed"
        reason += f"; “{wrong}” is not carried by what it cites" if wrong else ""
        return Finding(needed / every, reason)
