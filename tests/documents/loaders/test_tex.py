"""LaTeX without its commands."""

import pytest

from documents.loaders.opening import found, one, outline
from effort import effort
from surefoot.documents.loaders import Unreadable

PAPER = r"""\documentclass[11pt]{article}
\usepackage{hyperref}
\title{The \emph{Hut}}
\begin{document}
\maketitle
\section{Stove}\label{sec:stove}
It burns \textbf{larch} % not oak
for 5\% of a M\"uller's day~\cite{a}, see
\href{https://a.example}{here}.

\begin{itemize}
  \item one
  \item two \begin{x}
\end{itemize}
\begin{description}
\item[-a] all
\end{description}
\begin{tabular}{ll}
\hline
A & B \\
1 & R\&D \\
\end{tabular}
\begin{lstlisting}
x = 1 % kept
\end{lstlisting}
\begin{equation}
a^2
\end{equation}
\subsection*{Rules}
Quiet.
\end{document}
"""


def test_a_paper_gives_all_kinds_of_blocks():
    """Comments and the preamble are out."""
    assert one(PAPER, "x.tex").title == "The Hut"
    assert outline(PAPER, "x.tex") == [
        ("paragraph", "Stove", "L7", "It burns larch for 5% of a Müller's day a, see here (https://a.example)."),
        ("list", "Stove", "L11", "- one\n- two"),
        ("definition", "Stove", "L15", "-a\n: all"),
        ("table", "Stove", "L18", "| A | B |\n| --- | --- |\n| 1 | R&D |"),
        ("code", "Stove", "L23", "```\nx = 1 % kept\n```"),
        ("code", "Stove", "L26", "```latex\na^2\n```"),
        ("paragraph", "Stove › Rules", "L30", "Quiet."),
    ]


def test_a_part_of_a_paper_is_read():
    """Authors put each chapter in a file of its own."""
    assert outline("\\chapter{Huts}\nForty beds.", "x.tex") == [("paragraph", "Huts", "L2", "Forty beds.")]


@pytest.mark.parametrize("name", ["itemize", "tabular", "verbatim", "equation"])
def test_what_is_never_closed_is_read(name):
    """A damaged file loses nothing."""
    assert "larch" in one(f"\\begin{{{name}}}\n\\item larch", "x.tex").text


def test_a_file_without_text_is_refused():
    """Of comments alone."""
    with pytest.raises(Unreadable, match="no text"):
        one("% nothing", "x.tex")


@pytest.mark.parametrize(
    "piece", ["\\", "{", "\\begin{itemize}\n", "\\item", "\\section{", "[", "\\href{", "%", "\\\\", "&"]
)
def test_hostile_text_takes_linear_time(piece):
    """200 kB of anything take a small part of what the square of it would."""
    assert effort(lambda: one("x\n\n" + piece * (200_000 // len(piece)), "x.tex"), 20) < 20


def test_a_question_leads_to_the_line(tmp_path):
    """Of the paragraph."""
    passage = found(tmp_path, "a.tex", PAPER, "What burns larch?")
    assert (passage.title, passage.url) == ("The Hut › Stove", "docs/a.tex#L7")
