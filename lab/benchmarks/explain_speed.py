"""How long until the words of a grade are explained to a given error: ours, and shap?

    pip install 'shap>=0.46'
    python benchmarks/explain_speed.py popqa/contriever.jsonl --out speed.jsonl [--pairs 20] [--words 120]

Each line of the file is one explainer on one pair, written as soon as it is known; run again, it goes on where it was,
and what it prints at the end is made from the file. All of one run, on the same pairs, with the same evaluator.

Two games. In `deleted`, the words of question, title and text come and go as our explanations have it. In `text`, those
of the text alone do, by shap's own Text masker, with which a run of missing words is three dots: question and title
stay, as that masker takes one text, and would lose the border between two.

The truth of a game is a long run of ours, which is unbiased, with another seed; `--check` has a run of permutations,
which are unbiased too and know nothing of ours, look at the first pair's. An error is the root mean square, over the
words, of the values less these, as a share of the largest of these; so it has an error below which nothing can be
measured, which is told. Ours runs to its tolerance. shap's permutation explainer is given `--times` as many
evaluations as ours took; if its error is then no larger than ours, fewer and fewer, and the fewest that do are what
counts. That is one draw a pair; what its permutations need for our error is told from all pairs too, by how errors
fall. So is its partition explainer, which `shap.Explainer` takes by itself for texts, and whose Owen values over a
tree of words need not come to the Shapley values at all; nor need, in `text`, those of its permutations, which go by
that tree too. All score by the evaluator's own `grade`, one call a batch of theirs. Seconds are the processor's, of
all threads together, which other work on the machine changes little.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from surefoot.evaluators.minilm import MiniLM
from surefoot.explain.grade import ScoreFunction, explain, taken_apart
from surefoot.explain.shapley import Counted, Vector, shares
from surefoot.types import Passage
from surefoot_lab.datasets.pairs import read

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what shap imports
    import shap

KINDS = ("Permutation", "Partition")


@dataclass(frozen=True, slots=True)
class Run:
    """One explainer on one pair in one game."""

    pair: int
    game: str
    explainer: str
    error: float
    reached: bool
    """No larger than ours."""
    evaluations: int
    seconds: float


class Deleted:
    """The words of question, title and text, in or out."""

    name = "deleted"

    def __init__(self, evaluator: MiniLM, question: str, passage: Passage, tolerance: float) -> None:
        self._evaluator, self._question, self._passage, self._tolerance = evaluator, question, passage, tolerance
        self._words = taken_apart(question, passage)
        self.count = len(self._words.units)
        self.score: Callable[[np.ndarray], Vector] = ScoreFunction(evaluator, self._words, "delete")

    def ours(self) -> tuple[Vector, int]:
        found = explain(self._evaluator, self._question, self._passage, tolerance=self._tolerance, most=20_000)
        return np.array(found.values), found.evaluations

    def theirs(self, kind: str, budget: int) -> tuple[Vector, int]:
        masker = rows_of(self.count, joined=kind == "Partition")
        return asked(kind, lambda rows: self.score(np.asarray(rows, bool)), masker, np.ones((1, self.count)), budget)


class Text:
    """The words of the text alone, as shap's Text masker has them."""

    name = "text"

    def __init__(self, evaluator: MiniLM, question: str, passage: Passage, tolerance: float) -> None:
        self._evaluator, self._question, self._passage, self._tolerance = evaluator, question, passage, tolerance
        self._masker = shap.maskers.Text(r"\s+")
        self.count = self._masker.shape(passage.text)[1]

    def score(self, rows: np.ndarray) -> Vector:
        return self._graded([self._masker(row, self._passage.text)[0][0] for row in rows])

    def ours(self) -> tuple[Vector, int]:
        game = Counted(self.score)
        return shares(game, self.count, tolerance=self._tolerance, most=20_000).values, game.evaluations

    def theirs(self, kind: str, budget: int) -> tuple[Vector, int]:
        return asked(kind, self._graded, self._masker, [self._passage.text], budget)

    def _graded(self, texts: Sequence[str]) -> Vector:
        passages = [Passage(self._passage.id, str(text), self._passage.title) for text in texts]
        return np.array([grade.score for grade in self._evaluator.grade([(self._question, p) for p in passages])])


def asked(kind: str, model: Callable[..., Vector], masker: object, what: object, budget: int) -> tuple[Vector, int]:
    """shap's values and how many texts it had graded."""
    counted = [0]

    def counting(rows: np.ndarray) -> Vector:
        counted[0] += len(rows)
        return model(rows)

    seed = {"seed": 0} if kind == "Permutation" else {}  # the other draws nothing
    found = getattr(shap.explainers, kind)(counting, masker, **seed)(what, max_evals=budget, silent=True)
    return np.asarray(found.values[0], float), counted[0]


def rows_of(count: int, joined: bool) -> Callable[..., tuple[np.ndarray]]:
    """Words in or out as rows of numbers; `joined` with the tree that shap's text masker would build: neighbours first.

    Without one the permutations are all orders alike. With one, as in `text`, they keep neighbours together, so that
    what they come to are Owen values.
    """

    def mask(rows: np.ndarray, _: np.ndarray) -> tuple[np.ndarray]:
        return (np.atleast_2d(rows),)

    mask.shape = (None, count)  # type: ignore[attr-defined]
    mask.clustering = tree(count) if joined else None  # type: ignore[attr-defined]
    return mask


def tree(count: int) -> np.ndarray:
    """Neighbours joined two by two, level by level, as shap reads it: who, with whom, how far, how many."""
    level, rows = [(n, 1) for n in range(count)], []
    while len(level) > 1:
        joined = []
        for one, other in zip(level[::2], level[1::2], strict=False):
            rows.append((one[0], other[0], len(rows) + 1.0, one[1] + other[1]))
            joined.append((count + len(rows) - 1, one[1] + other[1]))
        level = joined + level[len(level) // 2 * 2 :]
    return np.array(rows, float)


class Kept:
    """The lines of the file; what is there is not run again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        if path.exists():  # a line that was torn by a kill is run again
            whole = path.read_bytes()
            path.write_bytes(whole[: whole.rfind(b"\n") + 1])
        lines = path.read_text().splitlines() if path.exists() else []
        self.rows = {(row["pair"], row["game"], row["explainer"]): row for row in map(json.loads, lines)}

    def row(self, pair: int, game: str, explainer: str, made: Callable[[], dict[str, object]]) -> dict[str, object]:
        key = pair, game, explainer
        if key not in self.rows:
            print(f"pair {pair}, {game}: {explainer} …", end=" ", file=sys.stderr, flush=True)
            began = time.perf_counter()
            self.rows[key] = dict(zip(("pair", "game", "explainer"), key, strict=True)) | made()
            with self._path.open("a") as file:
                file.write(json.dumps(self.rows[key]) + "\n")
            print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        return self.rows[key]


def chosen(path: str, pairs: int, least: int) -> Iterator[tuple[str, Passage]]:
    """The first pair of each question whose passage has so many words."""
    seen: set[str] = set()
    for pair in read(path).pairs:
        words = pair.passage.text.split()
        if pair.question_id not in seen and len(words) >= least and len(seen) < pairs:
            seen.add(pair.question_id)
            yield pair.question, Passage(pair.passage.id, " ".join(words[:least]), pair.passage.title)


def truth(game: Deleted | Text, reference: int) -> dict[str, object]:
    found = shares(Counted(game.score), game.count, method="regression", tolerance=0, most=reference, seed=1)
    floor = float(np.sqrt(np.mean(found.errors**2)) / np.abs(found.values).max())
    return {"values": found.values.tolist(), "floor": floor}


def checked(kept: Kept, game: Deleted | Text, most: int) -> str:
    """How far permutations are from the first pair's truth, and how far off they would be if it were the truth."""
    values = np.array(kept.rows[1, game.name, "truth"]["values"])

    def made() -> dict[str, object]:
        found = shares(Counted(game.score), game.count, method="permutation", tolerance=0, most=most, seed=2)
        scale = float(np.abs(values).max())
        off, own = (float(np.sqrt(np.mean(row**2)) / scale) for row in (found.values - values, found.errors))
        return {"error": off, "own": own}

    row = kept.row(1, game.name, "check", made)
    return f"{game.name}: {row['error']:.3f} from the truth of pair 1, of which {row['own']:.3f} is expected of them."


def measured(kept: Kept, pair: int, game: Deleted | Text, reference: int, times: float) -> None:
    """Truth, ours and theirs, one after the other."""
    values = np.array(kept.row(pair, game.name, "truth", lambda: truth(game, reference))["values"])

    def off(found: Vector) -> float:
        return float(np.sqrt(np.mean((found - values) ** 2)) / np.abs(values).max())

    def timed(name: str, run: Callable[[], tuple[Vector, int]], enough: float) -> dict[str, object]:
        began = time.process_time()
        found, evaluations = run()
        seconds = time.process_time() - began
        error = off(found)
        return asdict(Run(pair, game.name, name, error, error <= enough, evaluations, seconds))

    def fewest(kind: str, enough: float, budget: float) -> dict[str, object]:
        best = run = timed(f"shap {kind}", partial(game.theirs, kind, int(budget)), enough)
        while run["reached"] and (budget := budget / 1.5) > 2 * game.count:
            best, run = run, timed(f"shap {kind}", partial(game.theirs, kind, int(budget)), enough)
        return run if run["reached"] else best

    mine = kept.row(pair, game.name, "ours", lambda: timed("ours", game.ours, np.inf))
    for kind in KINDS:
        run = partial(fewest, kind, float(str(mine["error"])), times * float(str(mine["evaluations"])))
        kept.row(pair, game.name, f"shap {kind}", run)


def table(rows: Sequence[dict[str, object]]) -> Iterator[str]:
    """A line an explainer and a game: medians, and how many pairs it was as good as ours on."""
    yield "| game | explainer | error | as good | evaluations | processor seconds | times ours | for our error |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    runs = [Run(**row) for row in rows if row["explainer"] not in ("truth", "check")]  # type: ignore[arg-type]
    mine = {(run.pair, run.game): run for run in runs if run.explainer == "ours"}
    floors = {(row["pair"], row["game"]): float(str(row["floor"])) for row in rows if row["explainer"] == "truth"}
    for game, name in dict.fromkeys((run.game, run.explainer) for run in runs):
        some = [run for run in runs if (run.game, run.explainer) == (game, name)]
        error, texts, seconds = (
            median(getattr(run, field) for run in some) for field in ("error", "evaluations", "seconds")
        )
        times = median(run.seconds / mine[run.pair, game].seconds for run in some)
        good = f"{sum(run.reached for run in some)} of {len(some)}"
        pairs = [(run, mine[run.pair, game], floors[run.pair, game]) for run in some]
        same = needed(pairs) if (game, name) == (Deleted.name, f"shap {KINDS[0]}") else "–"
        yield f"| {game} | {name} | {error:.3f} | {good} | {texts:,.0f} | {seconds:.1f} | {times:.1f} | {same} |"
    for game in dict.fromkeys(game for _, game in floors):
        own = [floor for (_, other), floor in floors.items() if other == game]
        yield f"\nThe truth's own error, {game}: {median(own):.3f}, the median of {len(own)} pairs."


def needed(pairs: Sequence[tuple[Run, Run, float]]) -> str:
    """How many times our processor time it takes for our error: its squared error, less the truth's own, falls as its
    time grows, which is so where nothing but chance is in it. Over all pairs, as one pair's errors are a draw; with the
    95 % interval of a bootstrap over pairs."""
    theirs, ours, times = (
        np.array(column)
        for column in zip(
            *((run.error**2 - low**2, our.error**2 - low**2, run.seconds / our.seconds) for run, our, low in pairs),
            strict=True,
        )
    )

    def ratio(some: np.ndarray) -> float:
        return float(np.median(times[some]) * theirs[some].mean() / ours[some].mean())

    drawn = [ratio(some) for some in np.random.default_rng(0).integers(len(pairs), size=(10_000, len(pairs)))]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return f"{ratio(np.arange(len(pairs))):.1f} [{low:.1f}, {high:.1f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--texts", type=int, default=20, help="pairs of them in the game of the text alone")
    parser.add_argument("--words", type=int, default=120, help="of a passage: shorter ones are left out, longer cut")
    parser.add_argument("--tolerance", type=float, default=0.1)
    parser.add_argument("--reference", type=int, default=4000, help="evaluations for the truth of a game")
    parser.add_argument("--times", type=float, default=3.3, help="evaluations that shap gets, as a multiple of ours")
    parser.add_argument("--check", type=int, default=4000, help="evaluations for the permutations of the first pair")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    evaluator, kept = MiniLM(threads=given.threads), Kept(given.out)
    for kind in KINDS:  # shap compiles itself at first use
        asked(kind, lambda rows: np.asarray(rows, float).sum(axis=1), rows_of(8, True), np.ones((1, 8)), 100)
    pairs = list(chosen(given.file, given.pairs, given.words))
    checks = []
    for kind, most in ((Deleted, given.pairs), (Text, given.texts)):
        games = [kind(evaluator, question, passage, given.tolerance) for question, passage in pairs[:most]]
        for number, game in enumerate(games, start=1):
            measured(kept, number, game, given.reference, given.times)
        checks.append(checked(kept, games[0], given.check))
    print("\n".join([*table(list(kept.rows.values())), "Permutations:", *checks]))


if __name__ == "__main__":
    main()
