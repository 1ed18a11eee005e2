"""How much faster is an evaluator than CRAG's T5-large? Both grade the same pairs, turn about, in one run.

    python benchmarks/t5_speed.py PAIRS.jsonl --against minilm [--pairs 3] [--against-pairs 200] [--rounds 5] [--json F]

The T5 has the size of T5-large and random weights: what they are changes nothing about the time. Its tokeniser is
made of the words of the pairs; `--t5 FOLDER` takes a real checkpoint. Each round times T5 on a few pairs and then the
other evaluator on more, the few among these, and none of an earlier round, whose grades might be remembered. A rate is
the median of the rounds, and the ratio the median of the rounds' ratios, so that a machine that is busy for a while
slows both.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from surefoot.config.builder import Builder
from surefoot.config.settings import read, settings
from surefoot.evaluators.t5 import T5
from surefoot.types.protocols import Evaluator, Pair
from surefoot_lab.datasets import pairs as labelled

LARGE = {"d_model": 1024, "d_kv": 64, "d_ff": 4096, "num_layers": 24, "num_decoder_layers": 24, "num_heads": 16}
VOCABULARY = 32_128


def random_t5(folder: Path, texts: list[str], size: dict[str, int]) -> Path:
    """A T5 evaluator of this size in the folder."""
    config = transformers.T5Config(
        vocab_size=VOCABULARY, decoder_start_token_id=0, dropout_rate=0.0, num_labels=1, **size
    )
    transformers.utils.logging.disable_progress_bar()
    transformers.T5ForSequenceClassification(config).save_pretrained(folder)
    marks = ("<pad>", "</s>", "<unk>")
    vocabulary = [(mark, 0.0) for mark in marks] + list(pieces(texts).items())
    tokenizer = Tokenizer(models.Unigram(vocabulary[:VOCABULARY], unk_id=2))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    tokenizer.post_processor = processors.TemplateProcessing(single=["$A", "</s>"], special_tokens=[("</s>", 1)])
    named = dict(zip(("pad_token", "eos_token", "unk_token"), marks, strict=True))
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named).save_pretrained(folder)
    return folder


def pieces(texts: list[str]) -> dict[str, float]:
    """The letters, and the words, most frequent first, those of more than six letters in two: about 1.3 pieces a word,
    as T5's own vocabulary makes of English."""
    words = [f"▁{word}" for word, _ in Counter(word for text in texts for word in text.split()).most_common()]
    found = dict.fromkeys(sorted({letter for word in words for letter in word}), -20.0)
    for word in words:
        found |= dict.fromkeys((word[:6], word[6:]) if len(word) > 7 else (word,), -5.0)
    return found


def seconds(evaluator: Evaluator, pairs: list[Pair]) -> float:
    """What grading takes; every pair must get a grade."""
    started = time.perf_counter()
    grades = evaluator.grade(pairs)
    took = time.perf_counter() - started
    if ungraded := [grade.reason for grade in grades if grade.score is None]:
        raise SystemExit(f"{len(ungraded)} pairs could not be graded: {ungraded[0]}")
    return took


def compare(t5: Evaluator, other: Evaluator, rounds: list[list[Pair]], few: int) -> list[tuple[float, float]]:
    """Pairs a second of both, round by round; the first pairs of all, to warm up, are not timed."""
    seconds(t5, rounds[0][:1])
    seconds(other, rounds[0][:10])
    rates = []
    for number, pairs in enumerate(rounds[1:], start=1):
        rates.append((few / seconds(t5, pairs[:few]), len(pairs) / seconds(other, pairs)))
        print(f"round {number} of {len(rounds) - 1}: {rates[-1][0]:.3f} and {rates[-1][1]:.1f} pairs/s", flush=True)
    return rates


def sample(path: Path, size: int, rounds: int) -> list[list[Pair]]:
    """Different pairs for each round, and for one before them."""
    found = [(pair.question, pair.passage) for pair in labelled.read(path).pairs if pair.passage.text.strip()]
    found = list({(question, passage.text): (question, passage) for question, passage in found}.values())
    if len(found) < size * (rounds + 1):
        raise SystemExit(f"{path} has {len(found)} different pairs, too few for {rounds} rounds; lower --against-pairs")
    random.Random(0).shuffle(found)
    return [found[start : start + size] for start in range(0, size * (rounds + 1), size)]


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="questions with labelled passages")
    parser.add_argument("--against", default="lexical", help="the other evaluator, by name")
    parser.add_argument("--set", dest="settings", action="append", default=[], help="its settings: evaluator.key=value")
    parser.add_argument("--t5", type=Path, help="a T5 checkpoint instead of random weights")
    parser.add_argument("--pairs", type=int, default=3, help="that T5 grades in a round")
    parser.add_argument("--against-pairs", type=int, default=200, help="that the other one grades in a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--layers", type=int, default=24, help="fewer, to try this script")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def main() -> None:
    given = parsed()
    rounds = sample(given.data, max(given.against_pairs, given.pairs), given.rounds)
    other = Builder(read({}, {"evaluator": {"use": given.against}}, *settings(given.settings))).evaluator
    size = {**LARGE, "num_layers": given.layers, "num_decoder_layers": given.layers}
    with tempfile.TemporaryDirectory() as folder:
        texts = [f"{question} [SEP] {passage.text}" for pairs in rounds for question, passage in pairs]
        t5 = T5(str(given.t5 or random_t5(Path(folder), texts, size)), device="cpu")
    lengths = [
        len(t5._checkpoint.pieces(f"{q} [SEP] {p.text}").ids) for pairs in rounds[1:] for q, p in pairs[: given.pairs]
    ]
    rates = compare(t5, other, rounds, given.pairs)
    slow, fast = (median(column) for column in zip(*rates, strict=True))
    report = {
        "made": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "machine": f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, torch {torch.__version__}",
        "t5": str(given.t5 or f"random weights, {given.layers} + {given.layers} layers"),
        "threads": torch.get_num_threads(),
        "pieces_of_a_pair": median(lengths),
        "t5_pairs_per_second": slow,
        "against": other.name,
        "against_pairs_per_second": fast,
        "ratio": median(quick / late for late, quick in rates),
        "rounds": rates,
    }
    print(f"T5-large {slow:.3f} pairs/s ({report['pieces_of_a_pair']:.0f} pieces each)")
    print(f"{other.name} {fast:.1f} pairs/s: {report['ratio']:.0f} times as many")
    if given.json:
        given.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
