"""Surefoot as a part of other people's programs: `langchain` for LangChain, `langgraph` for its graphs, `pytest_plugin`
for tests. Nothing here reads the host's `surefoot.toml`: a pipeline is handed over as an object."""

from pathlib import Path

SKILL = Path(__file__).with_name("skills") / "surefoot"
"""The folder of the skill that tells an agent when to ask Surefoot, and how to read a refusal."""
