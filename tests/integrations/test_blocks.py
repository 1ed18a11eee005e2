"""Every block of the pages that import frameworks, in the environment that has these."""

from pathlib import Path

import pytest

from pages import Reader, blocks, folder as folder, names_of, template as template


@pytest.mark.parametrize("page", ["docs/frameworks.md", "docs/coming-from.md"])
def test_every_block_of_a_page_runs(page: str, folder: Path) -> None:
    reader = Reader(names_of(page))
    reader.read(blocks(page))
    if reader.lacking:
        pytest.skip("; ".join(reader.lacking))
