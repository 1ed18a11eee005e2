"""Makes labelled pairs of questions that people ask of manuals, from a run over them.

    surefoot lab manuals benchmarks/manuals/questions.jsonl MANUALS --out RUN
    python recipes/asked_questions.py benchmarks/manuals/questions.jsonl RUN/surefoot/traces.jsonl OUT.jsonl

The passages are those that the run retrieved, and one is relevant if it holds the words that the question names as its
evidence. Questions made of headings are answered by one passage in ten and worded like it; these are asked by somebody
who does not know the manual's words. The shipped thresholds are fitted on them too (`recipes/manual_evaluator.toml`).
Writes the format of `surefoot_lab.datasets.pairs`.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from surefoot.run import store
from surefoot.types import Trace
from surefoot_lab.datasets import manuals
from surefoot_lab.datasets.manuals import ManualQuestion


def labelled(question: ManualQuestion, trace: Trace) -> dict[str, Any]:
    """The question with its retrieved passages."""
    return {
        "id": question.id,
        "question": question.question,
        "answers": list(question.answers),
        "passages": [
            {"id": p.id, "title": p.title, "text": p.text, "label": int(manuals.held(question, [p.text]))}
            for p in trace.passages
        ],
    }


def main() -> None:
    """Write the pairs, and tell how many."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("questions", "traces", "out"):
        parser.add_argument(name, type=Path)
    arguments = parser.parse_args()
    queries = {question.id: question for question in manuals.read(arguments.questions)}
    found = [labelled(queries[key], trace) for key, trace in store.values(arguments.traces, Trace, "trace").items()]
    store.write_text(arguments.out, "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in found))
    relevant = sum(passage["label"] for one in found for passage in one["passages"])
    sys.stdout.write(
        f"{len(found)} questions, {sum(len(one['passages']) for one in found):,} pairs, {relevant} of them relevant\n"
    )


if __name__ == "__main__":
    main()
