"""The site of the docs: what becomes a page of it, and what its check finds."""

import importlib.util
import json
from pathlib import Path

import pytest

import surefoot

ROOT = Path(__file__).parents[1]
_spec = importlib.util.spec_from_file_location("build_site", ROOT / "docs" / "build_site.py")
assert _spec
assert _spec.loader
site = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(site)


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="gone.html">', "there is no gone.html"),
        ('<a href="..">', "there is no .."),
        ('<a href="b.html#gone">', "there is no anchor b.html#gone"),
        ('<a href="#gone">', "there is no anchor #gone"),
        ('<img src="gone.png">', "there is no gone.png"),
        ('<script src="https://cdn.example/x.js"></script>', "loads https://cdn.example/x.js"),
        ('<link href="//fonts.example/x.css">', "loads //fonts.example/x.css"),
    ],
)
def test_a_page_that_leads_nowhere_or_loads_from_the_web_is_a_fault(tmp_path: Path, body: str, fault: str) -> None:
    (tmp_path / "a.html").write_text(body)
    (tmp_path / "b.html").write_text("")
    assert [*site.broken(tmp_path)] == [f"a.html: {fault}"]


def test_links_that_lead_somewhere_are_no_fault(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b%20c.html#%C3%BC"><a href="https://a.example/"><a href="#x"><p id="x">')
    (tmp_path / "b c.html").write_text('<h2 id="ü"><a href="mailto:a@b.example">')
    assert not [*site.broken(tmp_path)]


def staged(tmp_path: Path, text: str, name: str = "README.md") -> str:
    """What becomes of a page of a small repository."""
    root, pages = tmp_path / "root", tmp_path / "pages"
    for start in site.START:
        (root / start).parent.mkdir(parents=True, exist_ok=True)
        (root / start).write_text("")
    (root / "run.py").write_text("print('~~~')\n")
    cells = [("markdown", ["# A book"]), ("code", ["1 +", " 1"])]
    (root / "book.ipynb").write_text(json.dumps({"cells": [{"cell_type": k, "source": s} for k, s in cells]}))
    (root / "README.md").write_text(text)
    site.stage(root, pages)
    return str((pages / name).read_text())


def test_a_linked_program_is_a_page_of_code(tmp_path: Path) -> None:
    assert staged(tmp_path, "[it](run.py)") == "[it](run.py.md)"
    assert "~~~~~~python\nprint('~~~')\n~~~~~~" in staged(tmp_path, "[it](run.py)", "run.py.md")


def test_a_linked_notebook_is_a_page_of_its_cells(tmp_path: Path) -> None:
    assert staged(tmp_path, "[it](book.ipynb)", "book.ipynb.md").startswith("# A book\n\n```python\n1 + 1\n```\n")


def test_a_list_right_below_a_paragraph_stays_a_list(tmp_path: Path) -> None:
    assert staged(tmp_path, "All:\n- a\n  b\n- c\n") == "All:\n\n- a\n  b\n- c\n"


def test_code_stays_as_it_is(tmp_path: Path) -> None:
    code = "```text\nAll:\n- a [b](run.py)\n```\n"
    assert staged(tmp_path, code) == code


def test_every_page_of_the_docs_is_in_the_navigation() -> None:
    navigation = (ROOT / "docs" / "zensical.toml").read_text(encoding="utf-8")
    pages = [page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md")]
    assert not [page for page in pages if f'"{page}"' not in navigation]


def test_every_public_name_has_its_section_with_a_docstring() -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    sections = {part.partition("\n")[0]: part.partition("\n")[2].strip() for part in page.split("\n### surefoot.")[1:]}
    values = {name for name in surefoot.__all__ if f"\n`surefoot.{name}`" in page}
    assert {*surefoot.__all__} - sections.keys() == values == {"PRESETS"}
    assert not [name for name, text in sections.items() if not text or text.startswith("| ")]
