"""Of a page of the web the main text is read."""

import io

from surefoot.documents import main_text
from surefoot.documents.loaders import Document


def test_of_a_page_of_the_web_only_the_main_text_is_read() -> None:
    """As blocks under their headings."""
    menu = "<nav><ul>" + "<li><a href=/x>Another page</a></li>" * 9 + "</ul></nav>"
    prose = "The hut has forty beds and one stove, and it is open in summer only. " * 5
    page = f"<html><body>{menu}<article><h2>Beds</h2><p>{prose}</p><ul><li>large ones</ul></article></body></html>"
    main = next(main_text.read(io.BytesIO(page.encode()), "folder/hut.html"))
    assert isinstance(main, Document)
    assert "Another page" not in main.text
    assert [(block.kind, block.path) for block in main.blocks] == [("paragraph", ("Beds",)), ("list", ("Beds",))]
