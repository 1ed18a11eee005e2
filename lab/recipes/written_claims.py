"""Has a language model write claims about sentences of passages, true and false ones, and checks them by a round trip.

    python recipes/written_claims.py PASSAGES.jsonl OUT --set llm.use=openai --set llm.base_url=http://…/v1

PASSAGES is as for `written_questions.py`. A sentence, item or row of each passage is said in other words, which holds,
and changed by `CHANGES`: into its opposite, with another number or name, mixed up with its neighbour, or with something
added. A claim is dropped where the change cannot be seen in it, or where the model, shown the passage and the claim,
does not say what the change should have made of it.

OUT/values.jsonl has every claim, dropped ones with the reason; a killed run goes on from there. OUT/claims.jsonl has
the others in the format of the verifier's support files, with `verdict` beside the label of 1 or 0.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passage_runs import SourcePassage, finished, name, opened, options, read_passages, spread_passages, worked
from surefoot.evaluate.testset.prompter import Prompter
from surefoot.text.blocks import led, parts
from surefoot.text.words import content_words, words

PROMPTS = Path(__file__).with_suffix(".toml")
CHANGES = {
    "paraphrase": "supported",
    "polarity": "contradicted",
    "number": "contradicted",
    "name": "contradicted",
    "merged": "not supported",
    "invention": "not supported",
}
"""What is made of a sentence, and whether the passage then supports it."""
REPLIES = {"supported": ("yes",), "contradicted": ("no",), "not supported": ("no", "unknown")}
"""What the model has to say of such a claim."""
SHORTEST, LONGEST = 6, 45
"""Words of a sentence, at least and at most."""


@dataclass(frozen=True, slots=True)
class WrittenClaim:
    """A claim about a passage, and what the round trip made of it."""

    kind: str
    source: str
    """The words of the passage that it is made of."""
    claim: str
    fault: str = ""
    """The reason why it was dropped."""


Claims = tuple[WrittenClaim, ...]


def drafts(passage: SourcePassage) -> list[tuple[str, str]]:
    """Kinds of claims with the words to make them of: a paraphrase and an opposite of one place, drawn by a hash, and
    another change of it."""
    chance, text = random.Random(f"claims {passage.id}"), passage.text
    prose = [unit for part in parts(text) if part.kind != "code" for unit in part.units]
    units = [" ".join(led(text, *unit)[0].split()) for unit in prose]
    fitting = [n for n, unit in enumerate(units) if SHORTEST <= len(words(unit)) <= LONGEST]
    if not fitting:
        return []
    number = chance.choice(fitting)
    beside = [n for n in fitting if abs(n - number) == 1]
    changes = ["name", "invention"] + ["merged"] * bool(beside) + ["number"] * 2 * bool(numbers(units[number]))
    change = chance.choice(changes)
    mixed = f"{units[number]} / {units[beside[0]]}" if change == "merged" else units[number]
    return [("paraphrase", units[number]), ("polarity", units[number]), (change, mixed)]


def numbers(text: str) -> set[str]:
    """The numbers in a text, as they are written."""
    return set(re.findall(r"\d[\d.,]*", text))


def wording_fault(kind: str, source: str, claim: str) -> str:
    """The reason to drop a claim for its own words; empty: there is none."""
    before, after = words(source), words(claim)
    if not after or len(after) > 2 * LONGEST:
        return "no sentence"
    if before == after or (kind == "paraphrase" and {*content_words(source)} == {*content_words(claim)}):
        return "nothing changed"
    same = numbers(source) == numbers(claim)
    if (kind == "number") == same and kind in ("number", "paraphrase", "polarity"):
        return "another change"
    return "nothing added" if kind == "invention" and {*after} <= {*before} else ""


def written(passage: SourcePassage, prompter: Prompter) -> Claims:
    """The claims about a passage after their round trip."""
    return tuple(_written(passage, kind, source, prompter) for kind, source in drafts(passage))


def _written(passage: SourcePassage, kind: str, source: str, prompter: Prompter) -> WrittenClaim:
    claim = prompter.reply(passage, name(passage), kind, source, max_tokens=80)
    fault = wording_fault(kind, source, claim)
    if not fault:
        reply = prompter.reply(passage, name(passage), "check", claim, max_tokens=4).lower().rstrip(".")
        fault = "" if reply in REPLIES[CHANGES[kind]] else f"judged {reply}"
    return WrittenClaim(kind, source, claim, fault)


def lines(passages: Mapping[str, SourcePassage], done: Mapping[str, Claims]) -> Iterator[dict[str, Any]]:
    """The claims that were not dropped. Those of one passage have one `pair`."""
    for id, one in ((id, one) for id, claims in done.items() for one in claims if not one.fault):
        if passage := passages.get(id):
            yield {
                "id": f"{id} {one.kind}",
                "set": "written",
                "pair": id,
                "package": passage.package,
                "use": passage.use,
                "licence": passage.licence,
                "kind": one.kind,
                "question": "",
                "title": passage.title,
                "evidence": passage.text,
                "claim": one.claim,
                "label": int(CHANGES[one.kind] == "supported"),
                "verdict": CHANGES[one.kind],
            }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the claims and, at the end, the file of those that were not dropped."""
    inputs = options(__doc__).parse_args(arguments)
    _, prompter, run = opened(inputs, PROMPTS)
    passages = read_passages(inputs.passages)
    wanted = spread_passages(passages.values())[: inputs.limit]
    done = worked(run, Claims, wanted, inputs.threads, lambda one: written(one, prompter))
    finished(done, lines(passages, done), inputs.out / "claims.jsonl")


if __name__ == "__main__":
    main()
