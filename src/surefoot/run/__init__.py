"""A question while it runs: what it costs, how it is stopped, what is recorded, and how values are kept on disk."""
