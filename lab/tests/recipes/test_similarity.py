"""A grader that learns how near an encoder finds question and passage."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")

import similarity  # noqa: E402
from similarity import Pair, cosines, graded, losses, targets  # noqa: E402
from surefoot.stats.figures import Floats  # noqa: E402
from surefoot_lab.train.grader import EncodedExample  # noqa: E402
from surefoot_lab.train.network import GraderNetwork  # noqa: E402

PAIRS: list[Pair] = [("hot?", "Kettle › Heat", "95 degrees"), ("hot?", "Kettle", "It is blue.")]


def embed(texts: Sequence[str]) -> Floats:
    """Two texts are near where both speak of heat."""
    return np.array([[1.0, 0.0] if "h" in text.lower() else [0.0, 1.0] for text in texts])


def examples() -> list[EncodedExample]:
    ids = ([101, 2980, 102, 3770, 102], [101, 2980, 102, 2009, 2003, 102])
    return [EncodedExample(some, [0, 0, 0, *[1] * (len(some) - 3)], 0, 1, None) for some in ids]


@pytest.fixture
def network() -> GraderNetwork:
    torch.manual_seed(0)
    return GraderNetwork(width=32, heads=1, layers=1)


def test_a_passage_is_read_under_its_last_heading() -> None:
    """So the manual's name, which all its passages share, says nothing."""
    seen: list[str] = []

    def noted(texts: Sequence[str]) -> Floats:
        seen.extend(texts)
        return embed(texts)

    assert cosines(PAIRS, noted).tolist() == [1.0, 0.0]
    assert seen == ["hot?", "Heat\n95 degrees", "Kettle\nIt is blue."]


def test_a_target_is_the_own_logit_and_how_near_the_encoder_finds_the_two(
    network: GraderNetwork, tmp_path: Path
) -> None:
    """Half of the weight above the mean and half below it, of two pairs of which one is near."""
    own = [logit for logit, _ in graded(network, examples())]
    found = targets(PAIRS, examples(), network, embed, tmp_path)
    assert [one.label for one in found] == pytest.approx([own[0] + 6, own[1] - 6])


def test_targets_that_are_there_are_not_computed_again(
    network: GraderNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(similarity, "PART", 1)
    first = targets(PAIRS, examples(), network, embed, tmp_path)
    again = targets(PAIRS, examples(), network, lambda _: pytest.fail("embedded again"), tmp_path)
    assert [one.label for one in again] == [one.label for one in first]


def test_a_network_that_reaches_its_targets_has_no_loss(
    network: GraderNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by its grades nor by where it points; one that points elsewhere has."""
    monkeypatch.setattr(similarity, "WEIGHT", 0)
    found = targets(PAIRS, examples(), network, embed, tmp_path)
    error, loss = losses(network, found, [0, 1])
    assert float(error.detach()) == pytest.approx(0, abs=1e-6)
    assert float(loss.detach()) == pytest.approx(0, abs=1e-3)
    with torch.no_grad():
        network.evidence.weight.mul_(50)
    assert float(losses(network, found, [0, 1])[1].detach()) > 0.01
