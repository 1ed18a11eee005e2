"""A third-party metric, whole in one file: whether the answer says things in its own words."""

from surefoot.types import Metric, Record, Score

RUN = 5
"""Words that stand side by side in a context, from which they count as copied."""


class OwnWords:
    """The share of the answer's word runs that stand in no context; no language model."""

    about = Metric(
        name="own_words",
        edge=("context", "answer"),
        sees=("contexts", "answer"),
        about="Does the answer say it in its own words?",
        levels=("All of it.", "Most of it.", "Half of it.", "Little of it.", "It is copied from the context."),
        remedy=("format", "form"),
    )
    name = metric = about.name

    def judge(self, record: Record) -> Score:
        if record.contexts is None or record.answer is None:
            because = "the record has no contexts or no answer"
            return Score(record.id, self.metric, None, unscored_because=because, applies=False, judge=self.name)
        copied = {run for passage in record.contexts for run in _runs(passage.text)}
        said = _runs(record.answer)
        share = sum(run not in copied for run in said) / len(said) if said else 1.0
        return Score(record.id, self.metric, share, reason=f"{share:.0%} of it is worded anew", judge=self.name)


def _runs(text: str) -> list[tuple[str, ...]]:
    words = text.lower().split()
    return [tuple(words[start : start + RUN]) for start in range(len(words) - RUN + 1)]
