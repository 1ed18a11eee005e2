"""Why it decided so: what a grade owes to words, an action to passages, and an answer to strips."""
