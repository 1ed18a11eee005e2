"""How well verdicts on sentences agree with labels."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from surefoot.types import Assertion, Support
from surefoot_lab import support
from surefoot_lab.train.examples import TrainingExample

EVIDENCE = "The Ruvel Bridge was built in 1911. It is of iron."


def claim(text: str, label: int, spans: Sequence[tuple[int, int]] | None = None) -> TrainingExample:
    return TrainingExample(text, "", EVIDENCE, label, tuple(spans) if spans is not None else None)


CLAIMS = [
    claim("The bridge is of iron.", 1, ()),
    claim("The bridge is of stone.", 0, [(17, 22)]),
    claim("It rains.", 0),
]


class Sure:
    """A verifier that supports all that speaks of iron, and points at the rest."""

    name = "sure"

    def support(self, assertions: Sequence[Assertion]) -> tuple[Support, ...]:
        """One verdict for each."""
        return tuple(
            Support(0.9, True) if "iron" in one.text else Support(0.2, None, ((0, len(one.text)),), "no iron")
            for one in assertions
        )


def test_figures_are_of_each_set() -> None:
    """AUC by the probability, precision and recall of what was called supported."""
    ranked, called = support.run(Sure(), {"bridge": CLAIMS}, {"overlap": support.overlap}, lambda done, of: None)
    (_, claims, positive, auc, overlap), (*_, mean, _) = ranked.rows
    assert (claims, positive, auc.value, mean.value, overlap) == (3, pytest.approx(1 / 3), 1, 1, pytest.approx(1))
    ((_, precision, recall, undecided, *_),) = called.rows
    assert (precision.share, recall.share, undecided.count) == (1.0, 1.0, 2)


def test_words_count_where_they_are_known() -> None:
    """Of the second claim five words are pointed at, of which one is marked; the third one's are unknown."""
    results = Sure().support([Assertion(one.text, ()) for one in CLAIMS])
    assert support.word_f1(CLAIMS, results) == pytest.approx(2 * 1 / (5 + 1))
    assert support.word_f1(CLAIMS[:1], results[:1]) is None


def test_a_verdict_without_a_probability_ranks_by_its_word() -> None:
    """Undecided lies between the other two."""
    assert [support.score(Support(None, one)) for one in (True, None, False)] == [1.0, 0.5, 0.0]
    assert support.score(Support(0.3, True)) == 0.3


def test_rouge_l_counts_words_in_their_order() -> None:
    """Three of the four stand there in this order, and all of them in some order."""
    assert support.rouge_l(claim("iron built bridge", 1)) == pytest.approx(1 / 3)
    assert support.rouge_l(claim("bridge built iron", 1)) == 1
    assert support.overlap(claim("iron built bridge", 1)) == 1


BRIDGE = "The Ruvel Bridge was built in 1911 by Tomas Aldwin. It is of iron."
ROWS = [
    {"set": "bridge", "evidence": BRIDGE, "claim": "Tomas Aldwin built the Ruvel Bridge in 1911.", "label": 1},
    {"set": "bridge", "evidence": BRIDGE, "claim": "Anna Kreel built it.", "label": 0, "spans": [[0, 10]]},
    {"set": "other", "evidence": BRIDGE, "claim": "It is of iron.", "label": 1},
]


def test_the_figures_of_each_set_are_shown_and_written(indexed: Callable[..., Any], here: Path) -> None:
    """AUC beside shared words, precision, open verdicts and words; the same as JSON."""
    (here / "claims.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    done = indexed("lab", "verifier", "claims.jsonl", "--json", "report.json", "--set", "verifier.use=lexical")
    assert done.code == 0
    assert "ROUGE-L" in done.out
    assert any(line.split()[:3] == ["bridge", "2", ".500"] for line in done.out.splitlines())
    report = json.loads((here / "report.json").read_text())
    ranked, verdicts = report["ranking"], report["verdicts"]
    assert report["verifier"] == "lexical"
    assert [row["set"] for row in ranked] == ["bridge", "other", "mean"]
    assert (ranked[0]["ROC-AUC"]["value"], bool(ranked[1]["ROC-AUC"]["undefined"])) == (1.0, True)
    assert (verdicts[0]["supported, and is"]["count"], verdicts[0]["words F1"]) == (1, 1.0)
