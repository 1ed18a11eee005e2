"""Model files: which there are, where they come from, and how they are checked and read."""
