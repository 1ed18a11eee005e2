"""Any checkpoint of Hugging Face that holds a claim against a text: inference, groundedness, or marks on single words.

By its own configuration, never by its name: a sequence classifier with a label that says entailment or support (forms
of NLI, MiniCheck), one with a single label, whose logit is support (HHEM), or a token classifier with a label for words
that nothing carries (LettuceDetect).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from tokenizers import Encoding

from surefoot.models.checkpoint import Checkpoint, check_batch, opened
from surefoot.network import Network
from surefoot.types import Assertion, Support
from surefoot.types.errors import ConfigError, ModelError
from surefoot.verifiers._evidence import text_of, unjudged

CARRIED = frozenset(
    "entailment entails entailed supported supports support consistent faithful grounded factual".split()
)
"""Names of labels, in lower case, that say that the text carries the claim."""
MADE_UP = frozenset("hallucinated hallucination unsupported ungrounded".split())
"""Names of labels of single words that say that nothing carries them."""
HALF = 0.5
"""Probability from which a claim is supported, or a word is not."""
_LEAST = 8
"""Pieces of the evidence that a window must have room for."""


class NLIVerifier:
    """A cross-encoder's probability that the evidence carries the sentence; supported from 0.5 on.

    `model` is a folder, or a name on the hub, fetched once over `network` (None: one without restrictions). `label` is
    the one that says that the claim is carried (of a token classifier, that a word is not): its name or its number,
    which is needed where the checkpoint calls its labels LABEL_0 and so on. Evidence too long for `max_pieces` is read
    in windows that overlap by a quarter: the best one counts, and a word is unsupported if it is in every window. The
    probability is the model's own, calibrated on nothing here. `device` None takes a GPU that is there.
    """

    def __init__(
        self,
        model: str,
        label: str | int | None = None,
        max_pieces: int = 512,
        device: str | None = None,
        network: Network | None = None,
    ) -> None:
        check_batch(1, max_pieces)
        self._points = _points(model)
        make = "AutoModelForTokenClassification" if self._points else "AutoModelForSequenceClassification"
        self._checkpoint = opened(make, model, device=device, network=network)
        self._label = _label(self._checkpoint, label, MADE_UP if self._points else CARRIED)
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
        if self._points:
            return self._by_words(assertion, claim, inputs, rows)
        chances = [_share(row, self._label) for row in rows]
        if not all(map(math.isfinite, chances)):
            return Support(None, None, (), "the model returned no number", self.name)
        best = max(chances)
        why = "" if best >= HALF else "the model does not find it in the evidence"
        return Support(best, best >= HALF, (), why, self.name)

    def _by_words(
        self, assertion: Assertion, claim: Encoding, inputs: Sequence[Encoding], rows: Sequence[Sequence[object]]
    ) -> Support:
        """By the least chance over the windows that a piece is made up; the claim's chance is that of its worst."""
        least = [1.0] * len(claim.ids)
        for window, row in zip(inputs, rows, strict=True):
            own = [place for place, part in enumerate(window.sequence_ids) if part == 1]
            chances = [_share(row[place], self._label) for place in own]  # type: ignore[arg-type]
            if not all(map(math.isfinite, chances)):
                return Support(None, None, (), "the model returned no number", self.name)
            least = [min(pair) for pair in zip(least, chances, strict=True)]
        spans = _joined([span for span, chance in zip(claim.offsets, least, strict=True) if chance >= HALF])
        words = ", ".join(f"“{assertion.text[a:b]}”" for a, b in spans)
        why = f"the evidence does not carry {words}" if spans else ""
        return Support(1 - max(least), not spans, spans, why, self.name)


def _joined(spans: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The places, of which those that touch, or have one space between them, are one."""
    found: list[tuple[int, int]] = []
    for start, end in spans:
        if found and start <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return tuple(found)


def _share(logits: Sequence[float], label: int) -> float:
    """The label's share of all labels, or, of a single one, its logistic."""
    if len(logits) == 1:
        return 1 / (1 + math.exp(-max(logits[0], -700)))
    top = max(logits)
    shares = [math.exp(logit - top) for logit in logits]
    return shares[label] / sum(shares)


def _points(model: str) -> bool:
    """Whether the checkpoint marks single words, by its configuration; one that is not on this machine does not."""
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(model, local_files_only=True, trust_remote_code=False)  # nosec B615 # local
        made = config.architectures or [""]
    except (OSError, ValueError):
        return False
    return str(made[0]).endswith("ForTokenClassification")


def _label(checkpoint: Checkpoint, label: str | int | None, known: frozenset[str]) -> int:
    if missing := sorted(checkpoint.lacking | checkpoint.misshapen):
        raise ModelError(
            f"{checkpoint.source} is no trained classifier: its weights lack {missing[0]}; give one that is"
        )
    names: Mapping[int, str] = checkpoint.model.config.id2label
    if len(names) == 1:
        return 0
    wanted = known if label is None else {str(label).lower()}
    found = [number for number, name in names.items() if name.lower() in wanted or (label == number)]
    if len(found) != 1:
        there = ", ".join(f"{number}: {name}" for number, name in sorted(names.items()))
        raise ConfigError(f"say which label of {checkpoint.source} counts: label = one of {there}")
    return int(found[0])
