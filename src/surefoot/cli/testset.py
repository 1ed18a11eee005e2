"""`surefoot testset`: labelled questions with their evidence, made from one's own documents."""

from collections import Counter
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from surefoot.cli._configuration import CollectionName, ConfigFile, IndexFile, ModelName, Settings, configured
from surefoot.cli._console import counting, err, out, pulling
from surefoot.cli.index import index as index_documents
from surefoot.config.builder import Builder
from surefoot.evaluate.testset import build
from surefoot.evaluate.testset.prompter import Prompter, prompts
from surefoot.evaluate.testset.structure import Structure
from surefoot.run.store import Run, values, write_text
from surefoot.text.json_values import spelled
from surefoot.types.errors import UsageError


def make(
    documents: Annotated[
        list[Path] | None, Argument(metavar="[DOCUMENTS]...", help="Files and folders to index first.")
    ] = None,
    out_file: Annotated[
        Path, Option("--out", metavar="FILE", help="The questions; beside it a folder FILE.run to go on from.")
    ] = Path("questions.jsonl"),
    questions: Annotated[int, Option("--questions", min=1, help="So many, of all kinds together.")] = 50,
    kinds: Annotated[
        list[str] | None, Option("--kind", metavar="KIND", help=f"{', '.join(build.SHARES)}; again for more.")
    ] = None,
    index: IndexFile = None,
    collection: CollectionName = None,
    model: ModelName = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Make labelled questions with their evidence from the documents of an index.

    A language model writes them where one words the answers or is an endpoint; otherwise they are made of terms, rows
    and headings that ask. Each is kept only if its passage is retrieved for it and the answer is read in its place.
    `surefoot improve` and `surefoot lab qa` take the file.
    """
    if wrong := {*(kinds or [])} - build.SHARES.keys():
        raise UsageError(f"no kind of question called '{min(wrong)}'; there are: {', '.join(build.SHARES)}")
    if documents:
        index_documents([*map(str, documents)], index=index, collection=collection, config=config, settings=settings)
    builder = Builder(configured(config, settings, index, collection, model))
    words = builder.config["generator"]["use"] == "llm" or builder.config["llm"]["use"] == "openai"
    prompter = Prompter(builder.llm, prompts()) if words else None
    with pulling():
        maker = build.QuestionMaker(Structure(builder.index.passages()), builder.retriever, builder.reader, prompter)
    about = {
        "command": "testset",
        "model": prompter.llm.name if prompter else None,
        "index": builder.index.info().updated,
        "config": {name: builder.config[name] for name in ("index", "retriever", "evaluator")},
    }
    run = Run(out_file.with_name(f"{out_file.name}.run"), about, "values.jsonl")
    wanted = build.shared_out(questions, kinds or [*build.SHARES])
    with counting("Making questions") as report:
        made = build.build(maker, run, wanted, builder.in_flight if prompter else 1, report)
    titles = {one.id: one.title for one in maker.structure.passages}
    write_text(out_file, "".join(f"{spelled(build.row(key, one, titles))}\n" for key, one in made.items()))
    found = Counter(one.kind for one in made.values())
    for kind, most in wanted.items():
        short = f" of {most}: the documents yield no more" if found[kind] < most else ""
        out.say(f"{found[kind]:4} {kind}{short}")
    tried = Counter(one.fault for one in values(run.path, build.MadeQuestion).values() if one.fault)
    if tried:
        err.say("dropped: " + ", ".join(f"{count:,} {fault}" for fault, count in tried.most_common()), "dim")
    if not made and not prompter:
        out.say("questions come from terms, tables and headings that ask, or from a language model: --model NAME")
    out.say(f"{len(made)} questions in {out_file}")
