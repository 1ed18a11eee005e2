"""Jobs outlive the server that took them on."""

from __future__ import annotations

import os
from pathlib import Path
from time import time

import pytest
from starlette.testclient import TestClient

from server.conftest import BRIDGE, HUT, finished, upload
from surefoot.config.settings import Config
from surefoot.server import jobs
from surefoot.server.app import assembled, create_app
from surefoot.server.jobs import Jobs, Progress, Unread
from surefoot.server.service import Service
from surefoot.server.settings import ServerSettings


def opened(settings: ServerSettings, config: Config) -> TestClient:
    """A client of a server that starts over what the one before left."""
    return TestClient(create_app(assembled(settings, config)), base_url="http://localhost:8710")


def test_a_job_that_ended_is_known_after_a_restart(
    client: TestClient, settings: ServerSettings, config: Config
) -> None:
    """With what was not read, word for word."""
    job = upload(client, {"bridge.md": BRIDGE, "virus.exe": b"MZ\x00\x01"})
    assert job["unread"]
    with opened(settings, config) as again:
        assert again.get(f"/jobs/{job['id']}").json() == job


def test_a_job_that_a_stop_left_undone_is_done_after_the_restart(
    service: Service, settings: ServerSettings, config: Config
) -> None:
    """Under the same id, and once."""
    uploads = service.collections.uploads("default")
    uploads.mkdir(parents=True)
    (uploads / "bridge.md").write_text(BRIDGE)
    id = service.jobs.add("default", ("bridge.md",), (Unread("virus.exe", "is a program"),)).id
    with opened(settings, config) as again:
        job = finished(again, id)
        assert (job["state"], job["done"], job["of"], job["passages"]) == ("done", 2, 2, 1)
        assert job["unread"] == [{"file": "virus.exe", "reason": "is a program"}]
        assert len(again.get("/documents").json()["documents"]) == 1
    with opened(settings, config) as third:
        assert third.get(f"/jobs/{id}").json() == job


def test_a_job_that_failed_is_known_to_have_failed(tmp_path: Path) -> None:
    """Its files are read by the next start, or not: it has ended."""

    def fails(name: str, progress: Progress) -> tuple[Unread, ...]:
        raise OSError("no space left on device")

    first = Jobs(tmp_path, 30, fails, 4)
    first.start(())
    id = first.add("default", ("bridge.md",)).id
    while (job := first.get(id)) is None or job.state != "failed":
        pass
    first.close()
    second = Jobs(tmp_path, 30, fails, 4)
    second.start(())
    second.close()
    assert second.get(id) == job
    assert "are kept" in job.message


def test_a_job_is_forgotten_when_its_days_are_over(service: Service, client: TestClient, config: Config) -> None:
    """As traces and conversations are; one that has not ended stays."""
    job = upload(client, {"hut.md": HUT})
    place = service.collections.folder / "default" / "jobs" / f"{job['id']}.json"
    service.jobs.forget()
    assert place.exists()
    old = time() - (service.settings.keep_days + 1) * 86_400
    os.utime(place, (old, old))
    service.jobs.forget()
    assert not place.exists()
    assert client.get(f"/jobs/{job['id']}").status_code == 404


def test_a_damaged_job_keeps_no_server_from_starting(
    client: TestClient, settings: ServerSettings, config: Config
) -> None:
    """The others are known."""
    job = upload(client, {"bridge.md": BRIDGE})
    folder = Path(settings.folder) / "collections" / "default" / "jobs"
    for name, content in (("a", b"{"), ("b", b'{"id": 1}'), ("c", b"\xff\x00"), ("d", b"[" * 10_000)):
        (folder / f"{name}.json").write_bytes(content)
    with opened(settings, config) as again:
        assert again.get(f"/jobs/{job['id']}").json()["state"] == "done"


def test_an_end_that_cannot_be_kept_is_told_all_the_same(
    service: Service, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk stops neither this job nor the next."""

    def full(path: Path, text: str) -> None:
        raise OSError("no space left on device")

    uploads = service.collections.uploads("default")
    uploads.mkdir(parents=True)
    (uploads / "bridge.md").write_text(BRIDGE)
    write, taken = jobs.write_text, service.jobs._update

    def update(name: str, progress: Progress) -> tuple[Unread, ...]:
        monkeypatch.setattr(jobs, "write_text", full)
        return taken(name, progress)

    monkeypatch.setattr(service.jobs, "_update", update)
    assert finished(client, service.jobs.add("default", ("bridge.md",)).id)["state"] == "done"
    monkeypatch.setattr(jobs, "write_text", write)
    assert upload(client, {"hut.md": HUT})["state"] == "done"


def test_an_upload_of_which_nothing_was_read_can_be_asked_about(client: TestClient) -> None:
    """Also where the collection would be new."""
    job = upload(client, {"virus.exe": b"MZ\x00\x01"}, "fresh")
    assert (job["state"], job["unread"][0]["file"]) == ("done", "virus.exe")
