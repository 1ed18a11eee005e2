"""The recipes that the shipped models come from, each with the command that made them in its model card."""
