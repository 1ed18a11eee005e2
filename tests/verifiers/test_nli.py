"""Checkpoints of Hugging Face as verifiers, on BERTs of two layers."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="needs the extra transformers")
transformers = pytest.importorskip("transformers", reason="needs the extra transformers")

from surefoot.contracts import PASSAGES, verify  # noqa: E402
from surefoot.types import Assertion, Passage  # noqa: E402
from surefoot.types.errors import ConfigError  # noqa: E402
from surefoot.verifiers.nli import NLIVerifier  # noqa: E402

BRIDGE = PASSAGES[:1]
SAID = Assertion("Tomas Aldwin built the Ruvel Bridge.", BRIDGE)
NLI = ("contradiction", "neutral", "Entailment")

Make = Callable[..., Path]


def named(folder: Path, *labels: str) -> Path:
    """The checkpoint with these names of its labels."""
    config = json.loads((folder / "config.json").read_text())
    config["id2label"] = dict(enumerate(labels))
    config["label2id"] = {label: number for number, label in enumerate(labels)}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def logits(folder: Path, cls: str, evidence: str, claim: str) -> list[list[float]]:
    """Of one pair through transformers alone, a row a piece or one row."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = getattr(transformers, cls).from_pretrained(folder).eval()
    with torch.no_grad():
        found: list[list[float]] = model(**tokenizer(evidence, claim, return_tensors="pt")).logits.tolist()
    return found


def test_the_label_that_says_entailment_counts(tiny_cross_encoder: Make) -> None:
    """By its name in the configuration, in any case: its share of all labels."""
    folder = named(tiny_cross_encoder(labels=3), *NLI)
    (found,) = NLIVerifier(str(folder), device="cpu").support([SAID])
    evidence = f"{BRIDGE[0].title}\n{BRIDGE[0].text}"
    (row,) = logits(folder, "AutoModelForSequenceClassification", evidence, SAID.text)
    assert found.probability == pytest.approx(float(torch.tensor(row).softmax(0)[2]), abs=1e-5)
    assert found.supported is ((found.probability or 0) >= 0.5)


def test_labels_without_names_have_to_be_said(tiny_cross_encoder: Make) -> None:
    """LABEL_1 may mean anything; its number or name may be given."""
    folder = str(tiny_cross_encoder(labels=2))
    with pytest.raises(ConfigError, match="0: LABEL_0, 1: LABEL_1"):
        NLIVerifier(folder, device="cpu")
    one, other = (NLIVerifier(folder, label, device="cpu").support([SAID])[0].probability for label in (1, "LABEL_0"))
    assert (one or 0) + (other or 0) == pytest.approx(1)


def test_a_single_label_is_a_logit_of_support(tiny_cross_encoder: Make) -> None:
    """As HHEM's."""
    folder = tiny_cross_encoder(labels=1)
    (found,) = NLIVerifier(str(folder), device="cpu").support([SAID])
    evidence = f"{BRIDGE[0].title}\n{BRIDGE[0].text}"
    ((logit,),) = logits(folder, "AutoModelForSequenceClassification", evidence, SAID.text)
    assert found.probability == pytest.approx(1 / (1 + 2.718281828**-logit), abs=1e-5)


def test_the_best_of_several_windows_counts(tiny_cross_encoder: Make) -> None:
    """The evidence is longer than what the model reads at once."""
    folder = named(tiny_cross_encoder(labels=3), *NLI)
    verifier = NLIVerifier(str(folder), device="cpu")
    long = Assertion(SAID.text, (Passage("x", "The keeper of the hut is Josef. " * 30),))
    assert verifier.support([long])[0].probability is not None
    assert verifier.support([Assertion("iron " * 80, BRIDGE)])[0].supported is None


def test_it_keeps_the_contract(tiny_cross_encoder: Make) -> None:
    """The one that every verifier has to keep."""
    folder = named(tiny_cross_encoder(labels=2), "supported", "unsupported")
    verify("verifier", NLIVerifier(str(folder), device="cpu"))
