"""Language models: in this process, behind an endpoint, or scripted for tests."""
