"""Source code in blocks of whole symbols, under their names."""

from functools import partial

import pytest

from documents.loaders.opening import one, outline
from effort import effort

SNIPPETS = {
    "a.sh": (
        "# Greets.\ngreet() {\n  echo hi\n}\nfunction leave {\n  exit\n}",
        "greet leave",
    ),
    "a.c": (
        "#include <x.h>\n/* Adds. */\nstatic int *add(int a,\n  int b)\n{\n  if (a) f(b);\n}\nint main(void) { g(); }",
        "add main",
    ),
    "a.cpp": ("namespace hut {\nclass Bed : Base {\n};\nvoid Bed::make(int x) {\n}\n}", "hut Bed Bed::make"),
    "a.go": ("package main\n// Adds.\nfunc (h *Hut) Add(a int) {\n}\ntype Hut struct {\n}", "main Add Hut"),
    "a.rs": ("/// Adds.\n#[inline]\npub(crate) fn add<T>(a: T) {}\npub struct Hut {}\nimpl Hut {\n}", "add Hut Hut"),
    "A.java": (
        "public class Hut {\n  /** Counts. */\n  @Override\n  public int count(List<String> a) {\n"
        "    if (x) {\n    }\n  }\n}",
        "Hut Hut.count",
    ),
    "a.js": ("export default async function load(a) {\n}\nconst wait = (x) => 1;\nclass Hut {\n}", "load wait Hut"),
    "a.ts": ("export interface Hut {\n}\nexport const a: number = 1;", "Hut a"),
    "a.cs": ("public sealed class Hut\n{\n    public static int Count(int a)\n    {\n    }\n}", "Hut Hut.Count"),
    "a.rb": ("class Hut\n  def beds?\n  end\nend\n", "Hut Hut.beds?"),
    "a.php": ("<?php\nfunction count_beds($a) {\n}", "count_beds"),
    "a.sql": (
        "-- Beds.\nCREATE TABLE IF NOT EXISTS beds (\n  id int\n);\ncreate or replace view v as select 1;",
        "beds v",
    ),
    "a.r": ("beds <- function(x) {\n}", "beds"),
    "a.kt": ("data class Hut(val a: Int)\nfun beds(): Int = 1", "Hut beds"),
    "a.swift": ("public struct Hut {\n    func beds() -> Int {\n    }\n}", "Hut Hut.beds"),
    "a.scala": ("object Hut {\n  def beds(a: Int) = 1\n}", "Hut Hut.beds"),
    "a.lua": ("local function beds(a)\nend", "beds"),
    "a.pl": ("package Hut;\nsub beds {\n}", "Hut beds"),
    "a.jl": ("function beds(a)\nend", "beds"),
    "a.hs": ("beds :: Int -> Int\nbeds = id", "beds"),
    "a.clj": ("(defn beds [a] a)", "beds"),
    "a.css": (".hut a {\n  color: red;\n}", ".hut a"),
    "a.proto": ("message Hut {\n}", "Hut"),
}

PYTHON = '"""A module."""\n\nimport os\n\n# Adds.\n@cached\ndef add(a):\n    return a\n\n\n'
PYTHON += "class Hut:\n    beds = 40\n\nif os:\n    add(1)\n"


@pytest.mark.parametrize("name", SNIPPETS)
def test_symbols_are_headings(name):
    """Each with the comments above it, and no line is lost."""
    content, symbols = SNIPPETS[name]
    assert [path.replace(" › ", ".") for _, path, _, _ in outline(content, name) if path] == (
        symbols.split() if name != "a.css" else [symbols]
    )
    inside = "\n".join(text.partition("\n")[2].rpartition("\n")[0] for *_, text in outline(content, name))
    assert [line for line in inside.split("\n") if line] == [line for line in content.split("\n") if line]


def test_python_is_read_by_its_own_parser():
    """Decorators and comments belong to what they stand above."""
    assert [(path, place) for _, path, place, _ in outline(PYTHON, "a.py")] == [
        ("", "L1"),
        ("add", "L5"),
        ("Hut", "L11"),
        ("", "L14"),
    ]
    assert outline(PYTHON, "a.py")[1][3] == "```python\n# Adds.\n@cached\ndef add(a):\n    return a\n```"


def test_methods_of_a_long_class_are_blocks():
    """A short class stays whole."""
    method = "    def beds(self):\n        return 40\n"
    assert [path for _, path, _, _ in outline(f"class Hut:\n{method}", "a.py")] == ["Hut"]
    assert [path for _, path, _, _ in outline(f"class Hut:\n{method * 25}", "a.py")] == ["Hut", *["Hut › beds"] * 25]


def test_python_that_does_not_parse_is_read_by_its_lines():
    """It may be of another version."""
    assert [path for _, path, _, _ in outline("print 1\ndef add(a):\n    exec a\n", "a.py")] == ["", "add"]


def test_a_program_is_titled_by_its_whole_name():
    """hut.c and hut.h are two."""
    assert one("int a;", "hut.c").title == "hut.c"


@pytest.mark.parametrize("suffix", ["c", "java", "sql", "css", "hs", "js"])
@pytest.mark.parametrize("piece", ["a", "a ", "a<", "a::", "public ", "public a ", "(", "f(a\n", "a {\n", "\n "])
def test_hostile_code_takes_linear_time(suffix, piece):
    """100 kB of anything take a small part of what the square of it would."""
    lines = (piece * 150)[:380].replace("\n", " ") + "\n"
    for text in (piece * (100_000 // len(piece)), lines * 250):
        assert effort(partial(one, f"x\n{text}", f"a.{suffix}"), 10) < 10
