"""Labelled statements made by rules."""

from __future__ import annotations

import re
from collections import defaultdict

from surefoot_lab.train.examples import TrainingExample
from surefoot_lab.train.statements import Asked, statements

BRIDGE = (
    "The Ruvel Bridge was built in 1911 by Tomas Aldwin. It is not the longest bridge of Larrow, which has 3 others. "
    "The mayor, Anna Kreel, opened it in spring. A path leads from Upper Larrow to the first arch."
)
HUT = "The Upper Larrow Hut stands at 2,214 metres. Its keeper was Josef Ruhn until 1998. It was closed in winter."
ASKED: list[Asked] = [
    ("Who built the Ruvel Bridge?", ["Tomas Aldwin"], [("Ruvel Bridge", BRIDGE, 1), ("Larrow", HUT, 0)]),
    ("Who kept the hut?", ["Josef Ruhn"], [("Larrow", HUT, 1), ("Ruvel Bridge", BRIDGE, 0)]),
]


def many() -> list[TrainingExample]:
    """Of forty seeds, which a name is."""
    return [one for seed in range(40) for one in statements(ASKED, f"seed {seed}")]


def test_statements_are_the_same_for_the_same_name() -> None:
    """A training has to be repeatable to the byte."""
    assert list(statements(ASKED, "a")) == list(statements(ASKED, "a"))
    assert list(statements(ASKED, "a")) != list(statements(ASKED, "b"))


def test_every_rule_makes_as_many_of_both_labels() -> None:
    """Else the form of a claim would tell its label."""
    labels = defaultdict[str, list[int]](list)
    for one in many():
        labels[one.kind].append(one.label)
    assert {"answer", "changed", "removed", "joined", "foreign"} <= {*labels}
    assert all(sum(each) * 2 == len(each) for each in labels.values())


def test_only_an_unsupported_statement_has_changed_words() -> None:
    """They lie in it; those of a supported one are none."""
    for one in many():
        assert (one.spans == ()) == (one.label == 1)
        assert all(0 <= start < end <= len(one.text) for start, end in one.spans or ())


def test_a_change_stands_in_claims_of_both_labels() -> None:
    """The changed claim beside the changed evidence is supported: neither text alone tells."""
    reply = defaultdict[str, set[int]](set)
    for one in many():
        if one.kind in ("changed", "answer"):
            reply[one.text].add(one.label)
    both = [text for text, labels in reply.items() if len(labels) == 2]
    assert len(both) > len(reply) / 4


def test_a_number_that_was_changed_differs_from_the_evidence() -> None:
    """Its place is where the claim says otherwise."""
    for one in many():
        for start, end in one.spans or ():
            if one.kind == "changed" and re.fullmatch(r"[\d,]+", one.text[start:end]):
                assert not re.search(rf"(?<!\w){one.text[start:end]}(?!\w)", one.evidence) or "2" in one.text


def test_without_answers_none_is_made_of_them() -> None:
    """A question that takes several passages is answered by none of them."""
    assert not [one for one in statements(ASKED, "a", answered=False) if one.kind == "answer"]
