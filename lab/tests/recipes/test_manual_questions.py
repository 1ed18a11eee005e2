"""The questions that manuals hold by themselves."""

import json
import random
from pathlib import Path

import pytest

from manual_questions import main, reworded, rows
from manual_wording import AskedPassage, ReadManual, questions_of, read
from surefoot_lab.datasets import pairs

QUEUE = """<html><head><title>Queue - Ferry manual</title></head><body><h1>Queue</h1>
<h2 id="drain">Draining the queue</h2>
<p>The ferry keeps its letters in a queue. To empty the queue, run ferry --drain as root.
The waiting letters are stored in /var/spool/ferry by default. MTA stands for Mail Transfer Agent.</p>
<h2 id="limits">Limits</h2>
<p>The maximum number of letters is 5000. Whoever sends more is told to wait, and his letters are held back.</p>
<dl><dt>queue_lifetime (default: 5d)</dt><dd>Sets how long a letter may wait in the queue before it goes back.</dd>
<dt>lock_delay</dt><dd>The time that a process waits for the lock of the queue. The default is 30 seconds.</dd></dl>
<table><tr><th>Port</th><th>Purpose</th><th>Open</th></tr>
<tr><td>4711</td><td>Incoming letters</td><td>always</td></tr>
<tr><td>port of ferry-admin</td><td>Letters from the harbour</td><td>at night only</td></tr></table>
</body></html>"""
START = """<html><head><title>Start - Ferry manual</title></head><body><h1>Start</h1>
<h2 id="boot">Starting at boot</h2>
<p>To start the ferry at boot, enable its unit. To start it by hand, run ferry. For information on getting rid of
waiting letters, see <a href="queue.html#drain">the queue's page</a>. You need to start nothing else, and to run it
is easy.</p>
<h2 id="why">Why does the ferry not answer?</h2>
<p>It may be that another process holds its port. Stop that process, and the ferry will answer within a minute.</p>
<p>To drain or to set anything else, ask the harbour. You may want to empty or to empty or to drain or to drain or to
set it again, to start, to see more.</p>
</body></html>"""
MENU = "<html><head><title>Menu</title></head><body><h2>Sailing and rowing</h2><ul>{}</ul></body></html>".format(
    "".join(f'<li><a href="queue.html#{n}">Chapter {n} of the book</a></li>' for n in range(30))
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A manual of two pages, a menu, and a licence."""
    home = tmp_path / "manuals/ferry-doc"
    home.mkdir(parents=True)
    for name, text in (("queue.html", QUEUE), ("start.html", START), ("menu.html", MENU), ("copyright.html", QUEUE)):
        (home / name).write_text(text)
    return home


@pytest.fixture
def manual(folder: Path) -> ReadManual:
    """The same, read."""
    return read(folder)


def questions(manual: ReadManual, kind: str) -> list[AskedPassage]:
    """All that any chance gives."""
    return [one for seed in range(12) for one in questions_of(manual, random.Random(seed)) if one.kind == kind]


def test_a_manual_is_read_as_an_index_reads_it(manual: ReadManual) -> None:
    """Its passages have their headings as titles; licences are no part of it."""
    titles = {passage.title for passage in manual.passages}
    assert "Queue - Ferry manual › Draining the queue" in titles
    assert {path for path, _ in manual.places} == {"queue.html", "start.html", "menu.html"}
    drained = manual.passages[manual.places["queue.html", "drain"]]
    assert "keeps its letters" in drained.text
    assert [(term, meaning[:8]) for _, term, meaning in manual.terms] == [
        ("queue_lifetime (default: 5d)", "Sets how"),
        ("lock_delay", "The time"),
    ]


@pytest.mark.parametrize(
    ("kind", "question", "answers"),
    [
        ("step", "How do I empty the queue?", ("run ferry --drain as root",)),
        ("place", "Where are the waiting letters stored?", ("in /var/spool/ferry by default",)),
        ("number", "What is the maximum number of letters?", ("5000",)),
        ("short", "What does MTA stand for?", ("Mail Transfer Agent",)),
        ("term", "What is lock_delay?", ("The time that a process waits for the lock of the queue.",)),
        ("default", "What is the default of queue_lifetime?", ("5d",)),
        ("default", "lock_delay default", ("30 seconds",)),
        (
            "meaning",
            "How do I set how long a letter may wait in the queue before it goes back?",
            ("queue_lifetime",),
        ),
        ("row", "Which open does port of ferry-admin have?", ("at night only",)),
    ],
)
def test_a_question_knows_the_words_that_answer_it(
    manual: ReadManual, kind: str, question: str, answers: tuple[str, ...]
) -> None:
    """They stand in its passage to the letter."""
    found = [one for one in questions(manual, kind) if one.question == question]
    assert [one.answers for one in found[:1]] == [answers]
    assert answers[0] in manual.passages[found[0].number].text


def test_every_answer_stands_in_its_passage(manual: ReadManual) -> None:
    """Else a span would be learned at a wrong place, or none."""
    every = [one for seed in range(5) for one in questions_of(manual, random.Random(seed))]
    assert len(every) > 40
    for one in every:
        assert all(answer in manual.passages[one.number].text for answer in one.answers)


def test_a_question_is_worded_as_people_type() -> None:
    """The same chance gives the same words; some are keywords, some lower case, some have a slip."""
    plain = "How do I remove a directory?"
    reply = [reworded(plain, random.Random(seed)) for seed in range(300)]
    assert reply == [reworded(plain, random.Random(seed)) for seed in range(300)]
    assert {plain, "remove directory", "how do i remove a directory", "How do I delete a folder?"} <= set(reply)
    assert len({one for one in reply if "emov" not in one and "elet" not in one}) > 0


def test_the_rows_are_labelled_questions(manual: ReadManual, tmp_path: Path) -> None:
    """One passage answers, if any, and no negative holds its words."""
    found = list(rows("ferry-doc", manual, dev=False))
    assert found == list(rows("ferry-doc", manual, dev=False))
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found))
    assert pairs.read(tmp_path / "rows.jsonl").pairs
    for row in found:
        assert sum(p["label"] for p in row["passages"]) <= 1
        held = [p for p in row["passages"] if not p["label"]]
        assert not any(row["answers"] and row["answers"][0] in p["text"] and len(row["answers"][0]) > 30 for p in held)
    more = [row for seed in range(5) for row in rows("ferry-doc", manual, dev=False, seed=seed)]
    assert any(not any(p["label"] for p in row["passages"]) for row in more)
    assert all(any(p["label"] for p in row["passages"]) for row in rows("ferry-doc", manual, dev=True))


def test_whole_packages_are_set_aside(folder: Path, tmp_path: Path) -> None:
    """What is dev is no part of the file to learn from."""
    (folder.parent / "other-doc").mkdir()
    (folder.parent / "other-doc/queue.html").write_text(QUEUE)
    packages = tmp_path / "packages.toml"
    packages.write_text('[ferry-doc]\nlicence = "MIT"\n\n[other-doc]\nlicence = "MIT"\nuse = "dev"\n')
    main([str(folder.parent), str(tmp_path / "out"), "--packages", str(packages)])
    learned = (tmp_path / "out/train.jsonl").read_text().splitlines()
    assert {json.loads(line)["id"].rpartition("-")[0] for line in learned} == {"ferry-doc"}
    assert (tmp_path / "out/other-doc.jsonl").read_text()
