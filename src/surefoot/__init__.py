"""Surefoot: corrective RAG that tests every hold."""
