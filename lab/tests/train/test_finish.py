"""From the best weights to an evaluator that can be used: on a network that goes by one word."""

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("onnx", reason="needs the extra train")
pytest.importorskip("safetensors", reason="needs the extra train")


from surefoot.evaluators.minilm import MiniLM  # noqa: E402
from surefoot.models.wordpiece import wordpiece  # noqa: E402
from surefoot.types import Passage  # noqa: E402
from surefoot.types.errors import ConfigError  # noqa: E402
from surefoot_lab.train.evaluator import QUESTIONS, finish, require_questions  # noqa: E402
from surefoot_lab.train.examples import Source  # noqa: E402
from surefoot_lab.train.mixture import Mixture, half  # noqa: E402
from surefoot_lab.train.network import GraderNetwork  # noqa: E402

WORD = "granite"
YES, NO = Passage("a", f"Built of {WORD}."), Passage("b", "Built of wood.")


def weights(path: Path, quiet: float = 0.0) -> Path:
    """For which a passage is relevant that holds the word; with `quiet`, "no answer" beats all words by so much."""
    torch.set_num_threads(1)
    network = GraderNetwork(width=32, heads=1, layers=1)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        for norm in (network.norm, network.layers[0].norm, network.layers[0].norm_out):
            norm.weight.fill_(1)
        sign = torch.arange(32) % 2 * 2.0 - 1
        network.word.weight[wordpiece().token_to_id(WORD)] = sign
        network.relevance.weight[0, 32:] = sign  # of the mean over the pieces
        network.relevance.bias.fill_(-1)
        first = torch.arange(32) // 16 * 2.0 - 1
        network.word.weight[wordpiece().token_to_id("[CLS]")] = first
        network.evidence.weight[:] = first * quiet / 64  # begin and end, each over 32 numbers
    torch.save(network.state_dict(), path)
    return path


@pytest.fixture(scope="module")
def best(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights whose evidence head says nothing."""
    return weights(tmp_path_factory.mktemp("weights") / "best.pt")


def row(number: int, file: str = "", right: bool = True) -> dict[str, Any]:
    """One relevant passage, which holds the word, and one that is not; `right` False: the other way round."""
    passages = [
        {"id": f"{file}{number}{n}", "title": "", "text": f"Bridge {number} is {made}.", "label": int(right is not n)}
        for n, made in ((False, f"made of {WORD}"), (True, "of wood, and old"))
    ]
    return {"id": f"{file}{number}", "question": f"Of what is bridge {number}{file}?", "passages": passages}


def mixture(folder: Path, **files: list[dict[str, Any]]) -> Mixture:
    """Of files that are only measured on, as what a search brings."""
    for name, rows in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Mixture(folder, [Source(name, use="dev", searched=True) for name in files])


def silent(done: int, total: int) -> None:
    """For who need not know."""


def card(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "minilm.json").read_text())  # type: ignore[no-any-return]


def is_fit(row: dict[str, Any]) -> bool:
    return half(row) == "fit"


def test_what_comes_out_is_an_evaluator(best: Path, tmp_path: Path) -> None:
    """It loads, tells the passages apart, and has a probability and thresholds of its own, between the two scores."""
    out = finish(best, mixture(tmp_path, bridges=[row(n) for n in range(240)]), tmp_path / "out", silent)
    evaluator = MiniLM(str(out))
    yes, no = evaluator.grade([("Of what is it?", YES), ("Of what is it?", NO)])
    assert no.score and yes.score and no.score < evaluator.thresholds.upper <= yes.score + 0.5  # noqa: PT018
    assert (yes.probability, no.probability) == (pytest.approx(1, abs=0.1), pytest.approx(0, abs=0.1))
    assert evaluator.thresholds.evaluator == evaluator.name == f"minilm-{card(out)['sha256'][:8]}"
    assert evaluator.thresholds.fitted_on.endswith("; shares of such data, of which a file gave at most 150 questions")
    assert "one in 4 without its relevant passages" in evaluator.thresholds.fitted_on
    assert not (out / ".finishing").exists()


def test_half_of_the_questions_is_left_to_be_measured_on(best: Path, tmp_path: Path) -> None:
    """Labels of the other half change nothing that is fitted; both halves are written."""
    results: list[int] = []
    right = [row(n) for n in range(240)]
    mixed = [row(n, right=is_fit(row(n))) for n in range(240)]
    cards = []
    for name, rows in (("right", right), ("mixed", mixed)):
        (tmp_path / name).mkdir()
        out = finish(best, mixture(tmp_path / name, b=rows), tmp_path / name, lambda done, total: results.append(total))
        cards.append(card(out))
    assert cards[0] == cards[1]
    fit = [row for row in right if is_fit(row)]
    assert len(fit) < QUESTIONS
    assert max(results) == 2 * len(fit)
    halves = [(tmp_path / "right/dev" / half / "b.jsonl").read_text().count("\n") for half in ("fit", "test")]
    assert halves == [len(fit), 240 - len(fit)]


@pytest.mark.parametrize(("quiet", "least", "most"), [(0, 0.0, 0.0), (2.5, -3.5, -1.0), (40, -12.0, -12.0)])
def test_it_points_as_freely_as_it_may(tmp_path: Path, quiet: float, least: float, most: float) -> None:
    """The least margin with which it is silent about irrelevant passages, each of which is read once to find it.

    In the middle it hangs on the processor by a step: int8 products saturate where there are no instructions for them.
    """
    results: list[tuple[int, int]] = []
    found = mixture(tmp_path, bridges=[row(n) for n in range(240)])
    best = weights(tmp_path / "best.pt", quiet)
    out = finish(best, found, tmp_path / "out", lambda done, total: results.append((done, total)))
    assert least <= card(out)["evidence"]["margin"] <= most
    assert results.count((12, 12)) == 1


def test_thresholds_that_cannot_be_shown_are_not_made_up(best: Path, tmp_path: Path) -> None:
    """Of labels that have nothing to do with the scores, none are; the message says what was looked for."""
    rows = [row(n, right=n % 2 == 0) for n in range(240)]
    with pytest.raises(ConfigError, match=r"no thresholds for this evaluator: .* 20 %; label more questions"):
        finish(best, mixture(tmp_path, bridges=rows), tmp_path / "out", silent)


def test_what_failed_leaves_no_evaluator(best: Path, tmp_path: Path) -> None:
    """One without thresholds would call every passage relevant. What a process left that was killed is cleared away."""
    (tmp_path / "out/.finishing/dev/fit").mkdir(parents=True)
    (tmp_path / "out/.finishing/dev/fit/old.jsonl").write_text("torn")
    found = mixture(tmp_path, bridges=[row(n, right=n % 2 == 0) for n in range(240)])
    with pytest.raises(ConfigError, match="no thresholds"):
        finish(best, found, tmp_path / "out", silent)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["lock"]


# Before hours of training


@pytest.mark.parametrize(("count", "reply"), [(0, "label more"), (40, "it takes 14 without an error to show 20 %")])
def test_too_few_questions_are_refused(tmp_path: Path, count: int, reply: str) -> None:
    """Those on which even an evaluator that never errs could not be shown to keep the aim."""
    found = mixture(tmp_path, bridges=[row(n) for n in range(count + 1)])
    with pytest.raises(ConfigError, match=f"questions to fit thresholds on, which are too few: .*{reply}"):
        require_questions(found)
