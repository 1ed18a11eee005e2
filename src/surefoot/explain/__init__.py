"""Explanations: the words behind a grade, the passages behind an action, and the strips behind an answer."""
