"""Official files of the papers' data sets, as rows of the shared format.

They are recognised by what is in them. They read what somebody has downloaded and fetch nothing; what is amiss is
repaired where that is safe, and counted; no question is left out.

Self-RAG's eval_data: a JSON object a line, with the passages that Contriever found (`ctxs`).

A set of CRAG's `data/` folder: text files that belong together line by line. `sources` holds the questions, `choices`
those of ARC, `retrieved_psgs` the retrieved passages, `ref/correct` the parts kept of them, and `ref/incorrect` the web
search's results. Only line numbers join them, so one line too many gives every later question another's knowledge.
There are no gold answers.

WikiPassageQA's folder (`wikipassageqa`).
"""

import codecs
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from surefoot.evaluate.problems import Problems, Row
from surefoot.text.json_values import logged
from surefoot.text.words import content_words
from surefoot.types.errors import UsageError
from surefoot_lab.datasets import wikipassageqa

SELFRAG = "eval_data of Self-RAG, linked at https://github.com/AkariAsai/self-rag#inference"

TRUTH = {"supports": "true", "refutes": "false", "true": "true", "false": "false"}
"""PubHealth's labels, folded, with their truth."""
NAME = "a folder of CRAG"
CRAG = "data/ of https://github.com/HuskyInSalt/CRAG"

KNOWLEDGE = {"passages": "ref/correct", "outside": "ref/incorrect"}
_TITLED = {"passages": r"([^.]{1,80}?)(?:  | // )(\S.*)", "outside": r"([^:]{1,80}): (.*)"}
"""How each writes the title before a text; a text may stand there without one."""
REACH = 3
"""Lines by which rows may be seen to be shifted."""
BLOCK = 15
"""Rows that are held against their neighbours together."""
COMMON = 0.01
"""A word in more than this share of the questions is no sign of any of them."""
CLEAR = 0.1
"""Share of the question's words by which another line has to fit better, on average, to be noted."""

_CHOICE = re.compile(r"(?:^|; )([A-E1-5]): ")

KNOWN = {
    "popqa_longtail_w_gs.jsonl": SELFRAG,
    "arc_challenge_processed.jsonl": SELFRAG,
    "health_claims_processed.jsonl": SELFRAG,
    "factscore_unlabeled_alpaca_13b_retrieval.jsonl": SELFRAG,
    "eval_data": SELFRAG,
    "popqa": CRAG,
    "arc_challenge": CRAG,
    "pubqa": CRAG,
    "bio": CRAG,
}
"""Names of downloaded files and their sources, for the error when such a file is missing."""


def official(path: Path, problems: Problems) -> tuple[str, list[Row]] | None:
    """The name of the data and their questions as rows of the shared format; None: this is no official file.

    Raises UsageError for one that is not there, with where to get it, and for a folder of several sets.
    """
    if not path.exists() and path.name in KNOWN:
        raise UsageError(f"{path} is not there, and nothing is fetched; it comes with {KNOWN[path.name]}")
    if path.is_dir():
        if (path / wikipassageqa.PASSAGES).exists():
            return wikipassageqa.NAME, wikipassageqa.rows(path, problems)
        if _is_crag(path):
            return NAME, _crag_rows(path, problems)
        raise UsageError(_several(path))
    name = recognised(path)
    return (f"{name} of Self-RAG", _selfrag_rows(path, name, problems)) if name else None


def _several(folder: Path) -> str:
    parts = [str(part) for part in sorted(folder.iterdir()) if _one(part)]
    if parts:
        return f"{folder} holds several sets of questions; give one of them: {', '.join(parts)}"
    return f"{folder} holds no questions that are known here; there are those of {SELFRAG} and of {CRAG}"


def _one(part: Path) -> bool:
    return _is_crag(part) if part.is_dir() else recognised(part) is not None


def recognised(path: Path) -> str | None:
    """The name of the set in this file, by the columns of its first line; None: none is known by them."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            row = logged(next((line for line in file if line.strip()), "null"))
    except (OSError, ValueError):
        return None
    if not isinstance(row, dict) or "passages" in row:
        return None
    return next((name for name, (needs, _) in SETS.items() if set(needs) <= row.keys()), None)


def _selfrag_rows(path: Path, name: str, problems: Problems) -> list[Row]:
    """The file's questions in the shared format. Raises UsageError for a line that is no JSON object."""
    needs, shape = SETS[name]
    found = []
    for place, row in _objects(path, problems):
        for column in needs:
            if column not in row:
                problems.add(f"questions without the column '{column}'", place)
        if row.get("id") is None:
            problems.add("questions without an id; the line's number stands for it", place)
        plain = {"id": str(row.get("id") or place), "passages": _contexts(row.get("ctxs"), place, problems)}
        found.append(plain | shape(row))
    return found


def _objects(path: Path, problems: Problems) -> Iterator[tuple[str, Row]]:
    for number, line in enumerate(lines(path, problems), start=1):
        try:
            row = logged(line) if line.strip() else None
        except json.JSONDecodeError as error:
            raise UsageError(f"{path}, line {number} is not JSON: {error.msg}; is the download complete?") from error
        if row is not None and not isinstance(row, dict):
            raise UsageError(f"{path}, line {number} is no JSON object")
        if row is not None:
            yield f"line {number}", row


def _contexts(ctxs: Any, place: str, problems: Problems) -> list[Row]:
    """In the order in which they were found; a passage without text says nothing, and is counted."""
    found = []
    for number, ctx in enumerate(ctxs if isinstance(ctxs, list) else [], start=1):
        text = ctx.get("text") if isinstance(ctx, dict) else None
        if not isinstance(text, str) or not text.strip():
            problems.add("retrieved passages without text; left out", f"{place}, passage {number}")
            continue
        id = ctx.get("id") or ctx.get("docid") or f"{place}-{number}"
        found.append({"id": str(id), "title": str(ctx.get("title") or ""), "text": text, "label": None})
    return found


def _open(row: Row) -> Row:
    answers = row.get("answers")
    if not isinstance(answers, list):
        answers = _listed(row.get("possible_answers"))
    return {"question": row.get("question"), "answers": answers, "prop": row.get("prop")}


def _listed(text: Any) -> list[Any]:
    """PopQA's own file holds its answers as a list written out in JSON."""
    try:
        answers = logged(text) if isinstance(text, str) else text
    except ValueError:
        return []
    return answers if isinstance(answers, list) else []


def _arc_choice(row: Row) -> Row:
    choices, key = row.get("choices"), str(row.get("answerKey") or "")
    labels, texts = (choices.get("label"), choices.get("text")) if isinstance(choices, dict) else ([], [])
    if not (isinstance(labels, list) and isinstance(texts, list)):
        labels = texts = []
    lettered = {letter(str(label)): str(text) for label, text in zip(labels, texts, strict=False)}
    answers = [lettered[letter(key)]] if letter(key) in lettered else []
    return {"question": row.get("question"), "answers": answers, "choices": lettered, "answer_key": letter(key)}


def letter(label: str) -> str:
    """The letter of a choice that may be numbered: some of ARC's are."""
    return "ABCDE"[int(label) - 1] if label in {"1", "2", "3", "4", "5"} else label.upper()


def _claim(row: Row) -> Row:
    reply = row.get("answers") if isinstance(row.get("answers"), list) else [row.get("label")]
    truths = [TRUTH[str(one).strip().lower()] for one in reply or [] if str(one).strip().lower() in TRUTH]
    return {"question": row.get("claim") or row.get("question"), "answers": truths, "prop": "claim"}


def _biography(row: Row) -> Row:
    """`output` is a language model's text, not a gold answer."""
    question = str(row.get("question") or row.get("input") or "").removeprefix("Question:").strip()
    return {"question": question, "answers": [], "prop": "biography"}


SETS: dict[str, tuple[tuple[str, ...], Callable[[Row], Row]]] = {
    "ARC-Challenge": (("question", "choices", "answerKey"), _arc_choice),
    "Biography": (("topic", "input"), _biography),
    "PubHealth": (("claim", "ctxs"), _claim),
    "PopQA": (("question", "possible_answers"), _open),
    "a set of questions": (("question", "ctxs"), _open),
}
"""Sets by name: the columns that mark one, and the reader of its rows. The first that fits counts."""


def _is_crag(folder: Path) -> bool:
    """True if there is a file of questions and something that belongs to them."""
    there = [(folder / name).exists() for name in ("choices", "retrieved_psgs", "ref")]
    return (folder / "sources").is_file() and any(there)


def _crag_rows(folder: Path, problems: Problems) -> list[Row]:
    """Its questions in the shared format, named by folder and line."""
    name = folder.resolve().name
    queries = _trimmed([line.replace("\r", " ").strip() for line in lines(folder / "sources", problems)], problems)
    found: list[Row] = [
        {"id": f"{name}-{n}", "question": text, "answers": []} for n, text in enumerate(queries, start=1)
    ]
    for key, file in KNOWLEDGE.items():
        for row, text in zip(found, _beside(folder, file, queries, problems), strict=False):
            row[key] = _parts(text, key)
            if not text:
                problems.add(f"questions for which {file} says nothing", row["id"])
    for row, text in zip(found, _beside(folder, "choices", queries, problems), strict=False):
        row["choices"] = _choices(text, row["id"], problems)
    for row, text in zip(found, _beside(folder, "retrieved_psgs", queries, problems), strict=False):
        row["passages"] = _passages(text, row["id"]) or row.get("passages", [])
    return found


def aligned(raw: Sequence[str], wanted: int, file: str, problems: Problems) -> list[str]:
    """One record a question, repaired; empty where it cannot be told whose each is.

    Where nearly all records begin with "#", as what CRAG's scripts wrote does, a line that does not goes on with the
    record before it.
    """
    returns = sum(line.count("\r") for line in raw)
    if returns:
        problems.add(f"carriage returns inside {file}; read as spaces", file, returns)
    records = [line.replace("\r", " ").strip() for line in raw]
    if sum(record.startswith("#") for record in records) > 0.9 * sum(map(bool, records)):
        records = _marked(records, file, problems)
    elif len(records) > wanted:
        records = _without_blank_ends(records, file, problems)
    if len(records) == wanted:
        return records
    problems.add(f"misaligned: {file} has {len(records):,} rows for {wanted:,} questions; not used", file)
    return []


def shifted(questions: Sequence[str], texts: Sequence[str]) -> list[tuple[int, int, int]]:
    """First row, last row, from 1, and by how many lines the texts of these rows seem to stand too low.

    Texts and questions are matched by shared words, `BLOCK` rows at a time; words of many questions ("born", "city") do
    not count.
    """
    queries, outcomes = [[set(content_words(text)) for text in side] for side in (questions, texts)]
    often = Counter(word for words in queries for word in words)
    queries = [{word for word in words if often[word] <= max(2, COMMON * len(queries))} for words in queries]
    spans: list[tuple[int, int, int]] = []
    for start in range(0, len(queries), BLOCK):
        block = range(start, min(start + BLOCK, len(queries)))
        fits = {offset: _fit(queries, outcomes, block, offset) for offset in range(-REACH, REACH + 1)}
        best = max(fits, key=lambda offset: fits[offset])
        if fits[best] <= fits[0] + CLEAR:
            continue
        if spans and spans[-1][1:] == (start, best):
            spans[-1] = (spans[-1][0], block[-1] + 1, best)
        else:
            spans.append((start + 1, block[-1] + 1, best))
    return spans


def _fit(queries: Sequence[set[str]], outcomes: Sequence[set[str]], block: range, offset: int) -> float:
    pairs = [(queries[i], outcomes[i + offset]) for i in block if 0 <= i + offset < len(outcomes) and queries[i]]
    return fmean(len(words & text) / len(words) for words, text in pairs) if pairs else 0.0


def _beside(folder: Path, file: str, queries: Sequence[str], problems: Problems) -> list[str]:
    """The records of one of the files; a file that is not there has none."""
    if not (folder / file).is_file():
        if file in KNOWLEDGE.values():
            problems.add(f"{file} is not there", file)
        return []
    records = aligned(lines(folder / file, problems), len(queries), file, problems)
    if file in KNOWLEDGE.values():
        for first, last, offset in shifted(queries, records) if records else []:
            what = (
                f"rows of {file} that seem to belong to the question {abs(offset)} {'above' if offset > 0 else 'below'}"
            )
            problems.add(what, f"lines {first} to {last}", last - first + 1)
    return records


def _trimmed(queries: list[str], problems: Problems) -> list[str]:
    while queries and not queries[-1]:
        problems.add("blank lines at the end of sources; no questions", f"line {len(queries)}")
        queries = queries[:-1]
    return queries


def _marked(records: Sequence[str], file: str, problems: Problems) -> list[str]:
    whole: list[str] = []
    for number, record in enumerate(records, start=1):
        place = f"{file}, line {number}"
        if record.startswith("#"):
            whole.append(record[1:].strip())
        elif not record:
            problems.add(f"blank rows in {file}; taken out", place)
        elif whole:
            problems.add(f"lines of {file} that go on with the row before; joined to it", place)
            whole[-1] = f"{whole[-1]} {record}".strip()
        else:
            problems.add(f"lines of {file} before its first row; left out", place)
    return whole


def _without_blank_ends(records: list[str], file: str, problems: Problems) -> list[str]:
    there = [number for number, record in enumerate(records) if record]
    selected = records[there[0] : there[-1] + 1] if there else []
    if len(selected) < len(records):
        problems.add(f"blank rows in {file}; taken out", file, len(records) - len(selected))
    return selected


def _choices(text: str, place: str, problems: Problems) -> dict[str, str]:
    _, *parts = _CHOICE.split(text)
    found = {letter(label): words.strip() for label, words in zip(parts[::2], parts[1::2], strict=True)}
    if len(found) < 2:
        problems.add("questions whose choices cannot be told apart", place)
    return found


def _parts(text: str, key: str) -> list[Row]:
    """The parts of a text of knowledge, which " ; " joins."""
    found = []
    for number, part in enumerate(filter(None, map(str.strip, text.split(" ; ")))):
        match = re.match(_TITLED[key], part, re.DOTALL)
        title, body = match.groups() if match else ("", part)
        found.append({"id": f"{key}-{number}", "title": title, "text": body})
    return found


def _passages(text: str, place: str) -> list[Row]:
    """`title // text`, or the text alone."""
    found = []
    for number, part in enumerate(filter(None, map(str.strip, text.split("[sep]"))), start=1):
        title, _, body = part.partition(" // ")
        titled = bool(body) and len(title) < 200
        found.append({"id": f"{place}-p{number}", "title": title if titled else "", "text": body if titled else part})
    return found


def lines(path: Path, problems: Problems) -> list[str]:
    """The lines of a text file, without their ends. Only a line feed, or the pair of Windows, ends a line.

    A line that is not UTF-8 is read as Windows-1252, and counted.
    """
    try:
        data = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    if 2 * data.count(b"\r\n") > data.count(b"\n"):
        data = data.replace(b"\r\n", b"\n")
    found = []
    for number, part in enumerate(data.removesuffix(b"\n").split(b"\n") if data else [], start=1):
        try:
            found.append(part.decode())
        except UnicodeDecodeError:
            problems.add("lines that are not UTF-8; read as Windows-1252", f"{path.name}, line {number}")
            found.append(part.decode("cp1252", errors="replace"))
    return found
