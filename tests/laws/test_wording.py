"""The same answer in other words has the same verdict, with a reference and without one."""

from importlib.resources import files
from pathlib import Path

import pytest

from sample_run import FACTS
from surefoot.config.builder import Builder
from surefoot.config.settings import read
from surefoot.evaluate.diagnose.failures import contexts
from surefoot.evaluate.score.scoring import run
from surefoot.types import Passage, Record

WORDINGS = (
    "{}",
    "It is {}.",
    "The answer is **{}** [1].",
    "According to the provided context, the answer is {}.",
    "{}. Let me know if you have any other questions!",
    "Based on the information given, it is {}. Would you like to know more?",
)


@pytest.mark.parametrize("known", [True, False])
def test_a_right_answer_is_right_in_any_wording(known: bool, tmp_path: Path) -> None:
    """By the judges that are used where nothing is configured."""
    records = []
    for number, (page, question, truth, _) in enumerate(FACTS):
        shelf = next(s for s in ("library", "outside") if (files("surefoot") / "demo" / s / f"{page}.md").is_file())
        text = (files("surefoot") / "demo" / shelf / f"{page}.md").read_text(encoding="utf-8")
        passage = next(part for part in text.split("\n\n") if truth in part)
        evidence = (Passage("p", passage, text.splitlines()[0].removeprefix("# ")),)
        truths = (truth,) if known else ()
        records += [
            Record(f"{number} {way}", question, evidence, wording.format(truth), truths)
            for way, wording in enumerate(WORDINGS)
        ]
    wanted = {"factuality", "context_adherence", "answer_relevancy", "context_relevancy"}
    judges = [judge for judge in Builder(read({})).judges() if judge.metric in wanted]
    scores = run(judges, records, tmp_path / "run", in_flight=2)
    verdicts = {case.record.id: case.verdict for case in contexts(records, [*scores.values()], {})}
    changed = {
        fact: [verdicts[f"{number} {way}"] for way in range(len(WORDINGS))]
        for number, (_, fact, *_) in enumerate(FACTS)
        if {verdicts[f"{number} {way}"] for way in range(len(WORDINGS))} != {"right"}
    }
    assert not changed
