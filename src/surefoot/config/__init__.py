"""From `surefoot.toml` to a pipeline, and what a stranger's configuration may say."""
