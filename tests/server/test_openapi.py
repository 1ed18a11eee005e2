"""The OpenAPI document and the answers agree."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from surefoot.server.app import ROUTES


@pytest.fixture(scope="module")
def document(shared: TestClient) -> dict[str, Any]:
    """As a client gets it."""
    found: dict[str, Any] = shared.get("/openapi.json").json()
    return found


def test_every_address_is_described(document: dict[str, Any]) -> None:
    """With each of its methods, in words."""
    described = {(path, method) for path, of in document["paths"].items() for method in of}
    real = {(re.sub(r":\w+}", "}", route.path), m.lower()) for route in ROUTES for m in route.methods - {"HEAD"}}
    assert described == real
    assert all(one["summary"] for of in document["paths"].values() for one in of.values())
    names = [one["operationId"] for of in document["paths"].values() for one in of.values()]
    assert len(names) == len(set(names))


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    """And every schema is referred to."""
    referred = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert referred == set(document["components"]["schemas"])


def test_a_trace_has_the_schema_that_is_promised(document: dict[str, Any], shared: TestClient) -> None:
    """Checked against the document by a validator of others."""
    jsonschema = pytest.importorskip("jsonschema", reason="not installed")
    trace = shared.post("/ask", json={"question": "Who built the Ruvel Bridge?"}).json()
    schema = {"$ref": "#/components/schemas/Trace", "components": document["components"]}
    jsonschema.Draft202012Validator(schema).validate(trace)


def test_metrics_count_what_happened(shared: TestClient) -> None:
    """In the format that Prometheus reads, a help and a type for each."""
    shared.post("/ask", json={"question": "Who built the Ruvel Bridge?"})
    said = shared.get("/metrics").text
    assert 'surefoot_requests_total{status="200"}' in said
    assert "surefoot_question_seconds_count " in said
    assert "surefoot_places 18\n" in said
    assert said.count("# HELP") == said.count("# TYPE")
