"""The findings of an evaluation as a folder, a page and a text whose claims are checked."""
