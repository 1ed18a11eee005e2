"""Every operation of the OpenAPI document, asked at random by somebody else's tool."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from server.process import serving

pytest.importorskip("schemathesis", reason="needs the package schemathesis")
pytest.importorskip("uvicorn", reason="needs the extra server")
pytestmark = pytest.mark.slow

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "allow_header_conformance",
    "ignored_auth",
)
BRIDGE = b"# Ruvel Bridge\n\nThe Ruvel Bridge was built in 1911 by Tomas Aldwin.\n"
EXAMPLES = os.environ.get("SUREFOOT_EXAMPLES", "10")


@pytest.mark.parametrize("locked", [False, True], ids=["open", "with a key"])
def test_no_request_meets_a_fault_or_an_answer_outside_the_schema(tmp_path: Path, locked: bool) -> None:
    """Whatever is sent; and with a key nothing is answered without it but what is open to all."""
    with serving(tmp_path) as (_, client):
        job = client.post("/documents", files=[("file", ("bridge.md", BRIDGE))]).json()["job"]
        while client.get(f"/jobs/{job}").json()["state"] not in ("done", "failed"):
            time.sleep(0.1)
        words = [f"{client.base_url}/openapi.json".replace("//openapi", "/openapi"), "--no-color", "--seed", "1"]
        words += ["--phases", "coverage,fuzzing", "--checks", ",".join(CHECKS), "--max-examples", EXAMPLES]
        if locked:
            command = [sys.executable, "-m", "surefoot", "serve", "keys", "ann"]
            key = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.strip()
            words += ["--header", f"Authorization: Bearer {key}"]
        tool = [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "run", *words]
        done = subprocess.run(tool, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        assert client.get("/health").json() == {"status": "ok"}
    assert "Traceback" not in (tmp_path / "log").read_text()
