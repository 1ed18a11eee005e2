"""`surefoot gate`: conditions that an evaluation has to keep, for continuous integration."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from surefoot.cli._console import out, plain, print_json
from surefoot.evaluate.records.folder import opened
from surefoot.evaluate.score.comparison import FIGURES, Condition, gate

_VERDICT = {True: ("kept", "green"), False: ("not kept", "red"), None: ("cannot be checked", "yellow")}


def gated(
    run: Annotated[Path, Argument(metavar="RUN", help="Folder of an evaluation.")],
    conditions: Annotated[
        list[str],
        Option(
            "--min",
            metavar="CONDITION",
            help="A condition in quotes, such as 'adherence.low>=0.8' or 'unscored<=0.02'; again for one more. "
            f"Figures: {', '.join(FIGURES)}.",
        ),
    ],
    as_json: Annotated[bool, Option("--json", help="Print the checks as JSON, and nothing else.")] = False,
) -> None:
    """Hold an evaluation against conditions. Code 1: one is not kept; 2: one cannot be checked.

    Code 2 is given where no condition is broken, but one cannot be checked. In GitHub's actions the checks
    stand in the job's summary too.
    """
    found = opened(run)
    checks = gate(conditions, found.summaries)
    if as_json:
        print_json(checks)
    else:
        _show(checks)
    if file := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(file).open("a", encoding="utf-8") as summary:
            summary.writelines(f"{line}\n" for line in _markdown(checks))
    if any(check.kept is False for check in checks):
        raise typer.Exit(1)
    if any(check.kept is None for check in checks):
        raise typer.Exit(2)


def _show(checks: Sequence[Condition]) -> None:
    for check in checks:
        verdict, colour = _VERDICT[check.kept]
        out.print(plain(f"{verdict}: {check.condition}: {check.figures}"), style=colour)


def _markdown(checks: Sequence[Condition]) -> Iterator[str]:
    yield from ("| condition | verdict | figures |", "| --- | --- | --- |")
    for check in checks:
        figures = plain(check.figures).replace("|", "\\|")
        yield f"| `{check.condition}` | {_VERDICT[check.kept][0]} | {figures} |"
