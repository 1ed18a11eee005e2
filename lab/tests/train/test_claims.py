"""The verifier's examples."""

import json
import random
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from surefoot.types.errors import ConfigError, UsageError
from surefoot_lab.train import claims
from surefoot_lab.train.claims import PARTS, SHIPPED, ClaimSets, ClaimSource, read, sources
from surefoot_lab.train.examples import TrainingExample
from surefoot_lab.train.statements import Asked, statements

FREE = ("MIT", "Apache-2.0", "CC BY 4.0", "CC BY-SA 4.0", "ODC-BY")


def row(number: int, label: int, **more: Any) -> dict[str, Any]:
    evidence = f"The hut number {number} stands at {number} metres above the sea and is open in summer every year."
    return {"id": f"a-{number}", "set": "a", "evidence": evidence, "claim": f"Hut {number}.", "label": label, **more}


def written(folder: Path, rows: list[dict[str, Any]], name: str = "a") -> Path:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


def test_no_set_is_learned_from_without_a_licence_that_allows_it() -> None:
    """What is shipped owes nothing to sets that forbid it, or say nothing."""
    learned = [source for source in sources(SHIPPED) if source.learn]
    assert len(learned) > 10
    assert all(source.licence.startswith(FREE) for source in learned)


def test_documents_are_divided_by_their_evidence(tmp_path: Path) -> None:
    """All claims of one evidence are of one part; every part gets its share."""
    rows = [row(number, label) for number in range(300) for label in (0, 1)]
    written(tmp_path, rows)
    sets = ClaimSets(tmp_path, [ClaimSource("a", "a", "MIT", learn=True)])
    owners = {key: {claim.evidence for claim in sets.claims[key]["a"]} for key in PARTS}
    assert sum(map(len, owners.values())) == 300
    assert 40 < len(owners["test"]) < 80
    assert 15 < len(owners["fit"]) < 50


def test_no_example_shares_a_long_sentence_with_what_measures(tmp_path: Path) -> None:
    """The same paragraph in another evidence is the same document."""
    rows = [row(number, 1) for number in range(60)]
    rows += [{**one, "evidence": f"Another line. {one['evidence']}"} for one in rows]
    written(tmp_path, rows)
    sets = ClaimSets(tmp_path, [ClaimSource("a", "a", "MIT", learn=True)])
    measured = [claim.evidence for key in ("fit", "test") for claim in sets.claims[key]["a"]]
    held = {text.removeprefix("Another line. ") for text in measured}
    assert sets.examples(0)
    assert not [one for one in sets.examples(0) if one.evidence.removeprefix("Another line. ") in held]


def test_examples_are_cut_copied_and_weighted(tmp_path: Path) -> None:
    """As the section says; the same for the same seed."""
    written(tmp_path, [row(number, number % 2) for number in range(200)])
    source = ClaimSource("a", "a", "MIT", learn=True, most=10, copies=3, positive=1.5)
    sets = ClaimSets(tmp_path, [source])
    found = sets.examples(1)
    assert len(found) == 30
    assert len({re.findall(r"Hut \d+", one.text)[0] for one in found}) == 10
    assert {(one.label, one.weight) for one in found} <= {(1, 1.5), (0, 1.0)}
    assert sets.examples(1) == found


def test_claims_are_also_learned_in_an_answers_words() -> None:
    """A share of them, with the same label and the same words unsupported. A whole sentence is not called an answer."""
    claim = TrainingExample("The hut stands at 2,300 metres.", "", "It stands at 2,214 metres.", 0, ((18, 23),))
    chance = random.Random(0)
    spoken = [claims.spoken(claim, chance) for _ in range(400)]
    changed = [one for one in spoken if one.text != claim.text]
    assert 120 < len(changed) < 200
    assert all("The hut stands at 2,300 metres" in one.text and one.label == 0 for one in changed)
    assert {one.text[a:b] for one in changed for a, b in one.spans or ()} == {"2,300"}
    assert not any(one.text.startswith(("It is", "The answer is", "Final")) for one in changed)
    bare = TrainingExample("Josef Ruhn", "Who?", HUT, 1, ())
    assert "The answer is Josef Ruhn." in {claims.spoken(bare, chance).text for _ in range(3000)}


def test_unknown_words_are_told_from_none(tmp_path: Path) -> None:
    """A supported claim has no unsupported word; of another without spans nobody knows."""
    rows = [row(1, 1), row(2, 0), row(3, 0, spans=[[0, 3]])]
    found = read(written(tmp_path, rows))["a"]
    assert sorted((c.text, c.spans) for c in found) == [("Hut 1.", ()), ("Hut 2.", None), ("Hut 3.", ((0, 3),))]


def test_claims_survive_the_disk(tmp_path: Path) -> None:
    """`lines` writes what `read` reads."""
    found = read(written(tmp_path, [row(3, 0, spans=[[0, 3]], question="Which hut?")]))["a"]
    (tmp_path / "b.jsonl").write_text(claims.lines(found, "a"))
    assert read(tmp_path / "b.jsonl") == {"a": found}


def test_a_line_that_is_no_claim_is_named(tmp_path: Path) -> None:
    """With its number, and a section with an unknown key too."""
    with pytest.raises(UsageError, match="line 2"):
        read(written(tmp_path, [row(1, 1), {"set": "a"}]))
    (tmp_path / "sets.toml").write_text('[a]\nfile = "a"\nlicence = "MIT"\nform = "poem"\n')
    with pytest.raises(ConfigError, match="poem"):
        sources(tmp_path / "sets.toml")


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
