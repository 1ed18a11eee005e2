"""The words that moved a grade, for records of an evaluation: kept in its folder, where the viewer shows them."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from surefoot.config.builder import Builder
from surefoot.config.settings import read
from surefoot.config.trust import Own, Rebuilt, rebuilt
from surefoot.evaluate.diagnose.diagnosis import CASES
from surefoot.evaluate.evaluation import DIAGNOSIS
from surefoot.evaluate.records.folder import opened
from surefoot.explain.grade import as_graded, explain
from surefoot.run.store import ENVIRONMENTS, Run, read_value
from surefoot.types import Attribution, Diagnosis, Trace
from surefoot.types.errors import SurefootError, UsageError
from surefoot.types.protocols import Evaluator

ATTRIBUTIONS = "attributions.jsonl"


def shown(folder: Path) -> tuple[str, ...]:
    """The ids of the first few records that show the first item of the folder's diagnosis. Raises UsageError where
    there is none, TraceFault where it is damaged."""
    if not (folder / DIAGNOSIS).exists():
        raise UsageError(f"{folder} has no diagnosis; name records: --record ID")
    found = read_value(folder / DIAGNOSIS, Diagnosis)
    if not (ids := next((item.cases for item in found.items if item.cases), ())):
        raise UsageError(f"the diagnosis in {folder} names no record; name some: --record ID")
    return ids[:CASES]


def worded(
    folder: Path,
    ids: Sequence[str],
    own: Own | None = None,
    on_rebuilt: Callable[[Rebuilt], None] = lambda found: None,
    **options: Any,
) -> Iterator[tuple[str, Attribution | str]]:
    """Explain each record's best grade, as the evaluator of its trace gives it, and keep the explanation in the folder;
    yields it by the record's id, or the reason why there is none.

    The evaluator is built from what the trace recorded beside the user's `own` (None: the defaults); `on_rebuilt` gets
    the outcome once for each configuration, before anything is built. `options` are those of `explain.grade.explain`.
    Cost: some hundreds of graded pairs a record. Raises UsageError where there is no evaluation, no such record, or
    where another process holds the folder.
    """
    run = opened(folder)
    records = {record.id: record for record in run.records}
    if missing := [id for id in ids if id not in records]:
        such = f", such as {next(iter(records))!r}" if records else ""
        raise UsageError(f"{folder} has no record {missing[0]!r}; there are {len(records):,}{such}")
    evaluators: dict[str, Evaluator] = {}
    mine = own or Own(read({}))

    def built(trace: Trace) -> Evaluator:
        found = rebuilt(trace.config, mine)
        name = json.dumps([found.config, found.left], sort_keys=True)
        if name not in evaluators:
            on_rebuilt(found)
            evaluators[name] = Builder(found.config).evaluator
        return evaluators[name]

    run_file = Run(folder, {name: value for name, value in run.about.items() if name != ENVIRONMENTS}, ATTRIBUTIONS)
    with run_file.held():
        for id in ids:
            if not (trace := records[id].trace):
                yield id, "it has no trace, which would say what was graded, and by what"
                continue
            try:
                evaluator = built(trace)
                found = explain(evaluator, trace.standalone_question, as_graded(trace, evaluator), **options)
            except SurefootError as error:
                yield id, str(error)
                continue
            run_file.add(id, found)
            yield id, found
