"""The OpenAPI document and the answers agree."""

import json
import re
from typing import Any

import pytest
from starlette.testclient import TestClient

QUESTION = {"question": "Who built the Ruvel Bridge?"}


@pytest.fixture(scope="module")
def document(shared: TestClient) -> dict[str, Any]:
    found: dict[str, Any] = shared.get("/openapi.json").json()
    return found


def test_every_operation_is_described_in_words_and_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    """No two operations share an id, and every schema is referred to."""
    operations = [one for of in document["paths"].values() for one in of.values()]
    assert len(operations) > 25
    assert all(one["description"] for one in operations)
    names = [one["operationId"] for one in operations]
    assert len(names) == len(set(names))
    referred = set(re.findall(r'"#/components/schemas/([\w-]+)"', json.dumps(document)))
    assert referred == set(document["components"]["schemas"])


def test_a_trace_has_the_schema_that_is_promised(document: dict[str, Any], shared: TestClient) -> None:
    """Checked against the document by a validator of others."""
    jsonschema = pytest.importorskip("jsonschema", reason="not installed")
    trace = shared.post("/ask", json=QUESTION).json()
    schema = {"$ref": "#/components/schemas/Trace", "components": document["components"]}
    jsonschema.Draft202012Validator(schema).validate(trace)


def test_metrics_count_what_happened(shared: TestClient) -> None:
    """In the format that Prometheus reads, a help and a type for each."""
    shared.post("/ask", json=QUESTION)
    text = shared.get("/metrics").text
    assert 'surefoot_requests_total{status="200"}' in text
    assert "surefoot_question_seconds_count " in text
    assert "surefoot_places 18\n" in text
    assert text.count("# HELP") == text.count("# TYPE")
