"""Modules without a browser: what a file joins from them, and what a page may load."""

import re
from collections import Counter

import pytest

from surefoot import web
from surefoot.evaluate.report import page
from surefoot.types import Trace

DECLARED = re.compile(r"^(?:const|let|class|function|async function|function\*|async function\*)\s+(\w+)", re.MULTILINE)
SHARED = web._SHARED
VIEWER = page._SCRIPTS
PAGE = "ask requests feedback notices suggestions source conversations documents evaluations".split()


@pytest.mark.parametrize("names", [SHARED, VIEWER], ids=["shared", "viewer"])
def test_no_name_is_declared_twice_in_a_joined_script(names: tuple[str, ...]) -> None:
    """They share one scope there, where a second declaration stops all of it."""
    declared = Counter(DECLARED.findall(web.joined(names)))
    assert declared.total() > 20
    assert [name for name, count in declared.items() if count > 1] == []


@pytest.mark.parametrize("names", [SHARED, VIEWER], ids=["shared", "viewer"])
def test_a_joined_script_says_nothing_between_modules(names: tuple[str, ...]) -> None:
    """An import or export that is left would stop all of it."""
    assert not re.search(r"^\s*(?:import|export)\b", web.joined(names), re.MULTILINE)


def test_what_a_joined_module_imports_is_joined_before_it() -> None:
    """A constant is not there before its module has run."""
    for number, name in enumerate(SHARED):
        wanted = re.findall(r'^import .* from "\./(\w+)\.js";$', web.static(f"{name}.js"), re.MULTILINE)
        assert set(wanted) <= set(SHARED[:number]), name


@pytest.mark.parametrize("name", ["ask.html", "head.html", "shared.html"])
def test_a_page_names_no_other_place_and_has_no_script_of_its_own(name: str) -> None:
    """All that it loads is its server's; attributes hold no style and no code."""
    text = web.static(name)
    assert not re.search(r"https?:|//[a-z]|\son\w+=|\sstyle=", text)
    assert all(place.startswith("/static/") for place in re.findall(r'(?:src|href)="(/[^"]*)"', text))


def test_all_modules_of_the_page_are_asked_for_at_once() -> None:
    """None waits until the one that imports it has come."""
    wanted, found = ["ask"], set[str]()
    while wanted:
        name = wanted.pop()
        wanted += {*re.findall(r'^import .* from "\./(\w+)\.js";$', web.static(f"{name}.js"), re.MULTILINE)} - found
        found.add(name)
    named = re.findall(r'<link rel="modulepreload" href="/static/(\w+)\.js">', web.static("ask.html"))
    assert sorted(named) == sorted(found - {"ask"})


def test_nothing_makes_markup_of_text() -> None:
    """What strangers wrote goes into the page as text alone."""
    for name in (*PAGE, *SHARED, *VIEWER):
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|srcdoc", web.static(f"{name}.js")
        )


def test_a_shared_file_holds_no_configuration() -> None:
    """Which names paths and hosts; nor anything that could end the script that holds the data."""
    text = web.shared(Trace("t", "</script>", config={"index": {"path": "/home/anna"}}))
    assert "/home/anna" not in text
    assert text.count("</script>") == 3
