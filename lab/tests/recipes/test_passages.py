"""The recipe that collects passages from packages."""

import io
import json
import re
import tarfile
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest

import office_files
import passages as recipe
from passages import Listed, gather, main, question_above, unpack
from surefoot.types import Passage

FAQ = """<html><head><title>Ferry</title></head><body><h1>Ferry</h1><h2>Why is the ferry late?</h2>
<p>It waits for the tide, which comes an hour later each day, and for the captain, who comes later than the tide.</p>
<h2>Fares</h2><table><tr><th>Who</th><th>Fare</th></tr><tr><td>Adults and their dogs</td><td>4 crowns a trip</td></tr>
<tr><td>Children below twelve years</td><td>2 crowns a trip</td></tr></table></body></html>"""
MAIL = "From a@example.org Thu Aug 22 12:46:39 2002\nFrom: a@example.org\nSubject: Tide {n}\n\n{text}\n"
TIDE = "The tide comes in at noon, says the harbour, and number {n} of the ferries leaves with it, come what may."
LOG = "# Changes\n\n" + "\n\n".join(f"## 1.{n}\n\n{TIDE.format(n=n)} The fix is in." for n in range(30))
FILES = {
    "package/faq.html": FAQ,
    "package/CHANGES.md": LOG,
    "package/list.mbox": "\n".join(MAIL.format(n=n, text=TIDE.format(n=n)) for n in range(3)),
    "package/one.json": json.dumps({"text": MAIL.format(n=9, text=TIDE.format(n=9))}),
    "package/LICENSE.md": TIDE,
    "package/docs/de/faq.md": TIDE,
    "package/fares.csv": "who,fare\n"
    + "A child of whoever else is on board that day,2 crowns for every single trip\n" * 2,
    "elsewhere/readme.md": TIDE,
}


def archive(place: Path, files: dict[str, str] = FILES) -> Path:
    """An npm package with these files."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(place, "w:gz") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return place


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the archive of a package, boat, beside one that no registry gives."""
    monkeypatch.setattr(recipe, "COMMANDS", {"npm": ["false"]})
    (tmp_path / "list.toml").write_text(
        '[npm]\nboat = { licence = "MIT", version = "1" }\ntide-tables = { licence = "MIT", version = "1" }\n'
    )
    archive(tmp_path / "out/archives/boat-1.tgz")
    return tmp_path / "out"


def run(out: Path) -> list[dict[str, str]]:
    """The lines that the command writes."""
    main([str(out), "--packages", str(out.parent / "list.toml")])
    return [json.loads(line) for line in (out / "passages.jsonl").read_text().splitlines()]


def test_no_package_for_measuring_is_listed() -> None:
    """The quarter that others measure on is in neither list, nor are the manuals that questions are asked of."""
    folder = recipe.PACKAGES.parent
    listed = tomllib.loads(recipe.PACKAGES.read_text())
    names = [*tomllib.loads((folder / "manual_questions.toml").read_text()), *listed["debian"], *listed["npm"]]
    assert [name for name in names if sha256(name.encode()).hexdigest()[0] in "cdef"] == []
    held = (
        "git-|postgresql-|apache2|bash|r-doc|r-base|postfix|bind9|cmake|exim4|nodejs|varnish|zsh|gpsbabel|therion|crawl"
    )
    assert [name for name in listed["debian"] if re.match(held, name)] == []


def test_a_package_for_measuring_is_refused(tmp_path: Path) -> None:
    """Before anything of it is fetched."""
    with pytest.raises(ValueError, match="krb5-doc is for measuring"):
        Listed("debian", "krb5-doc", {}).use  # noqa: B018


def test_a_hash_sets_families_aside_unless_the_list_says_otherwise() -> None:
    """The second digit of express is 0, that of boat is 5."""
    assert Listed("npm", "express", {}).use == "dev"
    assert Listed("npm", "boat", {}).use == "train"
    assert Listed("npm", "boat", {"family": "express"}).use == "dev"
    assert Listed("npm", "express", {"use": "train"}).use == "train"


def test_documents_and_mails_are_unpacked(tmp_path: Path) -> None:
    """Neither licences nor other languages; a mailbox as its mails."""
    unpack(archive(tmp_path / "ferry.tgz"), tmp_path / "files")
    found = {place.relative_to(tmp_path / "files/package").as_posix() for place in (tmp_path / "files").rglob("*.*")}
    mails = {"list.mbox.0.eml", "list.mbox.1.eml", "list.mbox.2.eml", "one.json.0.eml"}
    assert found == {"faq.html", "CHANGES.md", "fares.csv", *mails}


def test_passages_have_their_kind_and_a_persons_question(out: Path) -> None:
    """By the name and the format of the page, and by what the passage holds."""
    found = run(out)
    kinds = {(row["kind"], row["format"]) for row in found}
    assert {("faq", "html"), ("changelog", "md"), ("mail", "eml"), ("table", "csv")} <= kinds
    (answer,) = (row for row in found if "question" in row)
    assert answer["question"] == "Why is the ferry late?"
    assert "tide" in answer["text"]
    assert answer["licence"] == "MIT"
    assert answer["use"] == "train"
    assert answer["file"] == "boat/package/faq.html"


def test_of_a_change_log_only_the_newest_are_taken(out: Path) -> None:
    """Twelve passages, from the first on."""
    found = [row["title"] for row in run(out) if row["kind"] == "changelog"]
    assert sorted(found) == sorted(f"Changes › 1.{n}" for n in range(12))


def test_a_package_that_cannot_be_had_is_counted(out: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The others are read."""
    with caplog.at_level("INFO"):
        assert run(out)
    assert "1 packages could not be had: tide-tables" in caplog.text


def test_a_second_run_reads_no_package_again(out: Path) -> None:
    """Its archive is gone by then."""
    assert run(out) == run(out)
    assert not list(out.glob("archives/*"))


def test_on_a_page_of_faqs_a_paragraph_asks_too() -> None:
    """Where it opens the passage, and something follows."""
    passage = Passage("1", "Q: Why is it late?\n\nThe tide.", "Ferry")
    assert question_above(passage, "", in_faq=True) == "Why is it late?"
    assert question_above(passage, "") == ""
    assert question_above(Passage("1", "Why is it late?", "Ferry"), "", in_faq=True) == ""


def test_a_text_stands_once_and_rather_as_dev(tmp_path: Path) -> None:
    """In an order that a hash of the ids gives."""
    rows = [
        {"id": str(n), "use": use, "kind": "faq", "format": "md", "text": text}
        for n, (use, text) in enumerate([("dev", "Noon"), ("train", "noon"), ("train", "Night"), ("train", "Dawn")])
    ]
    for name, some in (("a", rows[:2]), ("b", rows[2:])):
        (tmp_path / name).write_text("".join(f"{json.dumps(row)}\n" for row in some))
    lines, counts = gather([tmp_path / "b", tmp_path / "a"])
    assert lines == gather([tmp_path / "a", tmp_path / "b"])[0]
    assert {json.loads(line)["id"] for line in lines} == {"0", "2", "3"}
    assert counts == {("dev", "faq", "md"): 1, ("train", "faq", "md"): 2}


@pytest.mark.parametrize(
    ("title", "text", "before", "question"),
    [
        ("Ferry › 1.2 Why is it late?", "The tide.", "", "Why is it late?"),
        ("Ferry › Why is it late?", "And the captain.", "Ferry › Why is it late?", ""),
        ("Ferry", "Why is it late?\n: The tide.", "", "Why is it late?"),
        ("Ferry › Late?", "Yes.", "", ""),
        ("Ferry › Fares", "4 crowns. Is that much?", "", ""),
    ],
)
def test_a_question_is_that_of_a_heading_or_a_term(title: str, text: str, before: str, question: str) -> None:
    """And only above the beginning of its answer."""
    assert question_above(Passage("1", text, title), before) == question


@pytest.mark.parametrize("format", office_files.FORMATS)
def test_office_files_are_read_as_what_they_were_made_of(format: str, tmp_path: Path) -> None:
    """Text, headings and the cells of tables."""
    table = "| Who | Fare |\n| --- | --- |\n| Adults | 4 crowns |"
    page = [Passage("1", TIDE, "Ferry › Tides"), Passage("2", table, "Ferry › Fares: all")]
    place = office_files.write(page, tmp_path / "ferry.1", format)
    assert place.name == f"ferry.1.{format}"
    text = " ".join(f"{passage.title} {passage.text}" for passage in recipe.read(place.name, place))
    assert "4 crowns" in text
    assert format == "xlsx" or "The tide comes in at noon" in text


def test_a_page_without_tables_makes_no_workbook(tmp_path: Path) -> None:
    """A document stands for it."""
    assert office_files.write([Passage("1", TIDE, "Ferry")], tmp_path / "ferry", "xlsx").name == "ferry.docx"
