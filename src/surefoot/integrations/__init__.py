"""Surefoot as a part of other people's programs: LangChain, LangGraph, LlamaIndex, DSPy, pytest. Haystack's components
are in `haystack_integrations.components.surefoot`. The modules `from_…` make parts of Surefoot of theirs. Nothing here
reads the host's `surefoot.toml`."""

from pathlib import Path

SKILL = Path(__file__).with_name("skills") / "surefoot"
"""The folder of the skill that tells an agent when to ask Surefoot, and how to read a refusal."""
