"""Support: how well do a verifier's verdicts on sentences agree with people's, set by set and beside counting words?"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import numpy as np
from typer import Argument, Option

from surefoot.cli._configuration import ConfigFile, Settings, agreed
from surefoot.cli._console import counting, figure, out, pulling, share, write_json
from surefoot.config.builder import Builder
from surefoot.config.settings import settings as overrides
from surefoot.evaluate.ask.runs import OnDone
from surefoot.stats import figures
from surefoot.stats.figures import Figure
from surefoot.text.words import STOP_WORDS, WORD, words
from surefoot.types import Assertion, Passage, Support
from surefoot.types.errors import ComponentError
from surefoot.types.protocols import Embedder, Verifier
from surefoot_lab.cli._options import JsonFile
from surefoot_lab.cli.evaluator import rate, recorded
from surefoot_lab.figures import counted
from surefoot_lab.report import Form, Table, as_json, count, of, short, show
from surefoot_lab.train import claims as claim_files
from surefoot_lab.train.examples import TrainingExample

CALL = 64
"""Claims for one call of the verifier."""
LONGEST = 1200
"""Words of the evidence that ROUGE-L compares, at most."""

Baseline = Callable[[TrainingExample], float]


def run(
    verifier: Verifier,
    sets: Mapping[str, Sequence[TrainingExample]],
    baselines: Mapping[str, Baseline],
    on_done: OnDone,
) -> list[Table]:
    """How well the verifier ranks the claims of each set, beside ways that only compare words or vectors; and what it
    calls supported. AUCs have intervals of a bootstrap over evidences, shares have Wilson's.

    `on_done` counts the claims of all sets. Raises what the verifier raises.
    """
    total, before = sum(map(len, sets.values())), 0
    ranked: list[tuple[Any, ...]] = []
    called: list[tuple[Any, ...]] = []
    for name, claims in sets.items():
        queries = [Assertion(c.text, (Passage("evidence", c.evidence),), c.context) for c in claims]
        verifier.support(queries[:1])  # off the clock: a first call may load a model
        verdicts: list[Support] = []
        began = perf_counter()
        for start in range(0, len(queries), CALL):
            verdicts += verifier.support(queries[start : start + CALL])
            on_done(before + len(verdicts), total)
        seconds = perf_counter() - began
        if len(verdicts) != len(queries):
            mend = f"{verifier.name} gave {len(verdicts)} verdicts for {len(queries)} claims; mend the verifier"
            raise ComponentError(mend)
        ranked.append((short(name), *_ranking(claims, verdicts, baselines)))
        called.append((short(name), *_called(claims, verdicts), len(verdicts) / seconds if seconds else None))
        before += len(claims)
    own, *others = (mean(column) for column in [*zip(*ranked, strict=True)][3:])
    ranked.append(("mean", None, None, Figure(own, None, None, len(sets)), *others))
    beside: dict[str, Form] = dict.fromkeys(baselines, share)
    shares: dict[str, Form] = dict.fromkeys(("supported, and is", "of those that are", "undecided"), of)
    return [
        Table("ranking", {"set": str, "claims": count, "positive": share, "ROC-AUC": figure, **beside}, ranked),
        Table("verdicts", {"set": str, **shares, "words F1": share, "claims/s": rate}, called),
    ]


def _ranking(
    claims: Sequence[TrainingExample], verdicts: Sequence[Support], baselines: Mapping[str, Baseline]
) -> tuple[Any, ...]:
    labels = np.array([claim.label for claim in claims])
    places = {text: i for i, text in enumerate(dict.fromkeys(claim.evidence for claim in claims))}
    owners = np.array([places[claim.evidence] for claim in claims])
    ways = ([way(claim) for claim in claims] for way in baselines.values())
    others = (figures.roc_auc(each, labels, owners).value for each in ways)
    ours = figures.roc_auc([score(one) for one in verdicts], labels, owners)
    return len(claims), float(labels.mean()), figures.figure(ours, figures.resampled(len(places)))[0], *others


def _called(claims: Sequence[TrainingExample], verdicts: Sequence[Support]) -> tuple[Any, ...]:
    called = sum(one.supported is True for one in verdicts)
    right = sum(one.supported is True and claim.label == 1 for one, claim in zip(verdicts, claims, strict=True))
    shares = counted(right, called), counted(right, sum(claim.label for claim in claims))
    return *shares, counted(sum(one.supported is None for one in verdicts), len(verdicts)), word_f1(claims, verdicts)


def score(verdict: Support) -> float:
    """The value that ranks claims: the probability, or 1, ½ and 0 for supported, undecided and not supported."""
    if verdict.probability is not None:
        return verdict.probability
    return 0.5 if verdict.supported is None else float(verdict.supported)


def word_f1(claims: Sequence[TrainingExample], results: Sequence[Support]) -> float | None:
    """The harmonic mean of how many words pointed at are marked, and how many marked words are pointed at, over the
    claims of which it is known; those with label 1 have no marked word. None where no word is marked at all."""
    right = arguments = marked = 0
    for claim, verdict in zip(claims, results, strict=True):
        if claim.spans is not None:
            truth, reply = _words_at(claim.text, claim.spans), _words_at(claim.text, verdict.unsupported)
            right, arguments, marked = right + len(truth & reply), arguments + len(reply), marked + len(truth)
    return 2 * right / (arguments + marked) if marked else None


def _words_at(text: str, spans: Sequence[tuple[int, int]]) -> set[int]:
    places = [match.span() for match in WORD.finditer(text)]
    return {i for i, (a, b) in enumerate(places) if any(start < b and a < end for start, end in spans)}


def overlap(claim: TrainingExample) -> float:
    """The share of the claim's telling words that the evidence holds."""
    mine = {word for word in words(claim.text) if word not in STOP_WORDS} or set(words(claim.text))
    return len(mine & set(words(claim.evidence))) / max(1, len(mine))


def rouge_l(claim: TrainingExample) -> float:
    """The share of the claim's words that stand in the evidence in their order: the recall of ROUGE-L (Lin 2004)."""
    mine, there = words(claim.text), words(claim.evidence)[:LONGEST]
    row = [0] * (len(mine) + 1)
    for word in there:
        before = 0
        for i, own in enumerate(mine, start=1):
            before, row[i] = row[i], before + 1 if own == word else max(row[i], row[i - 1])
    return row[-1] / max(1, len(mine))


def cosine(embedder: Embedder, claim: TrainingExample) -> float:
    """The cosine of the claim's vector with the evidence's."""
    one, other = embedder.embed([claim.text, claim.evidence])
    return float(one @ other)


def mean(column: Iterable[Figure | float | None]) -> float | None:
    """The mean of a figure over the sets where it is defined; None: nowhere."""
    values = (one.value if isinstance(one, Figure) else one for one in column)
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def verifier(
    data: Annotated[list[Path], Argument(help="Labelled claims: lines of {set, claim, evidence, label}.")],
    limit: Annotated[int | None, Option("--limit", min=1, help="Only a sample of so many claims a set.")] = None,
    json_file: JsonFile = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Hold labelled sentences against their evidence: AUC, precision, words, speed.

    Beside the verifier stand the share of shared words, ROUGE-L and the cosine of the configured embedder's vectors.
    """
    chosen = agreed(agreed(config), *overrides(settings or []))
    sets: dict[str, list[TrainingExample]] = {}
    for path in data:
        for name, some in claim_files.read(path, limit).items():
            sets.setdefault(name, []).extend(some)
    with pulling():
        builder = Builder(chosen)
        one = builder.verifier
    ways: dict[str, Baseline] = {"overlap": overlap, "ROUGE-L": rouge_l, "cosine": partial(cosine, builder.embedder)}
    with counting(one.name) as on_progress:
        tables = run(one, sets, ways, on_progress)
    write_json(json_file, {**recorded(limit), "config": chosen, "verifier": one.name, **as_json(tables)})
    show(tables)
    out.say(f"{one.name}; in square brackets 95 % intervals, from a bootstrap over evidences", "dim")
