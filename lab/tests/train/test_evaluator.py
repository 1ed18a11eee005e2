"""The training of Surefoot's own evaluator, on a network of one small layer."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="needs the extra train")
pytest.importorskip("safetensors", reason="needs the extra train")


from surefoot.models.wordpiece import wordpiece  # noqa: E402
from surefoot.types.errors import ConfigError, ModelError, UsageError  # noqa: E402
from surefoot_lab.train.evaluator import dev_examples, encoded_examples, losses_of, train  # noqa: E402
from surefoot_lab.train.examples import Source, TrainingExample  # noqa: E402
from surefoot_lab.train.grader import EncodedExample, GraderRecipe, batched, groups, scored  # noqa: E402
from surefoot_lab.train.loop import TrainingProgress, set_rates  # noqa: E402
from surefoot_lab.train.mixture import Mixture, half  # noqa: E402
from surefoot_lab.train.network import GraderNetwork  # noqa: E402

QUICK = GraderRecipe(batch=4, check=4, checkpoint=3, rate=1e-3, head_rate=1e-2)
NAMES = "ruvel napoleon anna tomas maria peter paul larrow aldwin tresk josef hohrin".split()
"""The last four are in the half that weights are chosen by."""


class Stopped(BaseException):
    """As hard as a kill: no `except` of the code sees it, and no more than a kill does it run on."""


def stop_at(step: int) -> Callable[[TrainingProgress], None]:
    """Raises after so many steps."""

    def results(progress: TrainingProgress) -> None:
        if progress.step == step:
            raise Stopped

    return results


def tiny(seed: int = 0) -> Any:
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    return GraderNetwork(width=32, heads=2, layers=1)


def row(name: str, number: int) -> dict[str, Any]:
    """Who built it, with one passage that says so and one that says something else."""
    right = f"{name} built the bridge in {1900 + number}."
    wrong = f"The hut was built by the miners, and {NAMES[number % 5]} keeps it."
    passages = [
        {"id": f"{name}{n}", "title": f"{name} {n}", "text": text, "label": 1 - n}
        for n, text in enumerate((right, wrong))
    ]
    return {
        "id": name,
        "question": f"Which bridge did {name} build?",
        "answers": [str(1900 + number)],
        "passages": passages,
    }


@pytest.fixture
def mixture(tmp_path: Path) -> Mixture:
    """Sixteen pairs to learn from, and eight to look at."""
    for file, names in (("learn", NAMES[:8]), ("look", NAMES[8:])):
        lines = [json.dumps(row(name, number)) for number, name in enumerate(names)]
        (tmp_path / f"{file}.jsonl").write_text("\n".join(lines))
    return Mixture(tmp_path, [Source("learn", "train", copies=3, absent=True), Source("look", "dev")])


def quiet(progress: TrainingProgress) -> None:
    """Told, and silent."""


def same(one: Path, other: Path) -> bool:
    """Whether two files hold the same weights, to the last bit."""
    first, second = (torch.load(path, weights_only=True) for path in (one, other))
    return all(torch.equal(first[name], second[name]) for name in first)


# Examples in numbers


def example(text: str, spans: Any, label: int = 1, most: int = 160, question: str = "who") -> EncodedExample:
    return encoded_examples([TrainingExample(question, "", text, label, spans)], most)[0]


def shown(example: EncodedExample) -> list[str]:
    """The pieces between each first and last piece of evidence."""
    pairs = zip(*(example.marks or ([], [])), strict=True)
    return [wordpiece().decode(example.ids[a : b + 1], skip_special_tokens=False) for a, b in pairs]


def test_evidence_is_told_in_pieces() -> None:
    """All places, from the first piece that they touch to the last."""
    text = "Tomas Aldwin built it; it was Aldwin."
    assert shown(example(text, ((6, 12), (30, 36)))) == ["aldwin", "aldwin"]
    assert shown(example(text, ((0, 12),))) == ["tomas aldwin"]
    assert shown(example(text, ((8, 10),))) != []


def test_a_long_text_is_cut_around_late_evidence() -> None:
    """It stays within the length, and what is kept points at the same words."""
    text = "It is of stone. " * 60 + "Tomas Aldwin built it. " + "It is of stone. " * 60
    at = text.index("Aldwin")
    cut = example(text, ((at, at + 6),), most=64)
    assert (len(cut.ids), len(cut.sides)) == (64, 64)
    assert shown(cut) == ["aldwin"]
    assert cut.ids[-1] == 102
    assert cut.sides == [0] * 3 + [1] * 61


# Batches


def pretend(length: int) -> EncodedExample:
    return EncodedExample([1] * length, [0] * length, 1.0, 1.0, None)


def test_each_example_is_in_one_batch() -> None:
    """None over its size, in pairs and in padded pieces; an example longer than a batch comes alone."""
    recipe = GraderRecipe(batch=5, batch_pieces=100)
    examples = [pretend(3 + n * 7919 % 90) for n in range(3000)] + [pretend(150)]
    batches = batched(examples, recipe)
    assert sorted(i for batch in batches for i in batch) == list(range(3001))
    for batch in batches:
        lengths = [len(examples[i].ids) for i in batch]
        assert 1 <= len(batch) <= 5
        assert len(batch) == 1 or len(batch) * max(lengths) <= 100


# The loss


class Fixed:
    """A network that says what it is told to."""

    def __init__(self, relevance: list[float], evidence: Any) -> None:
        self.relevance = torch.nn.Linear(1, 1)
        self._said = torch.tensor(relevance), evidence

    def __call__(self, ids: Any, sides: Any) -> Any:
        return self._said


def test_relevance_counts_by_weight() -> None:
    """A pair that a rule has judged says less than one that a person has."""
    batch = [replace(pretend(3), label=1.0, weight=3.0), replace(pretend(3), label=0.0, weight=1.0)]
    network: Any = Fixed([0.0, 2.0], torch.zeros(2, 3, 2))
    loss, evidence = losses_of(network, batch)
    assert float(loss) == pytest.approx((3 * 0.6931472 + 2.1269280) / 4)
    assert float(evidence) == 0.0


@pytest.mark.parametrize(("place", "small"), [(2, True), (4, True), (3, False), (0, False)])
def test_evidence_may_be_found_at_any_of_its_places(place: int, small: bool) -> None:
    """An answer that stands there twice is right at either."""
    batch = [replace(pretend(6), marks=([2, 4], [2, 4]))]
    evidence = torch.zeros(1, 6, 2)
    evidence[0, place] = 20.0
    network: Any = Fixed([0.0], evidence)
    loss = float(losses_of(network, batch)[1])
    assert (loss < 1e-3) == small
    assert loss == pytest.approx(0 if small else 20 - 0.6931, abs=1e-2)


# The training


def test_it_learns_sixteen_pairs_by_heart(mixture: Mixture, tmp_path: Path) -> None:
    """Both losses fall, and scores part."""
    network, pairs = tiny(), encoded_examples(mixture.examples(0)[:24], 160)
    before = losses_of(network, pairs)
    mixture.train = {replace(source, copies=60): rows for source, rows in mixture.train.items()}
    recipe = replace(QUICK, batch=16, check=99, rate=3e-3, head_rate=3e-2)
    train(network, mixture, tmp_path / "out", recipe, quiet, "cpu")
    for loss, first in zip(losses_of(network, pairs), before, strict=True):
        assert loss.item() < 0.6 * first.item()
    scores = [(score, pair.label) for score, pair in zip(scored(network, pairs), pairs, strict=True)]
    assert min(score for score, label in scores if label) > max(score for score, label in scores if not label)


@pytest.mark.parametrize("step", [1, 3, 4, 7, 11])
def test_a_run_that_was_stopped_ends_with_the_same_weights(mixture: Mixture, tmp_path: Path, step: int) -> None:
    """Wherever it was stopped; it goes on from the last checkpoint and looks at no development question twice."""
    train(tiny(), mixture, tmp_path / "whole", QUICK, quiet, "cpu")
    with pytest.raises(Stopped):
        train(tiny(), mixture, tmp_path / "again", QUICK, stop_at(step), "cpu")
    seen: list[TrainingProgress] = []
    train(tiny(), mixture, tmp_path / "again", QUICK, seen.append, "cpu")
    assert seen[0].step == {1: 1, 3: 4, 4: 5, 7: 7, 11: 10}[step]
    for name in ("best.pt", "checkpoint.pt"):
        first, second = (torch.load(tmp_path / run / name, weights_only=True) for run in ("whole", "again"))
        weights = (first, second) if name == "best.pt" else (first["network"], second["network"])
        assert all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0])
    assert (tmp_path / "whole/log.jsonl").read_text() == (tmp_path / "again/log.jsonl").read_text()


def test_training_stops_when_it_no_longer_helps(mixture: Mixture, tmp_path: Path) -> None:
    """After so many looks without a better one; the best weights stay the best."""
    seen: list[TrainingProgress] = []
    recipe = replace(QUICK, rate=0.0, head_rate=0.0, check=2, patience=2)
    network = tiny()
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    train(network, mixture, tmp_path / "out", recipe, seen.append, "cpu")
    assert (seen[-1].step, seen[-1].steps) == (6, 12)
    best = torch.load(tmp_path / "out/best.pt", weights_only=True)
    assert all(torch.equal(best[name], before[name]) for name in before)
    assert [json.loads(line)["step"] for line in (tmp_path / "out/log.jsonl").read_text().splitlines()] == [2, 4, 6]


def test_rates_rise_and_fall() -> None:
    """In straight lines, to the recipe's and to nearly nothing; heads have their own, and biases do not decay."""
    optimiser = torch.optim.AdamW(groups(tiny(), GraderRecipe()))
    rates = []
    for step in range(100):
        set_rates(optimiser, step, 100, GraderRecipe())
        rates.append(max(group["lr"] for group in optimiser.param_groups))
    assert rates[5] == pytest.approx(5e-4)
    assert rates[0] == pytest.approx(5e-4 / 6)
    assert rates[99] == pytest.approx(5e-4 / 94)
    assert rates == sorted(rates[:6]) + sorted(rates[6:], reverse=True)
    kinds = {(group["peak"], group["weight_decay"]) for group in optimiser.param_groups}
    assert kinds == {(5e-4, 0.0), (5e-4, 0.01), (8e-5, 0.0), (8e-5, 0.01)}


def test_a_look_takes_nothing_of_the_half_that_is_measured_on(mixture: Mixture) -> None:
    """Weights that were chosen by a question must not be praised for it."""
    rows = [row(name, number) for number, name in enumerate(NAMES)]
    fit = [name for name in NAMES if half({"id": name}) == "fit"]
    (seen,) = dev_examples({"all": rows}, GraderRecipe()).values()
    queries = {wordpiece().decode(example.ids).split("build")[0].split()[-1] for example in seen}
    assert (len(seen), queries) == (2 * len(fit), set(fit))
    assert 0 < len(fit) < len(NAMES)


# What can go wrong


def test_another_training_is_not_gone_on_with(mixture: Mixture, tmp_path: Path) -> None:
    """Other numbers, other first weights or other lessons are another training."""
    with pytest.raises(Stopped):
        train(tiny(), mixture, tmp_path / "out", QUICK, stop_at(4), "cpu")
    for network, recipe in ((tiny(), replace(QUICK, clip=2.0)), (tiny(1), QUICK)):
        with pytest.raises(UsageError, match="other data or settings"):
            train(network, mixture, tmp_path / "out", recipe, quiet, "cpu")
    mixture.train = {replace(source, weight=0.5): rows for source, rows in mixture.train.items()}
    with pytest.raises(UsageError, match="other data or settings"):
        train(tiny(), mixture, tmp_path / "out", QUICK, quiet, "cpu")


def test_a_loss_that_is_no_number_stops_the_training(mixture: Mixture, tmp_path: Path) -> None:
    """Before it spoils the weights."""
    network = tiny()
    with torch.no_grad():
        network.relevance.bias.fill_(float("nan"))
    with pytest.raises(ModelError, match="the loss is nan after 0 steps"):
        train(network, mixture, tmp_path / "out", QUICK, quiet, "cpu")


def test_a_mixture_that_teaches_nothing_is_refused(mixture: Mixture, tmp_path: Path) -> None:
    """So is one that nothing can be measured on: its best weights would be anybody's guess."""
    dev = mixture.dev
    mixture.dev = {}
    with pytest.raises(ConfigError, match="no development file with both labels"):
        train(tiny(), mixture, tmp_path / "out", QUICK, quiet, "cpu")
    mixture.dev, mixture.train = dev, {}
    with pytest.raises(ConfigError, match="no examples"):
        train(tiny(), mixture, tmp_path / "out", QUICK, quiet, "cpu")
