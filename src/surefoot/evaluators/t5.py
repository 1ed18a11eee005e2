"""The evaluator of the CRAG paper: a T5 that was fine-tuned to say +1 for a passage that helps and -1 for one that
does not."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from surefoot.evaluators.cross_encoder import Window, graded, lacking
from surefoot.evidence.policies import PRESETS
from surefoot.models.checkpoint import Checkpoint, MaxPieces, kind, opened
from surefoot.types import Grade, Passage
from surefoot.types.errors import ConfigError, ModelError
from surefoot.types.protocols import Pair
from surefoot.types.ranges import Count

_HEAD = "classification_head.out_proj.weight"


class T5:
    """The logit of a T5 that was fine-tuned towards +1 and -1 as CRAG's evaluator was (paper, section 4.2).

    `folder` is what `save_pretrained` or `surefoot lab train t5` wrote; nothing is fetched. `task` sets both the
    input's form and the thresholds, those of CRAG's scripts: `popqa` reads the passage's text alone; `pubhealth`, `arc`
    and `bio` read title and text. Pieces beyond `max_pieces` are not read: the grade's `window` and `reason` say so.
    `device` None: a GPU where there is one. `name` holds the task and a hash of the weights, so that thresholds fitted
    for one checkpoint are refused for another. What CRAG's scripts grade as -1 where grading fails stays ungraded.
    """

    def __init__(
        self, folder: str, task: str = "popqa", batch: Count = 1, max_pieces: MaxPieces = 512, device: str | None = None
    ) -> None:
        check_task(task)
        self._task, self._batch, self._max_pieces = task, batch, max_pieces
        self._checkpoint = open_t5(folder, device)
        if self._checkpoint.lacking:
            raise ModelError(
                f"{folder} was never trained to grade: it has no classification head; run: surefoot lab train t5"
            )
        self.name = f"{PRESETS[task].evaluator}-{self._checkpoint.fingerprint()}"
        self.thresholds = replace(PRESETS[task], evaluator=self.name)

    def grade(self, pairs: Sequence[Pair]) -> tuple[Grade, ...]:
        """One grade a pair; without a question or a text there is nothing to grade."""
        return graded(self._checkpoint, self._batch, pairs, self._read, lambda logits: logits[0])

    def _read(self, question: str, passage: Passage) -> list[Window] | str:
        found = encoded(self._checkpoint, question, passage, self._task, self._max_pieces)
        return found if isinstance(found, str) else [found]


def text_of(question: str, passage: Passage, task: str) -> str:
    """The model's input for a pair: `question [SEP] text` for popqa, else `question [SEP] title // text`.

    `[SEP]` and `//` are ordinary text to T5, and so is a line break, which is a space to it.
    """
    titled = task != "popqa" and passage.title
    return f"{question} [SEP] {passage.title} // {passage.text}" if titled else f"{question} [SEP] {passage.text}"


def encoded(checkpoint: Checkpoint, question: str, passage: Passage, task: str, max_pieces: int) -> Window | str:
    """The pair as the model takes it, cut at `max_pieces`; or why there is nothing to grade."""
    if reason := lacking(question, passage):
        return reason
    text = text_of(question, passage, task)
    pieces = checkpoint.pieces(text)
    cut = len(pieces.ids) > (room := max_pieces - checkpoint.marks_around(pair=False))
    pieces.truncate(room)
    end = pieces.offsets[-1][1] - (len(text) - len(passage.text)) if cut else None
    if end is not None and end <= 0:
        return f"the question fills the {max_pieces} pieces that the model reads"
    return checkpoint.finished(pieces), None if end is None else (0, end)


def open_t5(folder: str, device: str | None = None, seed: int | None = None) -> Checkpoint:
    """The T5 of a folder, with its head or, where it has none, with one drawn at random by `seed` and named in
    `lacking`; raises ModelError for what is no T5, and ConfigError for one with several labels."""
    if not Path(folder).is_dir():
        raise ModelError(f"there is no folder {folder}; give one that save_pretrained or `surefoot lab train t5` wrote")
    if (family := kind(folder)) != "t5":
        raise ModelError(f"{folder} holds a model of the kind '{family}', not t5; the evaluator cross_encoder may do")
    checkpoint = opened("T5ForSequenceClassification", folder, labels=1, device=device, seed=seed)
    if _HEAD in checkpoint.misshapen:
        raise ConfigError(f"{folder} has several labels; CRAG's T5 has one, trained as a regression to ±1")
    if strays := sorted(checkpoint.misshapen | {n for n in checkpoint.lacking if "classification_head" not in n}):
        raise ModelError(f"{folder} does not fit its own config.json, see {strays[0]}; copy both again")
    ends = checkpoint.finished(checkpoint.pieces("a")).ids.count(checkpoint.model.config.eos_token_id)
    if ends != 1:  # the head reads the state at the one </s>
        raise ModelError(f"the tokenizer of {folder} does not end a text with T5's </s>; copy the base model's")
    checkpoint.model.config.use_cache = False  # of use to who generates; here it would only fill memory
    return checkpoint


def check_task(task: str) -> None:
    """Raise ConfigError for a task that CRAG has no input form and no thresholds for."""
    if task not in PRESETS:
        raise ConfigError(f"no task called '{task}'; there are: {', '.join(PRESETS)}")
