"""Tables with a header line, their columns apart by comma, semicolon, tab or bar, as rows."""

from __future__ import annotations

import csv
from io import StringIO

from surefoot.corpus.loaders._rows import MAX_LINE
from surefoot.datasets.problems import Problems
from surefoot.errors import UsageError

DELIMITERS = {",": "CSV", ";": "CSV with semicolons", "\t": "TSV", "|": "a table with bars"}


def rows(text: str, name: str, problems: Problems) -> tuple[str, list[tuple[str, dict[str, str | None]]]]:
    """The kind of table, and each row by column, with its place. Raises UsageError, naming the line, for a row with
    more cells than the header; cells that a row lacks are None, and counted."""
    csv.field_size_limit(MAX_LINE)  # the module's own limit is 128 KiB, less than ten long contexts
    delimiter = max(DELIMITERS, key=text.partition("\n")[0].count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    try:
        header = [cell.strip() for cell in next(reader)]
        if twice := sorted({column for column in header if header.count(column) > 1}):
            raise UsageError(f"{name} has two columns called '{twice[0]}'; rename one of them")
        return DELIMITERS[delimiter], [
            _row(header, cells, f"{name}, line {reader.line_num}", problems) for cells in reader if any(cells)
        ]
    except csv.Error as error:
        raise UsageError(f"{name}, line {reader.line_num} is not CSV ({error}); mend the row and read again") from error


def _row(header: list[str], cells: list[str], place: str, problems: Problems) -> tuple[str, dict[str, str | None]]:
    if len(cells) > len(header):
        raise UsageError(
            f"{place}: the row that ends there has {len(cells)} cells and the header {len(header)}; put cells that "
            "hold separators in quotes"
        )
    if len(cells) < len(header):
        problems.add("rows with fewer cells than the header; what is not there counts as not kept", place)
    return place, dict(zip(header, [*cells, *[None] * (len(header) - len(cells))], strict=True))
