"""Notebooks, cell by cell."""

import json

import pytest

from documents.loaders.opening import found, one, outline
from surefoot.documents.loaders import Unreadable

CELLS = [
    {"cell_type": "markdown", "source": ["# Huts\n", "\n", "Forty *beds*."]},
    {
        "cell_type": "code",
        "source": "print(1)\n1/0",
        "outputs": [
            {"output_type": "stream", "text": ["1\n"]},
            {"output_type": "execute_result", "data": {"text/html": "<b>2</b>", "text/plain": ["2"]}},
            {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "by zero", "traceback": ["\x1b[31m"]},
        ],
    },
    {"cell_type": "markdown", "source": "## Stove\nIt burns larch."},
]
NOTEBOOK = json.dumps({"cells": CELLS, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4})


def test_cells_stand_under_the_headings_of_those_before():
    """With what they printed, and their number as place."""
    assert one(NOTEBOOK, "x.ipynb").title == "Huts"
    assert outline(NOTEBOOK, "x.ipynb") == [
        ("paragraph", "Huts", "cell=1", "Forty *beds*."),
        ("code", "Huts", "cell=2", "```python\nprint(1)\n1/0\n```"),
        ("code", "Huts", "cell=2", "```\n1\n```"),
        ("code", "Huts", "cell=2", "```\n2\n```"),
        ("code", "Huts", "cell=2", "```\nZeroDivisionError: by zero\n```"),
        ("paragraph", "Huts › Stove", "cell=3", "It burns larch."),
    ]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "not a notebook"),
        ("[]", "no list of cells"),
        ('{"worksheets": []}', "nbconvert"),
        ('{"cells": []}', "no text"),
    ],
)
def test_what_is_no_notebook_is_refused(content, why):
    """Damaged, of an old form, or empty."""
    with pytest.raises(Unreadable, match=why):
        one(content, "x.ipynb")


def test_cells_of_any_shape_are_read():
    """Nobody checks what a notebook holds."""
    cells = [1, {}, {"cell_type": "code", "outputs": [1, {"data": []}, {"text": 3}]}, {"source": ["a", 1]}]
    assert one(json.dumps({"cells": cells, "metadata": 1}), "x.ipynb").text == "a"


def test_a_question_leads_to_the_cell(tmp_path):
    """By its number."""
    passage = found(tmp_path, "a.ipynb", NOTEBOOK, "What burns larch?")
    assert (passage.title, passage.url) == ("Huts › Stove", "docs/a.ipynb#cell=3")
