"""What the evaluator learns from: nothing of what it is measured on, and negatives that break one thing."""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from surefoot.text.words import sentences, words
from surefoot.types.errors import ConfigError
from surefoot_lab.datasets import pairs
from surefoot_lab.train import examples
from surefoot_lab.train.examples import Evidence, Row, Source, TrainingExample, find
from surefoot_lab.train.mixture import Mixture, sources

MANY = 40


def article(number: int) -> Row:
    """A passage about somebody of whom nothing else is said anywhere."""
    text = (
        f"Ana{number} Bor{number} was born in Town{number}, on a farm. Bor{number} keeps goats, sheep and bees, and "
        f"walks in the hills on most days. She wrote {number} letters about the weather."
    )
    return {"id": f"p{number}", "title": f"Ana{number} Bor{number}", "text": text}


def queries(number: int, labels: dict[int, int | None], prop: str = "born") -> Row:
    """A question about somebody, with passages by their numbers."""
    return {
        "id": f"{prop}{number}",
        "question": f"Where was Ana{number} Bor{number} {prop}?",
        "answers": [f"Town{number}"],
        "prop": prop,
        "s_wiki_title": f"Ana{number} Bor{number}",
        "passages": [{**article(n), "label": label} for n, label in labels.items()],
    }


def write(path: Path, rows: Sequence[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def lessons(data: Path, rows: Sequence[Row], seed: int = 0, **options: Any) -> list[TrainingExample]:
    """What one source of these rows teaches; all of them unless `use` says so."""
    write(data / "set.jsonl", rows)
    return Mixture(data, [Source("set", **{"use": "train", **options})]).examples(seed)


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts stay whole and keep their titles."""
    monkeypatch.setattr(examples, "_CROPPED", 0.0)
    monkeypatch.setattr(examples, "_UNTITLED", 0.0)


def ring(prop: str = "born") -> list[Row]:
    """A question about each, with the passages of two others, so that held articles turn up everywhere."""
    return [queries(n, {n: 1, (n + 1) % MANY: 0, (n + 7) % MANY: 0, (n + 11) % MANY: None}, prop) for n in range(MANY)]


# Nothing of what it is measured on


def leaks(data: Path, listed: Sequence[Source], seed: int) -> list[str]:
    """Lessons that show a development question, a passage of one, a long sentence of one, or a passage of the same
    article."""
    learned = Mixture(data, listed)
    rows = [row for rows in learned.dev.values() for row in rows]
    held = [p for row in rows for p in row.get("passages", ())]
    questions = {tuple(words(row["question"])) for row in rows}
    titles = {tuple(words(p["title"])) for p in held if p.get("title") not in (None, "", "table")}
    titles |= {tuple(words(row["s_wiki_title"])) for row in rows if row.get("s_wiki_title")}
    titles.discard(())
    shown = {(p.get("title") or "", p["text"]) for p in held}
    long = {p["text"][a:b] for p in held for a, b in sentences(p["text"]) if b - a > 60}
    assert rows
    made = learned.examples(seed)
    assert made
    return [
        repr(lesson)
        for lesson in made
        if tuple(words(lesson.text)) in questions
        or tuple(words(lesson.context)) in titles
        or (lesson.context, lesson.evidence) in shown
        or any(lesson.evidence[a:b] in long for a, b in sentences(lesson.evidence))
    ]


EVERYTHING = ("other question", "answer removed", "other entity", "other relation", "renamed", "joined")


@pytest.mark.parametrize("seed", range(3))
def test_nothing_of_a_development_question_is_learned(tmp_path: Path, seed: int) -> None:
    """Neither it, nor its passages, nor other passages of their articles; whichever file they are in."""
    write(tmp_path / "split.jsonl", ring())
    write(tmp_path / "other.jsonl", ring("seen"))
    write(tmp_path / "dev.jsonl", [queries(3, {3: 1, 4: 0}, "met"), {**queries(9, {}), "passages": []}])
    listed = [Source("split", "split", made=EVERYTHING, copies=2), Source("other", "train", made=EVERYTHING)]
    listed.append(Source("dev", "dev"))
    assert leaks(tmp_path, listed, seed) == []
    learned = Mixture(tmp_path, listed)
    held = {p["title"] for row in learned.dev["split"] for p in row["passages"]} | {
        "Ana3 Bor3",
        "Ana4 Bor4",
        "Ana9 Bor9",
    }
    assert 5 < len(held) < MANY
    names = {name for title in held for name in title.lower().split()}
    assert [lesson for lesson in learned.examples(seed) if names & set(words(lesson.evidence))] == []


@pytest.mark.slow
def test_nothing_of_the_real_development_questions_is_learned() -> None:
    """The same law over the data that the shipped weights come from, where they are there.

    But for renamed passages: one can come by the name of a held article, of which it says nothing.
    """
    if not (data := os.environ.get("SUREFOOT_TEST_DATA")):
        pytest.skip("SUREFOOT_TEST_DATA names no folder of data")
    listed = [replace(one, made=tuple(kind for kind in one.made if kind != "renamed")) for one in sources()]
    assert leaks(Path(data), listed, 0) == []


def test_a_fifth_of_a_split_file_is_development_data(tmp_path: Path) -> None:
    """By article: two questions about the same one are on the same side."""
    write(tmp_path / "set.jsonl", [queries(n, {n: 1}, prop) for n in range(300) for prop in ("born", "seen")])
    learned = Mixture(tmp_path, [Source("set", "split")])
    dev = [row["s_wiki_title"] for row in learned.dev["set"]]
    assert 60 < len(dev) < 180
    assert all(dev.count(title) == 2 for title in dev)
    (rest,) = learned.train.values()
    assert len(dev) + len(rest) == 600


# What is made of a positive


ROWS = [queries(n, {n: 1, n + 20: 0}) for n in range(8)]
POSITIVES = {article(n)["text"]: n for n in range(8)}


def made(data: Path, kind: str, rows: Sequence[Row] = ROWS, **options: Any) -> list[TrainingExample]:
    """The lessons that only this kind brings."""
    options = {"copies": 5, "absent": True, **options}
    own = {(x.text, x.evidence) for x in lessons(data, rows, **options)}
    return [x for x in lessons(data, rows, made=(kind,), **options) if (x.text, x.evidence) not in own]


@pytest.mark.usefixtures("plain")
def test_another_question_breaks_the_question_alone(tmp_path: Path) -> None:
    """The passage stays whole: what looks like an answer in it is none."""
    found = made(tmp_path, "other question")
    assert found
    for lesson in found:
        n = POSITIVES[lesson.evidence]
        assert lesson.text in {row["question"] for row in ROWS} - {ROWS[n]["question"]}
        assert (lesson.context, lesson.label, lesson.spans, lesson.hardness) == (article(n)["title"], 0, (), 0)


@pytest.mark.usefixtures("plain")
def test_an_answer_removed_leaves_question_and_entity(tmp_path: Path) -> None:
    """Only sentences go, and all that hold an answer."""
    found = made(tmp_path, "answer removed")
    assert found
    for lesson in found:
        n = next(n for n in range(8) if ROWS[n]["question"] == lesson.text)
        assert not find(ROWS[n]["answers"], lesson.evidence)
        assert f"Bor{n}" in lesson.evidence
        assert lesson.evidence in article(n)["text"]
        assert (lesson.context, lesson.label, lesson.spans, lesson.hardness) == (article(n)["title"], 0, (), 2)


@pytest.mark.usefixtures("plain")
def test_another_entity_breaks_who_is_asked_about(tmp_path: Path) -> None:
    """The question is the same one about somebody whom the passage does not speak of."""
    rows = [*ROWS, *(queries(n, {n: 1}, "seen") for n in range(10, 14))]
    found = made(tmp_path, "other entity", rows)
    assert found
    for lesson in found:
        about = int(lesson.text.split()[2].removeprefix("Ana"))
        assert ("born" in lesson.text) == (lesson.evidence in POSITIVES)
        assert f"Ana{about}" not in lesson.evidence
        assert not find([f"Town{about}"], lesson.evidence)
        assert (lesson.label, lesson.spans, lesson.hardness) == (0, (), 1)


@pytest.mark.usefixtures("plain")
def test_another_relation_breaks_what_is_asked(tmp_path: Path) -> None:
    """The entity is the same, by its page or by the passage's title; the answer to the new question is not there."""
    schools = [queries(n, {n: None}, "taught") | {"answers": ["Larrow School"]} for n in range(4)]
    nameless = [{**row, "s_wiki_title": None} for row in (ROWS[0], schools[0])]
    found = made(tmp_path, "other relation", [*nameless, *ROWS[1:], *schools[1:]])
    assert {lesson.text for lesson in found} == {row["question"] for row in schools}
    for lesson in found:
        n = POSITIVES[lesson.evidence]
        assert lesson.text == f"Where was Ana{n} Bor{n} taught?"
        assert (lesson.context, lesson.label, lesson.spans, lesson.hardness) == (article(n)["title"], 0, (), 2)


@pytest.mark.usefixtures("plain")
def test_renaming_breaks_who_the_passage_is_about(tmp_path: Path) -> None:
    """Whole name and last name, in title and text; the question and the rest stay as they are."""
    found = made(tmp_path, "renamed")
    assert found
    for lesson in found:
        n = next(n for n in range(8) if ROWS[n]["question"] == lesson.text)
        other = int(lesson.context.split()[0].removeprefix("Ana"))
        assert n != other
        assert lesson.context == f"Ana{other} Bor{other}"
        assert lesson.evidence.replace(f"Ana{other}", f"Ana{n}").replace(f"Bor{other}", f"Bor{n}") == article(n)["text"]
        assert (lesson.label, lesson.spans, lesson.hardness) == (0, (), 2)


@pytest.mark.usefixtures("plain")
def test_sentences_are_joined_to_a_positive(tmp_path: Path) -> None:
    """Others were found for the same question; the spans move along."""
    rows = [queries(n, {n: 1, n + 20: 0, n + 30: 0}) for n in range(8)]
    found = made(tmp_path, "joined", rows)
    assert {lesson.evidence.find("Ana") for lesson in found} == {0}
    assert (
        len({lesson.evidence.index(f"Town{n}") for lesson in found for n in range(8) if f"Town{n}," in lesson.evidence})
        > 3
    )
    for lesson in found:
        (span,) = lesson.spans or ()
        n = next(n for n in range(8) if ROWS[n]["question"] == lesson.text)
        assert (lesson.evidence[slice(*span)], lesson.label) == (f"Town{n}", 1)
        assert article(n)["text"] in lesson.evidence


# What is said of a lesson


def test_texts_are_cut_to_whole_sentences(tmp_path: Path) -> None:
    """Some of them; and some lose a title that their text repeats."""
    found = lessons(tmp_path, [queries(n, {n: 1, n + 50: 0}) for n in range(40)])
    whole = {article(n)["text"] for n in range(100)}
    cut = [x.evidence for x in found if x.evidence not in whole]
    assert 0.2 < len(cut) / len(found) < 0.6
    ends = {text[a:] for text in whole for a, _ in sentences(text)} | {
        text[:b] for text in whole for _, b in sentences(text)
    }
    pieces = {text[a:b] for text in whole for a, _ in sentences(text) for _, b in sentences(text)}
    assert set(cut) <= pieces | ends
    untitled = [x for x in found if not x.context]
    assert 0 < len(untitled) < len(found) / 3
    uncut = lessons(tmp_path, [queries(n, {n: 1, n + 50: 0}) for n in range(40)], whole=True)
    assert {x.evidence for x in uncut} <= whole


@pytest.mark.parametrize(
    ("evidence", "question", "spans"),
    [
        ("answers", "Where was she born?", ((10, 16),)),
        ("number", "Where was she born?", ((10, 16),)),
        ("unknown", "Where was she born?", None),
        ("answers", "when was she born?", None),
        ("number", "when was she born?", ((21, 25),)),
        ("number", "how was she born?", None),
    ],
)
def test_evidence_is_where_its_source_tells(tmp_path: Path, evidence: Evidence, question: str, spans: object) -> None:
    """An answer, the only number where one is asked for, or nobody knows."""
    text = "She is of Larrow, in 1911."
    answers = ["Larrow"] if "Where" in question else []
    row = {"id": "1", "question": question, "answers": answers}
    row["passages"] = [{"id": "p", "title": "", "text": text, "label": 1}]
    (lesson,) = lessons(tmp_path, [row], evidence=evidence)
    assert lesson.spans == spans


@pytest.mark.parametrize(
    ("label", "score", "learned"),
    [
        (1, None, (1, None)),
        (1, 0.0, (1, 0.75)),
        (0, 0.0, (0, 0.25)),
        (None, 2.0, (1, 0.881)),
        (None, -2.0, (0, 0.119)),
    ],
)
@pytest.mark.usefixtures("plain")
def test_a_teachers_score_is_learned_beside_the_label(
    tmp_path: Path, label: int | None, score: float | None, learned: tuple[int, float | None]
) -> None:
    """Or alone, where there is none; what is made of a positive has its own label only."""
    row = queries(1, {1: label})
    row["passages"][0]["score"] = score
    found = {one.text: one for one in lessons(tmp_path, [row, queries(2, {2: 1})], made=("other question",))}
    one = found.pop(row["question"])
    assert (one.label, one.target and round(one.target, 3)) == learned
    assert all(other.target is None for other in found.values())


def test_the_seed_decides(tmp_path: Path) -> None:
    """The same one gives the same lessons in the same order."""
    found = [lessons(tmp_path, ring(), seed, made=EVERYTHING) for seed in (0, 0, 1)]
    assert found[0] == found[1] != found[2]


def test_questions_without_passages_find_those_of_their_subject(tmp_path: Path) -> None:
    """By its bare name, in both corpora; a passage is positive where an alias stands in it."""
    write(tmp_path / "popqa/questions.jsonl", [{k: v for k, v in queries(1, {}).items() if k != "passages"}])
    write(tmp_path / "corpus/wikipedia.jsonl", [{**article(1), "title": "Ana1 Bor1 (writer)"}, article(2)])
    write(tmp_path / "miniwiki/pages.jsonl", [{"title": "Ana1 Bor1", "paragraphs": ["Ana1 Bor1 has a dog."]}])
    found = Mixture(tmp_path, [Source("popqa/questions", "train")]).examples(0)
    assert sorted((lesson.label, "dog" in lesson.evidence) for lesson in found) == [(0, True), (1, False)]


# Files


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("[", "cannot be read"),
        ("a = 1", "cannot be read"),
        ("a = " + "[" * 5_000, "nested more than 100 deep"),
        ("[a]", "use"),
        ('[a]\nuse = "train"\nwieght = 1', "wieght"),
        ('[a]\nuse = "trian"', "use of a cannot be 'trian'; there are: train, dev, split"),
        ('[a]\nuse = "train"\nevidence = "span"', "evidence of a cannot be 'span'"),
        ('[a]\nuse = "train"\nmade = ["swapped"]', "made of a cannot be 'swapped'; there are: other question, "),
        ('[a]\nuse = "train"\nweight = 0', "weight and copies of a must be above 0"),
        ('[a]\nuse = "train"\ncopies = 0', "weight and copies of a must be above 0"),
        ('[a]\nuse = "train"\nweight = "much"', "cannot be read"),
        ('[a]\nuse = "dev"\nmade = ["joined"]', "nothing is made of a, as its use is dev"),
    ],
)
def test_a_mixture_with_a_mistake_is_refused(tmp_path: Path, text: str, reply: str) -> None:
    """Before anything is trained on what was not meant."""
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=str(path)) as raised:
        sources(path)
    assert reply in str(raised.value)


def test_development_files_can_be_measured_on(tmp_path: Path) -> None:
    """By `surefoot lab evaluator`, in two halves; one without labels is left out."""
    write(tmp_path / "a/set.jsonl", ring())
    write(tmp_path / "bare.jsonl", [{**queries(1, {}), "passages": []}])
    learned = Mixture(tmp_path, [Source("a/set", "dev"), Source("bare", "dev")])
    learned.write_dev(tmp_path / "out")
    files = [tmp_path / "out" / half / "a-set.jsonl" for half in ("fit", "test")]
    assert sorted((tmp_path / "out").rglob("*.jsonl")) == files
    fit, test = ({pair.question_id for pair in pairs.read(file).pairs} for file in files)
    assert (len(fit | test), fit & test) == (MANY, set())
    assert min(len(fit), len(test)) > 10
