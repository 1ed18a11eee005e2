"""Surefoot's own verifier: what it reads, and what it makes of the network's numbers."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from surefoot.contracts import verify
from surefoot.models.cross_encoder import CLS, SEP, tokenizer
from surefoot.types import Assertion, Passage
from surefoot.types.errors import ModelError
from surefoot.verifiers.minilm import (
    CLAIM_PIECES,
    CONTEXT_PIECES,
    REPEATED,
    WINDOW,
    ClaimPieces,
    ClaimReading,
    MiniLMVerifier,
    doubtful,
    encode,
)

TOKENIZER = tokenizer()
FILLER = "The path is closed in winter and the keeper is away. "


def pieces(claim: str, context: str, evidence: str, window: int = WINDOW) -> ClaimPieces:
    (found,) = encode(TOKENIZER, [(claim, context, evidence)], window)
    return found


def test_claim_and_context_stand_before_the_evidence() -> None:
    """[CLS] claim [SEP] context [SEP] on side 0, then the evidence and [SEP] on side 1."""
    found = pieces("iron bridge", "which bridge", "stone")
    ids = [TOKENIZER.token_to_id(word) for word in ("iron", "bridge", "which", "stone")]
    assert found.ids == [CLS, ids[0], ids[1], SEP, ids[2], ids[1], SEP, ids[3], SEP]
    assert found.sides == [0] * 7 + [1] * 2
    assert found.offsets == [(0, 4), (5, 11)]


def test_without_a_context_nothing_stands_for_it() -> None:
    """Neither words nor a mark."""
    assert pieces("iron", "", "stone").ids.count(SEP) == 2


def test_of_long_evidence_the_sentences_that_share_most_are_read() -> None:
    """The carrying sentence stands late; what is read is the window's size, and in order."""
    evidence = FILLER * 40 + "Tomas Aldwin built the bridge. " + FILLER * 40
    found = pieces("The bridge was built by Tomas Aldwin.", "", evidence)
    assert len(found.ids) == WINDOW
    assert found.left_out
    assert TOKENIZER.decode(found.ids).find("tomas aldwin built the bridge") > 0
    assert not pieces("The bridge.", "", FILLER).left_out


def test_without_shared_words_the_beginning_is_read() -> None:
    """Sentences that share as much stand in their order."""
    found = pieces("zebra", "", "First comes this. " + FILLER * 40)
    assert "first comes this" in TOKENIZER.decode(found.ids)


def test_a_long_claim_loses_its_end_and_says_so() -> None:
    """A long context loses its beginning."""
    found = pieces("iron " * 200, "old " + "new " * 100, "stone")
    assert found.cut
    assert len(found.offsets) == CLAIM_PIECES
    assert found.sides.count(0) == CLAIM_PIECES + CONTEXT_PIECES + 3
    assert TOKENIZER.token_to_id("old") not in found.ids


def test_words_are_pointed_at_whole_and_neighbours_together() -> None:
    """One piece with a high logit marks its word; a word between two others ends a place."""
    found = pieces("Aldwin built ironworks there", "", "stone")
    words = [found.words[i] for i in range(len(found.words))]
    logits = tuple(3.0 if word in (0, 2, 3) else -3.0 for word in words)
    text = "Aldwin built ironworks there"
    spans = list(doubtful(found, ClaimReading(0.0, logits), 0.0))
    assert [text[a:b] for a, b in spans] == ["Aldwin", "ironworks there"]
    assert list(doubtful(found, ClaimReading(0.0, (-1.0,) * len(logits)), 0.0)) == []


def test_a_folder_without_a_model_says_what_to_do(tmp_path: Path) -> None:
    """So does a card of another format, or without a part."""
    with pytest.raises(ModelError, match="surefoot lab train verifier"):
        MiniLMVerifier(str(tmp_path))
    for card in ({"format": 99}, {"format": 1, "sha256": ""}, []):
        (tmp_path / "minilm.json").write_text(json.dumps(card))
        with pytest.raises(ModelError, match=r"minilm\.json"):
            MiniLMVerifier(str(tmp_path))


@pytest.fixture(scope="module")
def shipped() -> MiniLMVerifier:
    """With the weights of the package."""
    if not files("surefoot.verifiers").joinpath("minilm.onnx").is_file():
        pytest.skip("the weights minilm.onnx are not there")
    return MiniLMVerifier()


def test_the_shipped_verifier_keeps_its_contract(shipped: MiniLMVerifier) -> None:
    """As every verifier."""
    verify("verifier", shipped)


def test_the_shipped_verifier_tells_a_changed_year(shipped: MiniLMVerifier) -> None:
    """A sentence in other words is likelier than one with another year."""
    bridge = (Passage("b", "The Ruvel Bridge was built in 1911 by Tomas Aldwin.", "Ruvel Bridge"),)
    right, wrong = shipped.support(
        [
            Assertion("Tomas Aldwin constructed the bridge in 1911.", bridge),
            Assertion("Tomas Aldwin constructed the bridge in 1874.", bridge),
        ]
    )
    assert (right.probability or 0) > (wrong.probability or 0)


def test_what_repeats_its_evidence_is_supported(shipped: MiniLMVerifier) -> None:
    """Whatever the network says of it, and in any script; at the threshold at least."""
    rare = "Ix blort 7, zemmo quag!"
    for text, evidence in ((rare, f"Nothing here. {rare} Nor here."), ("桥 是 谁 建 的", "桥 是 谁 建 的")):
        (found,) = shipped.support([Assertion(text, (Passage("b", evidence),))])
        assert (found.supported, found.reason) == (True, REPEATED)
    (other,) = shipped.support([Assertion("Ix blort 8, zemmo quag!", (Passage("b", f"Nothing here. {rare}"),))])
    assert other.supported is not True


def test_another_script_is_not_judged(shipped: MiniLMVerifier) -> None:
    """It learned from English."""
    (found,) = shipped.support([Assertion("桥是谁建的", (Passage("b", "The bridge."),))])
    assert found.supported is None
    assert "Latin" in found.reason
