"""Thresholds are fitted with a bound: what is promised holds as often as is said, and nothing unproven is given."""

import json
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from rich.cells import cell_len

from surefoot.config.builder import Builder
from surefoot.config.settings import read
from surefoot.evidence.policies import Threshold
from surefoot.types import Action, Grade, Passage, Thresholds
from surefoot_lab.datasets.pairs import LabelledPair, LabelledSet
from surefoot_lab.risk_control import Aim, Judged, curve, fit, parts
from surefoot_lab.tuning import preset, questions, thinned

Chance = Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]


def drawn(seed: int, many: int, chance: Chance) -> list[Judged]:
    """Questions whose best score is normal, and which have evidence with a chance that depends on it."""
    random = np.random.default_rng(seed)
    best = random.normal(size=many)
    evidence = random.random(many) < chance(best)
    numbered = zip(best.tolist(), evidence.tolist(), strict=True)
    return [
        Judged(f"{seed}:{n}", score, held, relevant=score if held else None) for n, (score, held) in enumerate(numbered)
    ]


def rising(sharpness: float, middle: float = 0.0) -> Chance:
    return lambda score: 1 / (1 + np.exp(-sharpness * (score - middle)))


MANY = drawn(0, 50_000, rising(4, -0.5))
"""So many that the shares are the chances themselves."""


def share(wrong: Sequence[bool]) -> float:
    return sum(wrong) / len(wrong) if wrong else 0.0


worlds = st.builds(
    drawn, st.integers(0, 10_000), st.integers(0, 150), st.builds(rising, st.floats(0, 6), st.floats(-1, 1))
)
shares = st.floats(0.05, 0.6)
confidences = st.floats(0.5, 0.99)


# What is promised


def test_each_target_is_kept_as_often_as_is_said() -> None:
    """Over 150 data sets that are drawn like 50,000 others, where the true risks are known; 90 % is asked for.

    16 % of them would be three standard deviations more than the 10 % that may fail.
    """
    aim = Aim(0.05, 0.1, 0.05, confidence=0.9)
    fits = [fit(drawn(seed, 600, rising(4, -0.5)), aim) for seed in range(1, 151)]
    upper = [f.upper.threshold for f in fits if f.upper.threshold is not None]
    lower = [f.lower.threshold for f in fits if f.lower.threshold is not None]
    strip = [f.strip.threshold for f in fits if f.strip.threshold is not None]
    assert min(len(upper), len(lower), len(strip)) > 75
    best, evidence = np.array([q.best for q in MANY], float), np.array([q.evidence for q in MANY])
    assert share([bool((~evidence[best >= t]).mean() > aim.target) for t in upper]) < 0.16
    assert share([bool(evidence[best < t].mean() > aim.discard_target) for t in lower]) < 0.16
    assert share([bool((best[evidence] < t).mean() > aim.strip_target) for t in strip]) < 0.16


def test_the_first_candidate_that_fails_ends_the_search() -> None:
    """A more lenient one that would pass again was not to be looked at: so many looks are not what was promised."""
    levels = [(3.0, True, 300), (2.0, False, 100), (1.0, True, 2100), (0.0, False, 300)]
    queries = [Judged(f"{best}:{n}", best, evidence) for best, evidence, many in levels for n in range(many)]
    by_threshold = {point.threshold: point.high for point in curve(queries)}
    assert by_threshold[3.0] < 0.05 < by_threshold[2.0]
    assert by_threshold[1.0] < 0.05
    assert fit(queries).upper.threshold == 3.0


# Laws


@settings(max_examples=50)
@given(worlds, shares, shares, confidences)
def test_thresholds_are_in_order(queries: list[Judged], target: float, discard: float, confidence: float) -> None:
    """strip ≤ τ− ≤ τ+, whatever was asked for."""
    found = fit(queries, Aim(target, discard, 0.3, confidence))
    there = [c.threshold for c in (found.strip, found.lower, found.upper) if c.threshold is not None]
    assert there == sorted(there)


@settings(max_examples=50)
@given(worlds, st.tuples(shares, shares), confidences)
def test_a_laxer_target_never_makes_a_threshold_stricter(
    queries: list[Judged], targets: tuple[float, float], confidence: float
) -> None:
    """It does not raise τ+, does not lower τ−, and loses neither."""
    strict, lax = (fit(queries, Aim(target, 0.3, confidence=confidence)) for target in sorted(targets))
    assert reached(lax.upper.threshold, np.inf) <= reached(strict.upper.threshold, np.inf)
    strict, lax = (fit(queries, Aim(0.3, target, confidence=confidence)) for target in sorted(targets))
    assert reached(lax.lower.threshold, -np.inf) >= reached(strict.lower.threshold, -np.inf)


@settings(max_examples=30)
@given(worlds, shares, shares)
def test_what_is_reported_is_what_the_trigger_decides(queries: list[Judged], target: float, discard: float) -> None:
    """For the questions that test; and the bound keeps the target, where there is a threshold."""
    some = [Judged(q.text, q.best, q.evidence, int(n % 7 == 0)) for n, q in enumerate(queries)]
    found = fit(some, Aim(target, discard, confidence=0.8))
    for choice, action, wrong in ((found.upper, Action.CORRECT, False), (found.lower, Action.INCORRECT, True)):
        if choice.shown is not None:
            at = choice.shown.threshold
            policy = Threshold(Thresholds(at, at, at, ""))
            reply = [(policy.decide(grades(q)).action, q.evidence) for q in parts(some)[1]]
            assert choice.shown.of == sum(taken is action for taken, _ in reply)
            assert choice.shown.wrong == sum(taken is action and evidence is wrong for taken, evidence in reply)
            assert (choice.threshold is not None) == (choice.shown.high <= choice.target)


def reached(threshold: float | None, otherwise: float) -> float:
    return otherwise if threshold is None else threshold


def grades(question: Judged) -> list[Grade]:
    return [Grade("", question.best), *[Grade("", None)] * question.ungraded]


# What becomes of single questions


def test_what_could_not_be_graded_is_never_incorrect() -> None:
    """A question with one such passage is no proof against itself, and one without any grade is in neither count."""
    whole = fit(MANY[:2000], Aim(discard_target=0.3)).lower.shown
    torn = fit([Judged(q.text, q.best, q.evidence, 1) for q in MANY[:2000]], Aim(discard_target=0.3)).lower.shown
    none = fit([Judged(q.text, None, q.evidence, 1) for q in MANY[:2000]])
    assert whole is not None
    assert whole.of > 300
    assert torn is not None
    assert torn.of == 0
    assert (none.upper.threshold, none.upper.shown) == (None, None)


def test_questions_are_made_of_graded_pairs() -> None:
    """The best score of all passages, evidence from labels, and what has no grade."""
    made = questions(
        [pair("a", 0), pair("a", 1), pair("b", 0), pair("c", 1), pair("d", 0)],
        [Grade("", 0.7), Grade("", 0.4), Grade("", 0.1), Grade("", None), Grade("", -1.0)],
    )
    assert made == [
        Judged("a?", 0.7, True, 0, 0.4),
        Judged("b?", 0.1, False),
        Judged("c?", None, True, 1),
        Judged("d?", -1.0, False),
    ]


def pair(question: str, label: int, passage: str = "") -> LabelledPair:
    return LabelledPair(question, f"{question}?", Passage(passage or question, "text"), label)


@pytest.mark.parametrize(("many", "place"), [(58, None), (59, 0), (92, 0), (93, 1), (124, 2)])
def test_the_strip_threshold_is_an_order_statistic(many: int, place: int | None) -> None:
    """59 scores bound the lowest twentieth at the lowest of them, and it takes 93 to leave one out."""
    found = fit([Judged(str(n), float(n), True, 0, float(n)) for n in range(many)]).strip
    assert found.threshold == place
    assert (found.shown.high if found.shown else 1) <= 0.05 or place is None


# What cannot be shown


def test_few_questions_say_how_many_it_takes() -> None:
    """log(0.05) / log(0.95) is 58.4."""
    reason = fit(drawn(1, 40, lambda s: 0 * s + 1)).upper.reason
    assert reason.endswith("CORRECT decisions, and it takes 59 without an error to show 5 %")
    assert fit([]).upper.reason == "none of one question in 5 could be graded; label more questions"
    assert fit([]).strip.reason.startswith("there are 0 relevant passages of different questions, and it takes 59")


# A whole run


def test_thinned_questions_have_lost_their_evidence() -> None:
    """One in four, whole; the others, and what is irrelevant, stay as they were, in any company."""
    pairs = [pair(f"q{n}", label, f"{n}{label}") for n in range(300) for label in (1, 0, 1)]
    whole = LabelledSet("a/f.jsonl", "0123456789abcdef", tuple(pairs), 0)
    (thin,) = thinned([whole])
    assert (thin.thinned, thin.path, thin.sha256) == (True, whole.path, whole.sha256)
    assert [one for one in thin.pairs if not one.label] == [one for one in pairs if not one.label]
    left = Counter(one.question_id for one in thin.pairs)
    assert set(left.values()) == {1, 3}
    assert sum(count == 1 for count in left.values()) == pytest.approx(75, abs=20)
    (part,) = thinned([replace(whole, pairs=tuple(pairs[300:]))])
    assert part.pairs == tuple(one for one in thin.pairs if one in pairs[300:])
    assert len(thinned([replace(whole, pairs=(pair("\ud800", 0),))])[0].pairs) == 1


# The preset


def test_a_preset_comes_back_as_it_was(tmp_path: Path) -> None:
    """Every digit, and every character of a name that TOML can hold."""
    written = Thresholds(1 / 3, -1e-7, -2.0, "lexical", 'a "quoted"\n\\path\x7f 😀 né')
    (tmp_path / "p.toml").write_text(preset(written), encoding="utf-8")
    chosen = read({"evaluator": "lexical", "thresholds": {"file": str(tmp_path / "p.toml")}})
    assert Builder(chosen).thresholds == written


LAX = ("--evaluator", "lexical", "--target", "0.3", "--discard-target", "0.3", "--confidence", "0.8")


def row(number: int, relevant: bool) -> dict[str, Any]:
    """A question about a bridge, and a passage about it or about a hut."""
    there = f"Aldwin built the Bridge{number} bridge." if relevant else "A hut stands alone."
    passages = [{"id": f"p{number}", "text": there, "label": int(relevant)}]
    return {"id": str(number), "question": f"Who built the Bridge{number} bridge?", "passages": passages}


@pytest.fixture
def data(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Eighty questions of which half have evidence, and words tell which."""
    monkeypatch.setenv("COLUMNS", "100")
    lines = [json.dumps(row(number, number % 2 == 0)) for number in range(80)]
    (here / "bridges.jsonl").write_text("\n".join(lines))
    return Path("bridges.jsonl")


def test_thresholds_are_fitted_shown_and_written(surefoot: Any, data: Path, here: Path) -> None:
    """A table, a curve, a preset, a report and a picture."""
    files = ("--out", "tuned.toml", "--json", "report.json", "--figure", "curve.svg")
    done = surefoot("lab", "tune", data, *LAX, *files)
    assert done.code == 0
    report = json.loads((here / "report.json").read_text())
    preset = tomllib.loads((here / "tuned.toml").read_text())
    assert preset == report["thresholds"]
    assert preset["strip"] <= preset["lower"] <= preset["upper"] <= 1
    assert (preset["evaluator"], report["limit"], report["config"]["evaluator"]["use"]) == ("lexical", None, "lexical")
    assert f"CORRECT ≥ {preset['upper']:.4g}" in done.out
    assert "0 lack evidence" in done.out
    assert "to decide by them: --set thresholds.file=tuned.toml" in done.err
    assert ElementTree.fromstring((here / "curve.svg").read_text()).tag.endswith("svg")
    assert all(cell_len(line.rstrip()) <= 100 for line in done.out.splitlines())


def test_what_was_written_decides(surefoot: Any, indexed: Any, data: Path, here: Path) -> None:
    """And is refused for another evaluator."""
    assert surefoot("lab", "tune", data, *LAX, "--out", "tuned.toml").code == 0
    preset = tomllib.loads((here / "tuned.toml").read_text())
    words = ("ask", "Who built the Ruvel Bridge?", "--set", "thresholds.file=tuned.toml", "--json")
    done = indexed(*words, "--set", "evaluator.use=lexical")
    assert done.code == 0
    assert json.loads(done.out)["decision"]["upper"] == preset["upper"]
    other = indexed(*words, "--set", "evaluator.use=cosine", "--set", "embedder.use=static")
    assert other.code == 2


def test_thresholds_that_cannot_be_shown_are_not_written(surefoot: Any, data: Path, here: Path) -> None:
    """Code 1, with what is missing; the report is there all the same."""
    files = ("--out", "tuned.toml", "--json", "report.json", "--figure", "curve.svg")
    done = surefoot("lab", "tune", data, "--evaluator", "lexical", *files)
    assert done.code == 1
    assert "no τ+: there are " in done.out
    assert "CORRECT decisions, and it takes 59 without an error to show 5 %" in done.out
    assert not (here / "tuned.toml").exists()
    assert json.loads((here / "report.json").read_text())["thresholds"] is None
    assert "no τ+ keeps the target" in (here / "curve.svg").read_text()


def test_questions_that_all_have_evidence_can_be_thinned(surefoot: Any, here: Path, data: Path) -> None:
    """Without it none of them could show τ−; the preset says what was done to them."""
    rows = [row(n, True) for n in range(150)]
    for one in rows:
        one["passages"].append({"id": "hut", "text": "A hut stands alone.", "label": 0})
    (here / "answered.jsonl").write_text("\n".join(map(json.dumps, rows)))
    whole = surefoot("lab", "tune", "answered.jsonl", *LAX)
    assert whole.code == 1
    assert "no τ−: every question has a relevant passage, so that no INCORRECT decision can be right" in whole.out
    assert "was asked without" not in whole.out
    thin = surefoot("lab", "tune", "answered.jsonl", *LAX, "--thin", "--out", "tuned.toml", "--json", "report.json")
    assert thin.code == 0
    assert "One question in 4 was asked without its relevant passages.\n" in thin.out
    assert ", one in 4 without its relevant passages: " in (here / "tuned.toml").read_text()
    assert json.loads((here / "report.json").read_text())["files"][0]["thinned"]
