"""Any sequence classifier of Hugging Face that holds a claim against a text: inference or groundedness.

By its own configuration, never by its name: it has a label that says entailment or support (forms of NLI, MiniCheck),
or a single label, whose logit is support (HHEM).
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from surefoot.models.checkpoint import Checkpoint, MaxPieces, opened
from surefoot.network import Network
from surefoot.types import Assertion, Support
from surefoot.types.errors import ConfigError, ModelError
from surefoot.verifiers._evidence import text_of, unjudged

CARRIED = frozenset(
    "entailment entails entailed supported supports support consistent faithful grounded factual".split()
)
"""Names of labels, in lower case, that say that the text carries the claim."""
HALF = 0.5
"""Probability from which a claim is supported."""
_LEAST = 8
"""Pieces of the evidence that a window must have room for."""


class NLIVerifier:
    """A cross-encoder's probability that the evidence carries the sentence; supported from 0.5 on.

    `model` is a folder, or a name on the hub, fetched once over `network` (None: one without restrictions). `label` is
    the one that says that the claim is carried, its name or its number; it is needed where the checkpoint calls its
    labels LABEL_0 and so on. Evidence too long for `max_pieces` is read in windows that overlap by a quarter, and the
    best one counts. The probability is the model's own, calibrated on nothing here. `device` None takes a GPU that is
    there.
    """

    def __init__(
        self,
        model: str,
        label: str | int | None = None,
        max_pieces: MaxPieces = 512,
        device: str | None = None,
        network: Network | None = None,
    ) -> None:
        self._checkpoint = opened("AutoModelForSequenceClassification", model, device=device, network=network)
        self._label = _label(self._checkpoint, label)
        self._max_pieces = min(max_pieces, self._checkpoint.longest)
        self.name = f"nli:{Path(model).name}-{self._checkpoint.fingerprint()}"

    def support(self, assertions: Sequence[Assertion]) -> tuple[Support, ...]:
        """One verdict for each. Raises ModelError when a run fails."""
        return tuple(unjudged(one, self.name) or self._read(one) for one in assertions)

    def _read(self, assertion: Assertion) -> Support:
        claim = self._checkpoint.pieces(assertion.text)
        room = self._max_pieces - len(claim.ids) - self._checkpoint.marks_around(pair=True)
        if room < _LEAST:
            return Support(
                None, None, (), f"it leaves no room in the {self._max_pieces} pieces read at once", self.name
            )
        whole = self._checkpoint.pieces(text_of(assertion))
        whole.truncate(room, stride=room // 4)
        inputs = [self._checkpoint.finished(window, claim) for window in (whole, *whole.overflowing)]
        rows = self._checkpoint.logits(inputs, 1)
        chances = [_share(row, self._label) for row in rows]
        if not all(map(math.isfinite, chances)):
            return Support(None, None, (), "the model returned no number", self.name)
        best = max(chances)
        why = "" if best >= HALF else "the model does not find it in the evidence"
        return Support(best, best >= HALF, (), why, self.name)


def _share(logits: Sequence[float], label: int) -> float:
    """The label's share of all labels, or, of a single one, its logistic."""
    if len(logits) == 1:
        return 1 / (1 + math.exp(-max(logits[0], -700)))
    top = max(logits)
    shares = [math.exp(logit - top) for logit in logits]
    return shares[label] / sum(shares)


def _label(checkpoint: Checkpoint, label: str | int | None) -> int:
    if missing := sorted(checkpoint.lacking | checkpoint.misshapen):
        raise ModelError(
            f"{checkpoint.source} is no trained classifier: its weights lack {missing[0]}; give one that is"
        )
    names: Mapping[int, str] = checkpoint.model.config.id2label
    if len(names) == 1:
        return 0
    wanted = CARRIED if label is None else {str(label).lower()}
    found = [number for number, name in names.items() if name.lower() in wanted or (label == number)]
    if len(found) != 1:
        there = ", ".join(f"{number}: {name}" for number, name in sorted(names.items()))
        raise ConfigError(f"say which label of {checkpoint.source} counts: label = one of {there}")
    return int(found[0])
