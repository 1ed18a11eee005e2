"""WikiPassageQA as its authors give it (Cohen, Yang, Croft 2018): questions that passages of one article answer.

`document_passages.json` has the passages of each document by their numbers; `train.tsv`, `dev.tsv` and `test.tsv` have
QID, Question, DocumentID, DocumentName and RelevantPassages, the numbers of those that answer. There are no answers in
words: the relevant passages together stand for one, as a person would have to write it from them.
"""

import csv
import json
from pathlib import Path

from surefoot.evaluate.problems import Problems, Row
from surefoot.types.errors import UsageError

NAME = "WikiPassageQA"
PASSAGES = "document_passages.json"
FILES = ("test.tsv", "dev.tsv", "train.tsv")


def rows(folder: Path, problems: Problems) -> list[Row]:
    """The questions of all files, in the shared format: each with the passages of its document, in their order. Raises
    UsageError for a folder without questions, and for passages that are not JSON."""
    try:
        documents = json.loads((folder / PASSAGES).read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(f"{folder / PASSAGES} is not JSON: {error}; is the download complete?") from error
    lines = [line for name in FILES if (folder / name).exists() for line in _lines(folder / name)]
    found = [_row(line, documents, problems) for line in lines]
    if not found:
        raise UsageError(f"{folder} has no questions; {', '.join(FILES)} come with {PASSAGES}")
    return found


def _lines(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _row(line: dict[str, str], documents: dict[str, dict[str, str]], problems: Problems) -> Row:
    document, title = line["DocumentID"], Path(line["DocumentName"]).stem.replace("_", " ")
    passages = documents.get(document, {})
    relevant = [number.strip() for number in line["RelevantPassages"].split(",") if number.strip()]
    if lost := [number for number in relevant if number not in passages]:
        problems.add("relevant passages that are not there", line["QID"], len(lost))
    answer = " ".join(passages[number] for number in relevant if number in passages)
    return {
        "id": line["QID"],
        "question": line["Question"],
        "answers": [answer] if answer else [],
        "passages": [
            {"id": f"{document}-{number}", "title": title, "text": text, "label": int(number in relevant)}
            for number, text in passages.items()
        ],
    }
