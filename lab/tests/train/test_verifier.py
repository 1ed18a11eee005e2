"""The verifier's training, on a network of one layer."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("onnx", reason="needs the extra train")

from surefoot.contracts import verify  # noqa: E402
from surefoot.types import Assertion, Passage  # noqa: E402
from surefoot.types.errors import ModelError, UsageError  # noqa: E402
from surefoot.verifiers.minilm import MiniLMVerifier  # noqa: E402
from surefoot_lab.train.claims import ClaimSets, ClaimSource  # noqa: E402
from surefoot_lab.train.examples import TrainingExample  # noqa: E402
from surefoot_lab.train.network import GraderNetwork, with_new_heads  # noqa: E402
from surefoot_lab.train.verifier import (  # noqa: E402
    RECIPE as SHIPPED,
    VerifierNetwork,
    encoded_examples,
    finish,
    train,
)

RECIPE = replace(SHIPPED, check=4, checkpoint=2, batch=8)


def network() -> VerifierNetwork:
    torch.manual_seed(0)
    return VerifierNetwork(width=32, heads=2, layers=1)


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> ClaimSets:
    """Huts and how high they stand, true or ten metres too high."""
    folder = tmp_path_factory.mktemp("claims")
    for name in ("ragtruth_qa", "begin"):
        rows = []
        for number in range(240):
            evidence = f"The {name} hut number {number} stands at {2 * number} metres."
            high, wrong = 2 * number, number % 2
            claim = f"Hut {number} stands at {high + 10 * wrong} metres."
            spans = {"spans": [[claim.index(" at ") + 4, len(claim) - 8]]} if wrong else {}
            rows.append({"set": name, "evidence": evidence, "claim": claim, "label": 1 - wrong, **spans})
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ClaimSets(folder, [ClaimSource(name, name, "MIT", learn=True) for name in ("ragtruth_qa", "begin")])


def test_unsupported_words_become_their_pieces() -> None:
    """1.0 for each piece that a span touches; None where nobody knows."""
    wrong = TrainingExample("Hut 7 stands", "", "Hut 8 stands.", 0, ((4, 5),))
    (example,) = encoded_examples([wrong], 64)
    assert example.marks == [0.0, 1.0, 0.0]
    (example,) = encoded_examples([TrainingExample("Hut 7", "", "Hut 8.", 0, None)], 64)
    assert example.marks is None


def test_a_network_begins_with_anothers_body() -> None:
    """Its heads are new; the weights of another shape are refused."""
    torch.manual_seed(3)
    body = GraderNetwork(32, 1, 1)
    begun = with_new_heads(body.state_dict(), VerifierNetwork, SHIPPED.heads, 1)
    assert torch.equal(begun.layers[0].attend.weight, body.layers[0].attend.weight)
    assert not torch.equal(begun.relevance.weight, body.relevance.weight)
    with pytest.raises(ModelError):
        with_new_heads({"word.weight": torch.zeros(3, 32)}, VerifierNetwork, SHIPPED.heads)


@pytest.mark.slow
def test_a_stopped_training_ends_with_the_same_weights(sets: ClaimSets, tmp_path: Path) -> None:
    """As one that nobody stopped, to the last bit."""
    whole = train(network(), sets, tmp_path / "whole", RECIPE, lambda _: None)

    def stop(progress: object) -> None:
        if getattr(progress, "step", 0) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(network(), sets, tmp_path / "torn", RECIPE, stop)
    torn = train(network(), sets, tmp_path / "torn", RECIPE, lambda _: None)
    one, other = torch.load(whole), torch.load(torn)
    assert all(torch.equal(one[name], other[name]) for name in one)
    with pytest.raises(UsageError, match="other data or settings"):
        train(network(), sets, tmp_path / "torn", replace(RECIPE, rate=1e-3), lambda _: None)


def test_what_is_finished_keeps_the_contract(sets: ClaimSets, tmp_path: Path) -> None:
    """Exported, calibrated, with the parts to measure on beside it. (The aim is not for a network of one layer.)"""
    torch.save(network().state_dict(), tmp_path / "best.pt")
    finish(tmp_path / "best.pt", sets, tmp_path, lambda done, of: None, precision=0.01)
    verifier = MiniLMVerifier(str(tmp_path))
    verify("verifier", verifier)
    (results,) = verifier.support(
        [Assertion("Hut 7 stands at 24 metres.", (Passage("h", "Hut 7 stands at 14 metres."),))]
    )
    assert results.probability is not None
    assert (tmp_path / "dev/test/ragtruth_qa.jsonl").is_file()
    assert not (tmp_path / ".finishing").exists()
