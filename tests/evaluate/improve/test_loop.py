"""The loop: diagnosed on one half, proven on the other."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from surefoot.config.builder import Builder
from surefoot.config.settings import Config, read
from surefoot.embedders.hashing import Hashing
from surefoot.evaluate.ask.questions import Example
from surefoot.evaluate.ask.runs import OnDone, Spread, threads
from surefoot.evaluate.diagnose.diagnosis import PROVE, ScoredRun, to_set
from surefoot.evaluate.diagnose.settings import SystemSettings
from surefoot.evaluate.improve import loop, plan as planned
from surefoot.evaluate.improve.ledger import Outcome, Trial
from surefoot.evaluate.improve.loop import improve, proposals
from surefoot.evaluate.improve.plan import ImprovementPlan, golds, judged, side
from surefoot.evaluate.report import page
from surefoot.evaluate.score.lexical import Wording
from surefoot.index.build import build
from surefoot.retrievers._given import USE
from surefoot.run.store import from_json, recorded
from surefoot.types import ActionItem, Diagnosis, Passage, Record, Score
from surefoot.types.errors import TraceFault, UsageError

CONFIG: Config = read(
    {
        "embedder": {"use": "hashing"},
        "evaluator": {"use": "lexical"},
        "retriever": {"use": USE},
        "llm": {"use": "scripted", "replies": {"Tomas Aldwin": "Tomas Aldwin [1]."}},
        "generator": {"use": "llm"},
        "pipeline": {"k": 1},
        "refiner": {"mode": "sentences"},
    }
)
"""Reads the first passage only, and answers where that says who built it."""

LONGER = {"pipeline": {"k": 5}}
HARMFUL = {"thresholds": {"upper": 2.0, "lower": 2.0}}
"""No passage is good enough."""
LAXER = {"thresholds": {"strip": 0.5}}
USELESS = {"refiner": {"size": 2}}
IDLE = {("refiner", "size"): (1, 4), ("refiner", "best"): (3, 8)}
"""Settings for a placebo that do nothing here."""


def example(number: int) -> Example:
    """Every third question has the passage that answers in the first place, the others in the second."""
    place = f"the bridge of Larrow{number}"
    built = Passage(f"b{number}", f"Tomas Aldwin built {place}.", place)
    old = Passage(f"o{number}", f"Nobody knows who painted {place}.", place)
    passages = (built, old) if number % 3 == 0 else (old, built)
    return Example(str(number), f"Who built {place}?", ("Tomas Aldwin",), frozenset(), passages=passages)


EXAMPLES = [example(number) for number in range(60)]


def item(title: str, patch: dict[str, dict[str, Any]], predicted: float | None = None) -> ActionItem:
    return ActionItem(title, "high", *[""] * 8, metrics=("factuality",), patch=patch, predicted=predicted)


class Diagnosing:
    """Proposes what it was told to, and remembers what it was shown."""

    def __init__(self, *items: ActionItem) -> None:
        self.items = items
        self.shown: list[str] = []

    def __call__(self, run: ScoredRun) -> Diagnosis:
        self.shown += [record.id for record in run.records]
        return Diagnosis("s", "s", (), self.items, "c", "rules")


class Asking:
    """Asks in this process, and counts."""

    def __init__(self, most: int | None = None) -> None:
        self.asked: list[tuple[str, str]] = []
        self.most = most

    @contextmanager
    def __call__(self, config: Config) -> Iterator[Spread]:
        inner = threads(Builder(config).pipeline())

        def spread(arm: Any, examples: Sequence[Example]) -> Iterator[tuple[str, Any]]:
            for id, trace in inner(arm, examples):
                if self.most is not None and len(self.asked) >= self.most:
                    raise KeyboardInterrupt
                self.asked.append((arm.name, id))
                yield id, trace

        yield spread


@contextmanager
def watching(name: str) -> Iterator[OnDone]:
    yield lambda done, total: None


def plan(folder: Path, *items: ActionItem, **fields: Any) -> ImprovementPlan:
    fields = {
        "diagnose": Diagnosing(*items),
        "spreading": Asking(),
        "scoring": golds(EXAMPLES),
        "levers": IDLE,
        **fields,
    }
    return ImprovementPlan(EXAMPLES, CONFIG, folder, watching=watching, **fields)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Path, ImprovementPlan]:
    """One loop with a good, a harmful, a useless and an impossible proposal, and a patch of the user's own."""
    folder = tmp_path_factory.mktemp("improve") / "run"
    items = item("Longer", LONGER, 0.4), item("Impossible", {"pipeline": {"kk": 3}}), item("Idle", USELESS)
    mine = plan(folder, *items, own={"planted": HARMFUL})
    return improve(mine), folder, mine


def trial(outcome: Outcome, name: str) -> Trial:
    return next(one for one in outcome.trials if one.name == name)


def test_each_change_is_kept_or_rejected_with_its_figures(done: Any) -> None:
    """Twenty of sixty are answered from the first passage, all from five: a significant gain on the held-out half,
    which is not spent on what is harmful or no better. What cannot be tried says why."""
    outcome, _, mine = done
    kept, impossible, idle, planted = (trial(outcome, name) for name in ("item 1", "item 2", "item 3", "planted"))
    assert (outcome.patch, kept.kept, kept.predicted) == (LONGER, True, 0.4)
    assert (kept.realised.questions, kept.realised.after) == (len(mine.half("held-out")), 1.0)
    assert kept.realised.low > 0.3
    assert kept.p < 0.05
    assert (planted.kept, planted.realised) == (False, None)
    assert planted.development.difference < -0.2
    assert planted.development.high < 0
    assert "harmful on the development half (p = " in planted.because
    assert (idle.development.difference, impossible.development) == (0, None)
    assert "no better" in idle.because
    assert "no setting 'kk'" in impossible.because
    assert [one.kind for one in outcome.trials] == [*["item"] * 4, "placebo"]


def test_the_placebo_does_nothing_where_its_settings_do_nothing(done: Any) -> None:
    """And says so: its answers, and those that the change altered, are counted. Of those that have too little effect
    each pair of draws sets one more."""
    control = trial(done[0], "placebo")
    assert (control.kept, control.realised.difference, control.changed) == (False, 0, 0)
    assert "a control: 0 of" in control.because
    kept = trial(done[0], "item 1")
    assert f"{kept.changed} of {len(done[2].half('held-out'))} answers differ" in kept.because


def test_the_placebo_changes_about_as_many_answers_as_the_change(tmp_path: Path) -> None:
    """Of levers that do nothing and one that empties every answer, the draw that is held against the change is one
    that moves answers."""
    strict = {("thresholds", "upper"): (2.0,), ("thresholds", "lower"): (2.0,)}
    outcome = improve(plan(tmp_path / "run", item("Longer", LONGER), levers={**IDLE, **strict}))
    assert trial(outcome, "placebo").changed > 0
    assert outcome.patch == LONGER


def test_without_another_lever_there_is_no_placebo(tmp_path: Path) -> None:
    """A system of one lever; the verdict says so."""
    outcome = improve(plan(tmp_path / "run", item("Longer", LONGER), levers={}))
    assert outcome.patch == LONGER
    assert "no other lever to hold it against" in trial(outcome, "item 1").because


def cases(title: str, patch: Any, ids: Sequence[str], *alternatives: Any) -> ActionItem:
    text = f"{to_set(patch, SystemSettings(CONFIG).now)} Expected: more."
    made = replace(item(title, patch, 0.4), cases=tuple(ids), alternatives=alternatives, recommended_protocol=text)
    return replace(made, recommended_protocol_gist=f"- {to_set(patch)}\n- {PROVE}")


def test_an_item_is_tried_on_its_cases_and_as_many_others_before_it_is_run_on_all(tmp_path: Path) -> None:
    """One that does not help there goes no further and says so with its figures; of several patches of an item the best
    is the item's."""
    asking = Asking()
    half = [one.id for one in EXAMPLES if side(one, 0) == "development"]
    lost = [id for id in half if int(id) % 3][:6]
    items = cases("Idle", USELESS, lost), cases("Longer", HARMFUL, lost, LONGER)
    outcome = improve(plan(tmp_path / "run", *items, spreading=asking))
    idle, harmful, longer = (trial(outcome, name) for name in ("item 1", "item 2", "item 2b"))
    assert "tried, no gain: own cases 0 → 0 of 6, others" in idle.because
    assert [name for name, _ in asking.asked].count("item 1") == 12
    assert idle.development is harmful.development is None
    assert harmful.on_others.difference < 0
    assert (longer.on_cases.before, longer.on_cases.after, longer.on_others.questions) == (0, 1, 6)
    assert outcome.patch == LONGER
    made = from_json(Diagnosis, json.loads((tmp_path / "run" / "diagnosis.json").read_text()))
    first, last = made.items
    assert (first.title, first.patch, first.alternatives, first.predicted) == ("Longer", LONGER, (), None)
    assert (first.on_cases, first.realised) == (longer.on_cases, longer.realised)
    assert "to 5. Tried: own cases 0 → 6 of 6, others" in first.recommended_protocol
    assert "Expected" not in first.recommended_protocol
    assert "Tried, no gain: own cases 0 → 0 of 6" in last.recommended_protocol_gist
    assert improve(plan(tmp_path / "run", *items, spreading=Asking(0))) == outcome


def test_the_folder_opens_as_an_evaluation(done: Any) -> None:
    """Of the baseline on the development half, with the diagnosis and the ledger."""
    contents = page.read(done[1])
    assert set(contents.records) == {one.id for one in done[2].half("development")}
    assert [one["metric"] for one in contents.summaries] == ["factuality"]
    assert len(contents.ledger) == len(done[0].trials)
    assert set(contents.outcomes) == set(contents.records)
    assert page.page(contents)


def test_all_runs_share_questions_index_judges_and_seeds(done: Any) -> None:
    """What each run says of itself differs in its half, its name and its settings, and in nothing else. The diagnosis
    sees the development half only, once."""
    _, folder, mine = done
    assert mine.diagnose.shown == [one.id for one in mine.half("development")]
    runs = [(path.parent.parent.name, *recorded(path.parent)) for path in folder.glob("*/*/run.json")]
    assert len(runs) == 5 + loop.DRAWS + 3
    for half, about, traces in runs:
        here = {one.id for one in mine.half(half)}  # type: ignore[arg-type]
        assert set(traces) == here or (about["method"].startswith("placebo draw") and set(traces) < here)
        assert about.pop("half") == half
        del about["method"], about["config"]
    assert all(about == runs[0][1] for _, about, _ in runs)
    assert (runs[0][1]["judges"], runs[0][1]["seed"], runs[0][1]["index"]) == (["match_lower"], 0, None)
    assert runs[0][1]["split"]["held-out"]["questions"] == len(mine.half("held-out"))


def test_the_ledger_has_a_line_for_all_that_was_tried(done: Any) -> None:
    """As values that can be read again; and the diagnosis says what its item came to."""
    outcome, folder, _ = done
    rows = [json.loads(line) for line in (folder / "ledger.jsonl").read_text().splitlines()]
    assert tuple(from_json(Trial, row["value"]) for row in rows) == outcome.trials
    diagnosis = from_json(Diagnosis, json.loads((folder / "diagnosis.json").read_text()))
    assert diagnosis.items[0].realised == trial(outcome, "item 1").realised
    assert diagnosis.items[2].realised is None


def test_a_finished_loop_asks_nothing_again(done: Any) -> None:
    """And comes to the same."""
    outcome, _, mine = done
    asking = Asking()
    assert improve(replace(mine, spreading=asking)) == outcome
    assert asking.asked == []


@pytest.mark.slow
@pytest.mark.parametrize("most", [0, 7, 45, 130])
def test_what_was_cut_off_goes_on_and_pays_for_nothing_twice(tmp_path: Path, most: int, done: Any) -> None:
    """Wherever it was: the figures are those of a loop that was never cut off, and each question was asked once."""
    first, second = Asking(most), Asking()
    wanted = plan(tmp_path / "run", item("Longer", LONGER, 0.4), item("Idle", USELESS), spreading=first)
    with pytest.raises(KeyboardInterrupt):
        improve(wanted)
    got = improve(replace(wanted, spreading=second, diagnose=Diagnosing(*wanted.diagnose.items)))  # type: ignore[attr-defined]
    assert got.patch == LONGER
    assert trial(got, "item 1") == trial(done[0], "item 1")
    asked = first.asked + second.asked
    assert len(asked) == len(set(asked))


@pytest.mark.slow
def test_what_helps_together_is_combined_and_kept(tmp_path: Path) -> None:
    """Two patches, each of which helps other questions: the combination is kept, and both are marked."""
    others = [second(one) if int(one.id) % 3 == 2 else one for one in EXAMPLES]
    config = read(CONFIG, {"thresholds": {"strip": 0.9}})
    wanted = plan(tmp_path / "run", item("Longer", LONGER, 0.3), item("Laxer", LAXER, 0.2), scoring=golds(others))
    outcome = improve(replace(wanted, examples=others, config=config))
    both = trial(outcome, "item 1 + item 2")
    assert outcome.patch == both.patch == {**LONGER, **LAXER}
    assert both.kept
    assert both.predicted == pytest.approx(0.5)
    assert both.realised.after == 1.0
    assert {trial(outcome, name).because for name in ("item 1", "item 2")} == {"kept in the combination"}


def second(one: Example) -> Example:
    """The passage that answers comes first, and lacks a word of the question."""
    place = one.passages[0].title
    return replace(one, passages=(Passage(f"s{one.id}", f"Tomas Aldwin, of {place}.", place),))


def test_a_control_that_does_as_well_speaks_against_the_change(tmp_path: Path) -> None:
    """As where a judge likes whatever differs; nothing is kept, and the reason names the control."""

    class Fickle:
        name, metric = "fickle", "novelty"

        def judge(self, record: Record) -> Score:
            return Score(record.id, self.metric, float(record.trace.config != CONFIG))

    outcome = improve(plan(tmp_path / "run", item("Longer", LONGER), scoring=judged(Fickle())))
    assert outcome.patch == {}
    assert "the placebo does as well" in trial(outcome, "item 1").because


def test_where_nothing_helps_the_held_out_half_is_left_alone(tmp_path: Path) -> None:
    """It can still be used, once there is a better idea."""
    asking = Asking()
    outcome = improve(plan(tmp_path / "run", item("Idle", USELESS), spreading=asking))
    assert outcome.patch == {}
    held_out = {one.id for one in EXAMPLES if side(one, 0) == "held-out"}
    assert not held_out & {id for _, id in asking.asked}
    assert not (tmp_path / "run" / "held-out").exists()


def test_a_judge_may_say_how_good_an_answer_is(tmp_path: Path) -> None:
    """Any judge; what it cannot score is no number, and its metric decides."""

    class Wordy:
        name, metric = "wordy", "named"

        def judge(self, record: Record) -> Score:
            if record.id == "0":
                return Score(record.id, self.metric, None, unscored_because="timeout", judge=self.name)
            return Score(record.id, self.metric, 1.0 if "Aldwin" in (record.answer or "") else 0.2, judge=self.name)

    outcome = improve(plan(tmp_path / "run", item("Longer", LONGER), scoring=judged(Wordy())))
    assert (outcome.metric, outcome.patch) == ("named", LONGER)
    gains = [trial(outcome, "item 1").development, trial(outcome, "item 1").realised]
    assert sum(gain.questions for gain in gains if gain) == len(EXAMPLES) - 1
    assert all(gain.before > 0.2 for gain in gains if gain)


def test_the_rules_diagnose_what_improve_has_run(tmp_path: Path) -> None:
    """As `surefoot evaluate` does: an item names the stage, and predicts a gain of the metric that decides."""
    told = {"Tomas Aldwin": "Tomas Aldwin [1].", "Nobody": "The sources do not say."}
    mine = plan(tmp_path / "run", diagnose=planned.by_rules)
    mine = replace(mine, config=read(CONFIG, {"llm": {"replies": told}}))
    first = proposals(mine)[0].trial
    assert first.title == "Retrieve the passage that answers"
    assert first.patch == {"pipeline": {"k": 10}}
    diagnosis = from_json(Diagnosis, json.loads((tmp_path / "run" / "diagnosis.json").read_text()))
    assert (diagnosis.by, diagnosis.items[0].stage) == ("rules", "retrieval")
    assert first.predicted == diagnosis.items[0].predicted
    other = replace(mine, folder=tmp_path / "other", scoring=judged(Wording("f1")))
    assert proposals(other)[0].trial.predicted is None


def test_the_rules_ask_the_index_for_what_was_not_found(tmp_path: Path) -> None:
    """Where an index is searched; else the texts come with the questions, and there is none to ask."""
    (tmp_path / "a.md").write_text("# Ruvel Bridge\n\nTomas Aldwin built the Ruvel Bridge.\n")
    build([tmp_path / "a.md"], tmp_path / "index.db", Hashing())
    missed = Record("r", "Who built the Ruvel Bridge?", (Passage("p", "Cheese."),), "Nobody.", ("Tomas Aldwin",))
    given = read(CONFIG, {"index": {"path": str(tmp_path / "index.db")}})
    for config, asked in ((read(given, {"retriever": {"use": "bm25"}}), True), (given, False)):
        told = planned.by_rules(ScoredRun([missed], [], [], config)).items[0].evidence_trace
        assert ("though the corpus holds it" in told) == asked


def test_the_dry_run_shows_what_would_be_tried_and_what_it_would_take(tmp_path: Path) -> None:
    """Asks the baseline's questions and no others; what cannot be built says why."""
    asking = Asking()
    mine = plan(tmp_path / "run", item("Longer", LONGER, 0.1), item("No", {"refiner": {"sizes": 1}}), spreading=asking)
    longer, impossible = proposals(mine)
    assert {name for name, _ in asking.asked} == {"baseline"}
    assert longer.config == read(CONFIG, LONGER)
    assert longer.cost.questions == len(mine.half("development"))
    assert longer.cost.calls > 0
    assert (impossible.config, impossible.cost) == (None, None)
    assert "no setting 'sizes'" in impossible.refused


@pytest.mark.slow
def test_two_refusals_are_one_answer(tmp_path: Path) -> None:
    """What a refusal looked at is told in its text, and is no other answer."""
    outcome = improve(plan(tmp_path / "run", item("Longer", LONGER), levers={("policy", "use"): ("count",)}))
    assert trial(outcome, "placebo").changed == 0


def test_gold_answers_decide_by_a_rule_that_is_for_all_of_the_questions(tmp_path: Path) -> None:
    """Without an answer all would count as wrong; and a refusal that names the answer is not right for that."""
    assert golds(EXAMPLES, "match").metric == "match"
    with pytest.raises(UsageError, match="'letter' is not for 60 of the questions"):
        golds(EXAMPLES, "letter")
    with pytest.raises(UsageError, match="no gold answer"):
        golds([replace(EXAMPLES[0], answers=())])
    without = replace(EXAMPLES[1], answers=(), answerable=False)
    with pytest.raises(UsageError, match="'style'"):
        improve(plan(tmp_path / "run", scoring=replace(golds(EXAMPLES), metric="style")))
    refused = Builder(CONFIG).pipeline().run(EXAMPLES[1].question)
    made = replace(planned.record(EXAMPLES[1], refused), answer="I cannot say that it was Tomas Aldwin.")
    assert [score.value for score in golds(EXAMPLES).scores([made], tmp_path)] == [0.0]
    assert [score.value for score in golds([EXAMPLES[0], without]).scores([made], tmp_path)] == [1.0]
    assert not planned.record(without, refused).answerable, "no stage is blamed for what is not there"


def test_the_side_of_a_question_hangs_on_its_words_alone() -> None:
    """Not on its id, its case or the other questions; another seed splits otherwise; both halves are about as large."""
    one = EXAMPLES[0]
    assert side(one, 0) == side(replace(one, id="x", question=f" {one.question.upper()} "), 0)
    halves = [side(one, 0) for one in EXAMPLES]
    assert halves != [side(one, 1) for one in EXAMPLES]
    assert 15 <= halves.count("held-out") <= 45


def test_another_index_or_setting_is_another_run(tmp_path: Path) -> None:
    """What was measured on one is not gone on with on the other; and an index that changes under way shows nothing."""
    index = tmp_path / "index.db"
    index.write_text("one")
    config = read(CONFIG, {"index": {"path": str(index)}, "retriever": {"use": "bm25"}})
    mine = replace(plan(tmp_path / "run"), config=config)
    about = loop._about(mine)
    index.write_text("two")
    assert loop._about(mine)["index"] != about["index"]
    improve(plan(tmp_path / "other", item("Idle", USELESS)))
    with pytest.raises(TraceFault, match="holds another run"):
        improve(plan(tmp_path / "other", item("Idle", USELESS), seed=1))


@pytest.mark.parametrize("name", ["baseline", "placebo", "item 1", "a + b"])
def test_a_patch_is_not_called_like_another_arm(tmp_path: Path, name: str) -> None:
    """Their folders would be one."""
    with pytest.raises(UsageError, match="rename its file"):
        improve(plan(tmp_path / "run", item("Longer", LONGER), own={name: USELESS}))
