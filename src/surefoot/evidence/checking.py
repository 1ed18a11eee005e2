"""Holds a draft against the kept evidence: sentence by sentence while a model writes it, and whole at its end."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from surefoot.evidence.citations import Check, carries, grounded, statements
from surefoot.evidence.markers import MARKER, normalised
from surefoot.run import cancel
from surefoot.run.recorder import Recorder
from surefoot.text.words import WORD
from surefoot.types import Answer, Assertion, Passage, Support
from surefoot.types.errors import ComponentError
from surefoot.types.protocols import Generator, Knowledge, Verifier

BEGUN = 2
"""Words from which a sentence that is being written is one, and no belated citation of the sentence before it."""


@dataclass
class Checking:
    """The check of one question's drafts; each assertion is verified once, however often it is met."""

    run: Recorder
    verifier: Verifier
    knowledge: Knowledge
    check: Check
    _written: str = ""
    _passed_on: str = ""
    _failed: bool = False
    _verdicts: dict[Assertion, Support] = field(default_factory=dict)

    def add(self, piece: str) -> None:
        """Take the next piece of a draft, and pass on its whole sentences as the check leaves them, from the first that
        stands on a source. Where the verifier fails all waits for the end. Raises Cancelled."""
        cancel.check()
        self._written += piece
        whole = "" if self._failed else settled(self._written)
        if len(whole) <= len(self._passed_on):
            return
        try:
            checked = grounded(self.run.standalone, Answer(whole), self.knowledge, self._judged, self.check).text
        except ComponentError:
            self._failed = True
            return
        if len(checked) > len(self._passed_on) and checked.startswith(self._passed_on):
            self.run.text(checked[len(self._passed_on) :])
            self._passed_on = checked

    def held(self, draft: Answer) -> Answer:
        """The draft as the check leaves it, or a refusal that withholds it."""
        checked = grounded(self.run.standalone, draft, self.knowledge, self._verified, self.check)
        return replace(checked, worded=not draft.citations)

    def quoted(self, quoting: Generator | None, instead: str) -> Answer | None:
        """What the generator quotes of the knowledge, as the check leaves it; None: there is none, or it failed."""
        if quoting is None or not self.knowledge:
            return None
        inputs = self.run.standalone, self.knowledge
        quotation = self.run.step("quote", quoting.generate, *inputs, fallback=None, instead=instead)
        answer = self.held(quotation) if quotation else None
        return None if answer is None or answer.refused else answer

    def confirms(self, quotation: Answer, answer: Answer) -> bool:
        """False if the verifier finds a statement of the answer that the quotation does not carry."""
        place, text = MARKER.sub("", quotation.body).replace("**", ""), MARKER.sub("", answer.body)
        every = [text[slice(*each)] for each in statements(text)]
        evidence = (Passage("quotation", place),)
        verdicts = self._verified([Assertion(one, evidence, self.run.standalone) for one in every if WORD.search(one)])
        return all(carries(verdict) is not False for verdict in verdicts)

    def _verified(self, assertions: Sequence[Assertion]) -> tuple[Support, ...]:
        unchecked = tuple(Support(None, None, reason="the verifier failed") for _ in assertions)
        instead = "nothing was checked for support"
        return self.run.step("verify", self._judged, assertions, fallback=unchecked, instead=instead)

    def _judged(self, assertions: Sequence[Assertion]) -> tuple[Support, ...]:
        if new := [one for one in dict.fromkeys(assertions) if one not in self._verdicts]:
            self._verdicts |= zip(new, self.verifier.support(new), strict=True)
        return tuple(self._verdicts[one] for one in assertions)


def settled(written: str) -> str:
    """The sentences of a growing draft that no further word can change, its markers in their places: those before one
    that has begun in words."""
    text = normalised(written)
    ranges = statements(text)
    begun = len(ranges) > 1 and len(WORD.findall(MARKER.sub("", text[slice(*ranges[-1])]))) > BEGUN
    return text[: ranges[-2][1]] if begun else ""
