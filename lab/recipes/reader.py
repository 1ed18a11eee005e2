"""Teaches the default local model to answer from numbered sources: an adapter for `generator.use = "reader"`.

    pip install gguf accelerate
    python recipes/reader.py examples DATA examples.json
    python recipes/reader.py train examples.json OUT [--bfloat16]
    python recipes/reader.py check examples.json OUT

`examples` makes lessons from the sets in `SETS`: sources as the refiner cuts them, of a question's own passages and of
those beside them, and for each question the answer with the number of the source that holds it. Nearly half of
the questions are not answered by their sources. Of a set without a test file, an article whose
hash is below 20 of 100 is left out, as when the evaluator is trained: `benchmarks/reader.py` asks of these.

`train` learns on the weights of the GGUF file that will run, read back, and in the very words that the generator sends.
Sources that several questions are asked of are read once for all of them. A stopped training goes on from its last
checkpoint, and OUT/reader.gguf is written at each. `check` holds what xllamacpp says with the adapter against the
network of the training.

A lesson is a set of sources with the questions that are asked of it. `--bfloat16` is faster with avx512_bf16.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from surefoot.generators.reader import NOT_THERE, prompt
from surefoot.llms.local import Local
from surefoot.models import registry
from surefoot.refiners.strips import StripSizes, by_sentences
from surefoot.run.store import rows as stored
from surefoot.run.store import write_text
from surefoot.text.words import content_words, stem, words
from surefoot.types import Message, Passage, Strip
from surefoot_lab.train.sources import normal, percentile
from surefoot_lab.train.training import Stopwatch, checkpoint, claimed, keep

ADAPTER = "reader.gguf"
BASE = "smollm2-135m-instruct-q4_1"
SETS = {
    "squad2/dev": 9999,
    "nq/oracle": 320,
    "clapnq/dev": 40,
    "hotpotqa/train": 50,
    "musique/train": 40,
    "2wiki/train": 100,
    "tatqa/train": 150,
    "strategyqa/train": 60,
    "pubmedqa/train": 20,
}
"""Questions of each set at most. A question of SQuAD takes a quarter of the time of another, as its sources are read
once for all that are asked of them. Yes and no alone teach a small model to guess, so those that only ask for that are
few. All their licences allow it (CC BY-SA, CC BY, Apache-2.0, MIT)."""
HELD_OUT = 20
"""Percentage of articles that are not learned from."""
UNANSWERED = 0.35
"""Share of questions whose evidence is taken away, in sets that have no unanswerable ones of their own."""
MOST_ASKED = 10, 6
"""Questions of one set of sources that they answer, and that they do not, at most."""
CHARACTERS, PAGE = 900, 1500
"""Of the sources of a lesson, and of one with several questions, at most."""
LONGEST = 240
"""Characters of an answer."""
MULTI_HOP = ("hotpotqa", "musique", "2wiki", "strategyqa")
VERDICTS = ("yes", "no")
COMPUTED = ("arithmetic", "count", "multi-span")
"""Types of TAT-QA's questions whose answer does not stand in one place."""

RANK, ALPHA = 16, 32
RATE, WARM, LESSONS_A_STEP = 4e-4, 10, 4
SAVED_EVERY = 60.0
"""Seconds between two checkpoints."""
PLACES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
"""The layers that learn, and llama.cpp's names for them."""

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Lesson:
    """Sources, and what is asked of them."""

    of: str
    """The set."""
    sources: list[tuple[str, str]]
    """Title and text of each; the first is [1]."""
    asked: list[tuple[str, str]]
    """Question and answer."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A strip of a passage of a question."""

    title: str
    text: str
    relevant: bool
    """Its passage is labelled as holding what answers the question."""


# The lessons


def article(row: Row) -> str:
    """The article that a question is of: the title of its first relevant passage, or of its first; else its id."""
    passages = sorted(row["passages"], key=lambda p: p.get("label") != 1)
    title = next((p["title"] for p in passages if p.get("title") not in ("", "table", None)), "")
    return normal(title) or str(row["id"])


def held_out(row: Row) -> bool:
    """Whether the question is kept for measuring."""
    return percentile(article(row)) < HELD_OUT


def cuts(row: Row) -> list[Cut]:
    """The strips of all passages of a question, in their order."""
    return [
        Cut(p["title"], p["text"][start:end], p.get("label") == 1)
        for p in row["passages"]
        for start, end in by_sentences(p["text"], StripSizes())
    ]


def holds(text: str, answer: str) -> bool:
    """Whether the answer's words stand side by side in the text."""
    return f" {' '.join(words(answer))} " in f" {' '.join(words(text))} "


def lessons(data: Path) -> list[Lesson]:
    """The lessons of every set, in an order that is the same for the same data."""
    found: list[Lesson] = []
    for name, most in SETS.items():
        rows = [row for _, row in stored(data / f"{name}.jsonl")]
        rows = [row for row in rows if not held_out(row) or name.endswith("/train")]
        rows = [row for row in rows if row.get("type") not in COMPUTED]
        rows = sorted(rows, key=lambda row: percentile(row["id"]))[:most]
        made = by_page(rows) if name.startswith("squad2") else (lesson(name, row) for row in rows)
        found += [one for one in made if one is not None]
    random.Random(1).shuffle(found)
    return found


def by_page(rows: Sequence[Row]) -> Iterator[Lesson | None]:
    """Lessons of paragraphs that many questions were written on, the unanswerable ones among them."""
    key = lambda row: row["passages"][0]["id"]  # noqa: E731
    for _, same in groupby(sorted(rows, key=key), key):
        asked = list(same)
        chance = random.Random(asked[0]["id"])
        first = cuts(asked[0])
        page = asked[0]["passages"][0]["text"]
        own = [replace(cut, relevant=True) for cut in first if cut.text in page]
        beside = [cut for cut in first if cut.text not in page]
        chosen = fitting(own, chance.sample(beside, min(len(beside), chance.randint(0, 2))), chance, PAGE)
        answered = [pair for row in asked if row["answers"] and (pair := told(row, chosen)) and pair[1] != NOT_THERE]
        refused = [(row["question"], NOT_THERE) for row in asked if not row["answers"]]
        pairs = [*chance.sample(answered, min(len(answered), MOST_ASKED[0]))]
        pairs += chance.sample(refused, min(len(refused), MOST_ASKED[1], max(1, len(pairs))))
        chance.shuffle(pairs)
        yield Lesson("squad2/dev", [(cut.title, cut.text) for cut in chosen], pairs) if pairs else None


def lesson(name: str, row: Row) -> Lesson | None:
    """The lesson of one question; None where no passage holds its answer as it stands."""
    chance = random.Random(row["id"])
    every = cuts(row)
    asked = set(map(stem, content_words(row["question"])))
    near = sorted(every, key=lambda cut: -len(asked & set(map(stem, words(f"{cut.title} {cut.text}")))))
    several = name.partition("/")[0] in MULTI_HOP
    verdict = row["answers"] and row["answers"][0] in (*VERDICTS, "maybe")
    needed = [cut for cut in near if cut.relevant]
    if not verdict and not name.startswith("clapnq"):
        needed = [cut for cut in needed if any(holds(cut.text, answer) for answer in row["answers"])]
    if not row["answers"]:
        return Lesson(
            name, [(cut.title, cut.text) for cut in fitting(near[:4], [], chance)], [(row["question"], NOT_THERE)]
        )
    if not needed:
        return None
    others = [cut for cut in near if cut not in needed and not (verdict and cut.relevant)]
    if chance.random() < UNANSWERED:
        rest = [cut for cut in others if not any(holds(cut.text, answer) for answer in row["answers"])]
        chosen = fitting([], rest[: chance.randint(2, 5)], chance)
        return Lesson(name, [(c.title, c.text) for c in chosen], [(row["question"], NOT_THERE)]) if chosen else None
    hops = [cut for cut in others if cut.relevant][:2] if several else []
    own = [*needed[: 3 if verdict or name.startswith("clapnq") else 1], *hops]
    chosen = fitting(own, [cut for cut in others if cut not in own][: chance.randint(0, 3)], chance)
    pair = told(row, chosen, own if several else None)
    return Lesson(name, [(cut.title, cut.text) for cut in chosen], [pair]) if pair else None


def fitting(own: Sequence[Cut], others: Sequence[Cut], chance: random.Random, most: int = CHARACTERS) -> list[Cut]:
    """All that are its own and as many of the others as fit, in a drawn order."""
    chosen = [*own]
    for cut in others:
        if sum(len(one.title) + len(one.text) for one in (*chosen, cut)) <= most:
            chosen.append(cut)
    chance.shuffle(chosen)
    return chosen


def told(row: Row, sources: Sequence[Cut], used: Sequence[Cut] | None = None) -> tuple[str, str] | None:
    """The question and its answer, with the number of the source that holds it, or of each in `used`."""
    long = "long-form" in (row.get("type") or "")
    answer = (
        sentence(row["answers"][0])
        if long
        else next(
            (one for one in row["answers"] if one in VERDICTS or any(holds(cut.text, one) for cut in sources)), None
        )
    )
    if answer is None or not answer.strip() or len(answer) > LONGEST:
        return None
    holding = [n for n, cut in enumerate(sources, start=1) if cut.relevant and (long or holds(cut.text, answer))]
    numbers = [n for n, cut in enumerate(sources, start=1) if cut in used] if used else holding[:1]
    if answer in VERDICTS and not used:
        numbers = [n for n, cut in enumerate(sources, start=1) if cut.relevant][:2]
    if not numbers or sum(len(cut.title) + len(cut.text) for cut in sources) > PAGE:
        return None
    said = " ".join(answer.split()).rstrip(".")
    return row["question"], f"{said[0].upper()}{said[1:]} {''.join(f'[{n}]' for n in numbers)}."


def sentence(text: str) -> str:
    """The first sentence of a long answer."""
    return text.splitlines()[0] if text else ""


# The network


class Adapted(nn.Module):
    """A layer whose weights stay, with two small matrices beside them that learn (Hu et al. 2021)."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.layer = layer
        self.lora_a = nn.Parameter(torch.randn(RANK, layer.in_features) / RANK)
        self.lora_b = nn.Parameter(torch.zeros(layer.out_features, RANK))

    def forward(self, x: Tensor) -> Tensor:
        """The layer's output and the adapter's; shape (…, out)."""
        added = nn.functional.linear(nn.functional.linear(x, self.lora_a), self.lora_b)
        return self.layer(x) + added * (ALPHA / RANK)  # type: ignore[no-any-return]


def base() -> tuple[Any, Any]:
    """The network and the tokeniser of the GGUF file."""
    from tokenizers.pre_tokenizers import ByteLevel, Digits
    from tokenizers.pre_tokenizers import Sequence as InTurn
    from transformers import AutoModelForCausalLM, AutoTokenizer

    path = registry.ensure(BASE)
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    # transformers does not read from the file that each digit is a piece of its own.
    pieces = InTurn([Digits(individual_digits=True), ByteLevel(add_prefix_space=False, use_regex=True)])
    tokenizer.backend_tokenizer.pre_tokenizer = pieces
    network = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    return network, tokenizer


def adapted(network: Any, bfloat16: bool) -> dict[str, Adapted]:
    """Adapters in every layer of `PLACES`, by llama.cpp's name; nothing else learns."""
    torch.manual_seed(1)
    network.requires_grad_(requires_grad=False)
    found = {}
    for number, block in enumerate(network.model.layers):
        for place, name in PLACES.items():
            part, _, leaf = place.partition(".")
            layer = Adapted(getattr(getattr(block, part), leaf))
            if bfloat16:
                layer.layer.to(torch.bfloat16)
            setattr(getattr(block, part), leaf, layer)
            found[f"blk.{number}.{name}.weight"] = layer
    return found


def conversation(question: str, sources: Sequence[tuple[str, str]]) -> list[Message]:
    """The generator's own prompt."""
    passages = [Passage(str(n), text, title) for n, (title, text) in enumerate(sources)]
    return prompt(question, [(Strip(p.id, 0, len(p.text), p.text, None, kept=True), p) for p in passages])


@dataclass(frozen=True, slots=True)
class Pieces:
    """A lesson as the network reads it: the sources once, then each question with its answer."""

    ids: Tensor
    places: Tensor
    """Position of each piece; each question goes on behind the sources."""
    mask: Tensor
    """0 where a piece sees another, −∞ where it does not: no question sees another one. Shape (1, 1, n, n)."""
    says: Tensor
    """Places whose next piece is learned."""
    wanted: Tensor
    """That piece."""


def encoded(tokenizer: Any, taught: Lesson) -> Pieces:
    """The pieces of a lesson."""
    ids: list[int] = []
    part: list[int] = []
    places: list[int] = []
    says: list[int] = []
    for number, (question, answer) in enumerate(taught.asked, start=1):
        turns = [{"role": m.role, "content": m.content} for m in conversation(question, taught.sources)]
        shared = tokenizer.apply_chat_template(turns[:-1], tokenize=False)
        whole = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        head, tail = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in (shared, whole[len(shared) :]))
        said = tokenizer(f"{answer}<|im_end|>", add_special_tokens=False)["input_ids"]
        if not ids:
            ids, part, places = [*head], [0] * len(head), [*range(len(head))]
        says += range(len(ids) + len(tail) - 1, len(ids) + len(tail) + len(said) - 1)
        places += range(len(head), len(head) + len(tail) + len(said))
        part += [number] * (len(tail) + len(said))
        ids += [*tail, *said]
    of = torch.tensor(part)
    seen = ((of[:, None] == of[None, :]) | (of[None, :] == 0)).tril()
    mask = torch.zeros(seen.shape).masked_fill(~seen, -torch.inf)[None, None]
    all_ids, at = torch.tensor(ids), torch.tensor(says)
    return Pieces(all_ids[None], torch.tensor(places)[None], mask, at, all_ids[at + 1])


def losses(network: Any, pieces: Pieces, bfloat16: bool) -> Tensor:
    """The loss of each piece of the answers."""
    with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
        mask = pieces.mask.to(torch.bfloat16) if bfloat16 else pieces.mask
        hidden = network.model(input_ids=pieces.ids, attention_mask=mask, position_ids=pieces.places, use_cache=False)
        logits = network.lm_head(hidden.last_hidden_state[0, pieces.says])
    return nn.functional.cross_entropy(logits.float(), pieces.wanted, reduction="none")


def train(examples: Path, out: Path, bfloat16: bool, limit: int | None) -> None:
    """Learn from the lessons once, going on where a former run stopped; OUT/reader.gguf is written at each checkpoint.

    Raises UsageError where another process does so.
    """
    taught = [Lesson(**row) for row in json.loads(examples.read_text(encoding="utf-8"))][:limit]
    network, tokenizer = base()
    layers = adapted(network, bfloat16)
    network.train()
    learned = [tensor for layer in layers.values() for tensor in (layer.lora_a, layer.lora_b)]
    optimiser = torch.optim.AdamW(learned, RATE, weight_decay=0.0)
    steps = len(taught) // LESSONS_A_STEP
    about = f"{len(taught)} {RANK} {ALPHA} {RATE} {LESSONS_A_STEP}"
    with claimed(out, out / "lock"):
        kept = checkpoint(out / "checkpoint.pt", about, "cpu")
        first = kept["step"] if kept else 0
        if kept:
            optimiser.load_state_dict(kept["optimiser"])
            with torch.no_grad():
                for tensor, value in zip(learned, kept["learned"], strict=True):
                    tensor.copy_(value)
        watch, mean, last = Stopwatch(first, steps), float("nan"), time.monotonic()
        for step in range(first, steps):
            batch = taught[step * LESSONS_A_STEP : (step + 1) * LESSONS_A_STEP]
            group = [encoded(tokenizer, one) for one in batch]
            optimiser.param_groups[0]["lr"] = RATE * min(1.0, (step + 1) / WARM) * (1 - step / steps)
            pieces, total = sum(len(one.wanted) for one in group), 0.0
            optimiser.zero_grad()
            for one in group:
                loss = losses(network, one, bfloat16).sum() / pieces
                loss.backward()  # type: ignore[no-untyped-call]
                total += loss.item()
            torch.nn.utils.clip_grad_norm_(learned, 1.0)
            optimiser.step()
            mean = total if mean != mean else 0.95 * mean + 0.05 * total
            progress = watch.progress(
                step + 1, sum(len(one.asked) for one in taught[step * LESSONS_A_STEP :][:LESSONS_A_STEP]), mean
            )
            if step + 1 == steps or time.monotonic() - last > SAVED_EVERY:
                state = {"about": about, "step": step + 1, "optimiser": optimiser.state_dict(), "learned": learned}
                keep(out / "checkpoint.pt", state)
                write_adapter(out / ADAPTER, layers)
                last = time.monotonic()
            tell(
                f"step {progress.step} of {steps}, loss {total:.3f}, mean {mean:.3f}, "
                f"{progress.pairs_per_second:.2f} questions/s, {progress.seconds_left / 60:.0f} min left"
            )


# The adapter


def permuted(rows: np.ndarray[Any, Any], heads: int) -> np.ndarray[Any, Any]:
    """Rows of a query or key matrix in llama.cpp's order: of each head the two halves that turn together, by turns."""
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def tensors(layers: dict[str, Adapted], heads: tuple[int, int]) -> dict[str, np.ndarray[Any, Any]]:
    """The adapter's matrices by llama.cpp's names, in float16; `heads`: of queries, and of keys."""
    found = {}
    for name, layer in layers.items():
        a, b = (tensor.detach().numpy() for tensor in (layer.lora_a, layer.lora_b))
        if "attn_q" in name or "attn_k" in name:
            b = permuted(b, heads["attn_k" in name])
        found[f"{name}.lora_a"], found[f"{name}.lora_b"] = (np.ascontiguousarray(m, np.float16) for m in (a, b))
    return found


def write_adapter(path: Path, layers: dict[str, Adapted], heads: tuple[int, int] = (9, 3)) -> None:
    """Write the adapter as llama.cpp reads it, whole or not at all."""
    from gguf import GGUFWriter

    fresh = path.with_name(f"{path.name}.new")
    writer = GGUFWriter(fresh, "llama")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", ALPHA)
    for name, matrix in tensors(layers, heads).items():
        writer.add_tensor(name, matrix)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    os.replace(fresh, path)


def check(examples: Path, out: Path, many: int) -> None:
    """Tell how far xllamacpp's log-probabilities of its own answers are from the network's."""
    taught = [Lesson(**row) for row in json.loads(examples.read_text(encoding="utf-8"))][-many:]
    network, tokenizer = base()
    layers = adapted(network, bfloat16=False)
    kept = torch.load(out / "checkpoint.pt", weights_only=True)["learned"]
    for tensor, value in zip((t for one in layers.values() for t in (one.lora_a, one.lora_b)), kept, strict=True):
        tensor.data.copy_(value)
    network.eval()
    llama = Local(threads=2, adapter=str(out / ADAPTER))._server()
    apart: list[float] = []
    for one in taught:
        question, answer = one.asked[0]
        turns = [{"role": m.role, "content": m.content} for m in conversation(question, one.sources)]
        asked = {"messages": turns, "max_tokens": 64, "temperature": 0, "logprobs": True, "top_logprobs": 1}
        reply: Any = llama.handle_chat_completions(asked)
        reply = json.loads(reply) if isinstance(reply, str | bytes) else reply
        said = reply["choices"][0]
        rows = said["logprobs"]["content"]
        text = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        tail = [row["id"] for row in rows]
        with torch.no_grad():
            logits = network(torch.tensor([[*ids, *tail]])).logits[0, len(ids) - 1 : -1].log_softmax(-1)
        own = [float(logits[n, token]) for n, token in enumerate(tail)]
        gaps = [abs(mine - row["logprob"]) for mine, row in zip(own, rows, strict=True)]
        same = sum(int(logits[n].argmax()) == token for n, token in enumerate(tail))
        apart += gaps
        tell(
            f"{question}\n  wanted {answer}\n  said   {said['message']['content']}\n  {len(ids)} pieces here, "
            f"{reply['usage']['prompt_tokens']} there; same choice {same} of {len(tail)}, apart at most {max(gaps):.3f}"
        )
    tell(f"mean gap of {len(apart)} log-probabilities {np.mean(apart):.4f}, 95 % below {np.quantile(apart, 0.95):.3f}")


def tell(text: str) -> None:
    """A line for whoever watches."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Make the lessons, train, or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("examples")
    making.add_argument("data", type=Path)
    making.add_argument("out", type=Path)
    training = commands.add_parser("train")
    checking = commands.add_parser("check")
    for one in (training, checking):
        one.add_argument("examples", type=Path)
        one.add_argument("out", type=Path)
    training.add_argument("--bfloat16", action="store_true")
    training.add_argument("--limit", type=int)
    checking.add_argument("--many", type=int, default=6)
    given = parser.parse_args()
    if given.command == "examples":
        made = lessons(given.data)
        write_text(given.out, json.dumps([asdict(one) for one in made], ensure_ascii=False))
        asked = [pair for one in made for pair in one.asked]
        tell(f"{len(made)} lessons, {len(asked)} questions, {sum(a == NOT_THERE for _, a in asked)} of them unanswered")
    elif given.command == "train":
        train(given.examples, given.out, given.bfloat16, given.limit)
    else:
        check(given.examples, given.out, given.many)


if __name__ == "__main__":
    main()
