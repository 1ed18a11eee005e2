"""The verifier's examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from surefoot.types.errors import ConfigError, UsageError
from surefoot_lab.train import claims
from surefoot_lab.train.claims import PARTS, SHIPPED, ClaimSets, ClaimSource, read, sources

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
    assert len({one.text for one in found}) == 10
    assert {(one.label, one.weight) for one in found} <= {(1, 1.5), (0, 1.0)}
    assert sets.examples(1) == found


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
