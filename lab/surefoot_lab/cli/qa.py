"""`surefoot lab qa`: answer labelled questions in one way or several, and count."""

from functools import partial
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from surefoot.cli import _questions as questions
from surefoot.cli._configuration import ConfigFile, IndexFile, Settings, configured
from surefoot.cli._console import counting, err, out, write_json
from surefoot.cli._questions import Golds, Ray
from surefoot.evaluate.ask import runs
from surefoot.run import manifest
from surefoot.run.store import to_json
from surefoot.types.errors import UsageError
from surefoot_lab import methods, pictures, qa as bench_qa
from surefoot_lab.changes import KINDS, STAGES, changed
from surefoot_lab.cli._options import JsonFile, Threads
from surefoot_lab.report import report_json, show


def qa(
    data: Annotated[
        Path,
        Argument(
            help="Questions: lines of {id, question, answers, passages?}, a file of Self-RAG's eval_data, or a set of "
            "CRAG's data/ folder."
        ),
    ],
    index: IndexFile = None,
    texts: Annotated[
        bool, Option("--given", help="Instead of an index, read the texts that come with the questions.")
    ] = False,
    method: Annotated[
        list[str] | None,
        Option(
            "--method",
            metavar="NAME",
            help="none (the model's memory), rag (or rag:10: ten passages), self-rag (or self-rag:10), crag (searches "
            "nowhere), crag+search, self-crag, self-crag+search; again for one beside it. Unnamed: crag, with the "
            "search if one is configured.",
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        Option(
            "--without",
            metavar="STAGE",
            help=f"Ask corrective methods again without a stage, of {', '.join(STAGES)}; again for one more, each by "
            "itself; all for all that do anything.",
        ),
    ] = None,
    worse: Annotated[
        list[str] | None,
        Option(
            "--worse",
            metavar="KIND[:SHARE]",
            help=f"Ask again with a share of the passages taken away: {' or '.join(KINDS)} (of those with an answer); "
            "without a share, each quarter.",
        ),
    ] = None,
    top: Annotated[int, Option("--top", min=1, help="Passages that rag reads where it does not say.")] = methods.TOP,
    golds: Golds = None,
    limit: Annotated[int | None, Option("--limit", min=1, help="Only a sample of so many questions.")] = None,
    workers: Threads = 1,
    ray: Ray = None,
    json_file: JsonFile = None,
    picture: Annotated[
        Path | None, pictures.drawing("types and actions of the one method, or what --worse takes away,")
    ] = None,
    run: Annotated[
        Path | None, Option("--run", metavar="FOLDER", help="Keep the traces here, a folder each; resumes.")
    ] = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Answer labelled questions and count: accuracy with its interval, by action and type, recall, seconds.

    Of several methods over the same questions it also says by how much they differ, and whether that may be chance. An
    answer that no source carries is marked and counted, whatever the method, unless answer.check says otherwise.
    """
    chosen = configured(config, settings, index)
    chosen["answer"] = {"check": "mark", **chosen["answer"]}
    queries = questions.question_run("qa", data, chosen, run, golds, limit, texts)
    searches = queries.config["searcher"]["use"] != "nowhere"
    arms = changed(methods.arms(method or [], searches, top), without or [], worse or [])
    if searches and any(arm.name in ("crag", "self-crag") for arm in arms):
        err.print("crag and self-crag search nowhere; crag+search and self-crag+search do", style="dim")
    if picture and not worse and len(arms) > 1:
        raise UsageError("--figure draws types and actions of one method; name one")
    examples, about = queries.loaded.examples, {**queries.about, "config": queries.config}
    with questions.spread(queries.config, workers, ray) as ask, counting("questions") as on_done:
        asked = runs.run(arms, examples, ask, queries.folder, about, on_done)
    reports = [bench_qa.report(arm.name, examples, traces) for arm, traces in asked]
    known = {"format": queries.loaded.format, "problems": to_json(queries.loaded.problems), "top": top}
    tables = bench_qa.tables(reports)
    whole = {**about, **known, "environment": manifest.environment()}
    write_json(json_file, report_json(reports, tables, whole))
    if picture:
        draw = partial(pictures.robustness, reports) if worse else partial(pictures.types_and_actions, reports[0])
        draw(str(data), picture)
    beside = ("methods", "answers", "differences", "rules")
    show(table for table in tables if len(reports) == 1 or table.name in beside)
    for stage in dict.fromkeys(one.change.removeprefix("without ") for one in reports if one.change[:8] == "without "):
        out.say(f"without {stage}: {STAGES[stage].instead}", "dim")
    err.say(f"traces in {queries.folder}", "dim")
