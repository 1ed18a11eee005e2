"""An assertion about the answers of any RAG system, for its tests."""

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from surefoot.config.builder import Builder
from surefoot.config.settings import read as configuration
from surefoot.evaluate.ask.questions import Example, read as read_questions
from surefoot.evaluate.evaluation import Evaluation
from surefoot.evaluate.records.files import read
from surefoot.evaluate.records.folder import opened
from surefoot.evaluate.score.comparison import gate, metrics_of
from surefoot.evaluate.score.lexical import wordings
from surefoot.run.store import to_json
from surefoot.types import Trace

Answer = str | Mapping[str, Any] | Trace
"""A text, fields in any names that a file of records may have, such as `answer` and `contexts`, or a trace."""


def assert_rag(
    system: Callable[[str], Answer],
    questions: str | Path,
    *conditions: str,
    run: str | Path | None = None,
    config: str | Path | Mapping[str, Any] | None = None,
    workers: int = 1,
) -> None:
    """Ask `system` each question of a file, and hold the scores of its answers against conditions of `surefoot gate`.

    `assert_rag(chain, "questions.jsonl", "factuality.mean>=0.7", "adherence.low>=0.8")`. Only metrics that a condition
    names are judged, as `config` says (None: surefoot.toml). `run` is a folder for the evaluation, which is otherwise
    thrown away; `workers` questions are asked at a time.

    Raises AssertionError, with each mean, its interval and the records that it is of, where a condition is not kept or
    cannot be checked; UsageError, ComponentError, and what the system raises.
    """
    __tracebackhide__ = True
    builder, examples = Builder(configuration(config)), read_questions(questions)
    judges = {judge.metric: judge for judge in (*builder.judges(), *wordings())}
    chosen = [judges[metric] for metric in metrics_of(conditions, [*judges])]
    with ThreadPoolExecutor(workers) as pool, TemporaryDirectory() as temporary:
        answers = pool.map(system, [example.question for example in examples])
        lines = [_line(example, answer) for example, answer in zip(examples, answers, strict=True)]
        file = Path(temporary) / "answers.jsonl"
        file.write_text("\n".join(lines), encoding="utf-8")
        folder = Path(run or temporary)
        Evaluation(builder, chosen, read(file, questions).records, folder).judge({})
        checks = gate(conditions, opened(folder).summaries)
    if broken := [f"{check.condition}: {check.figures}" for check in checks if not check.kept]:
        raise AssertionError("\n".join([f"{len(broken)} of {len(checks)} conditions are not kept", *broken]))


def _line(example: Example, answer: Answer) -> str:
    """An answer as a line of a file of records."""
    if isinstance(answer, Trace):
        return json.dumps({"key": example.id, "trace": to_json(answer)})
    fields = {"answer": answer} if isinstance(answer, str) else answer
    return json.dumps(to_json({**fields, "id": example.id, "question": example.question}))
