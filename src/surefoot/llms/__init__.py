"""Language models behind the one call of the role `LLM`: in this process, behind an endpoint, or scripted for tests."""
