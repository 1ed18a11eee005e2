"""Threads of a question: stopped when nobody waits for it any more, and made anew in a forked process."""
