"""Documents on their way in and out, and what of them can be opened."""

import errno
import json
import os
import sqlite3
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from starlette.testclient import TestClient

from server.conftest import BRIDGE, HUT, finished, upload
from surefoot.config.settings import Config
from surefoot.server import document_routes, history
from surefoot.server.app import create_app
from surefoot.server.chat_completions import _linkable
from surefoot.server.service import ServerSettings, Service, assembled
from surefoot.server.uploads import safe_name
from surefoot.types import Trace
from surefoot.types.errors import IndexFault

WHO = {"question": "Who built the Ruvel Bridge?"}


def test_a_document_is_listed_opened_and_taken_out_again(client: TestClient) -> None:
    """Afterwards nothing of it is found, and its neighbour still is."""
    job = upload(client, {"bridge.md": BRIDGE, "hut.md": HUT})
    assert (job["state"], job["done"], job["of"], job["unread"]) == ("done", 2, 2, [])
    lines = client.get("/documents").json()["documents"]
    assert [line["file"] for line in lines] == ["uploads/bridge.md", "uploads/hut.md"]
    bridge = lines[0]
    assert (bridge["passages"], bridge["uploaded"], bridge["state"]) == (1, True, "ready")
    text = client.get(f"/documents/{bridge['id']}/text").json()
    assert "1911" in text["blocks"][-1]["text"]
    assert client.get(f"/documents/{bridge['id']}").json() == text["document"] == bridge
    passage = client.post("/ask", json=WHO).json()["passages"][0]
    found = client.get(f"/passages/{passage['id']}").json()
    assert found["document"]["id"] == bridge["id"]
    assert (found["before"], found["after"]) == (None, None)
    block = text["blocks"][-1]
    assert found["passage"]["text"][block["start"] - found["passage"]["start"] :].startswith(block["text"])

    gone = client.delete(f"/documents/{bridge['id']}")
    assert finished(client, gone.json()["job"])["state"] == "done"
    assert [line["file"] for line in client.get("/documents").json()["documents"]] == ["uploads/hut.md"]
    for path in (f"/documents/{bridge['id']}", f"/passages/{passage['id']}", f"/documents/{bridge['id']}/text"):
        assert client.get(path).status_code == 404
    assert "Aldwin" not in client.post("/ask", json=WHO).text


def test_a_file_of_the_same_name_takes_the_place_of_the_former(client: TestClient) -> None:
    """As it does in a folder."""
    upload(client, {"bridge.md": BRIDGE})
    upload(client, {"bridge.md": BRIDGE.replace("Aldwin", "Brandt")})
    assert len(client.get("/documents").json()["documents"]) == 1
    words = client.post("/ask", json=WHO).text
    assert "Brandt" in words
    assert "Aldwin" not in words


def test_files_of_one_name_in_one_upload_are_each_a_document(client: TestClient) -> None:
    """The second takes its folder's name too; without one, or where that is taken as well, a number."""
    sent = [("a/x.md", BRIDGE), ("b/x.md", HUT), ("b-x.md", HUT), ("x.md", HUT)]
    form = [("file", (name, text.encode())) for name, text in sent]
    job = finished(client, client.post("/documents", files=form).json()["job"])
    assert (job["files"], job["unread"]) == (["x.md", "b-x.md", "2 b-x.md", "2 x.md"], [])
    assert len(client.get("/documents").json()["documents"]) == 4


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("filename*=UTF-8''na%C3%AFve%20b%C3%BCro.md", "naïve büro.md"),
        ("filename=\"plain.md\"; filename*=iso-8859-1'en'%A3%20rates.md", "£ rates.md"),
        ('filename="=?UTF-8?B?w7xiZXIubWQ=?="', "über.md"),
        ('filename="=?utf-8?q?=C3=BCber_uns.md?="', "über uns.md"),
        ('filename="u\u0308ber.md"', "über.md"),
        ("filename*=UTF-8''..%2F..%2Fetc%2Fpasswd.md", "passwd.md"),
        ("filename*=UTF-8''a%22%0D%0Ab.md", "a b.md"),
    ],
)
def test_an_encoded_name_of_a_file_is_decoded(client: TestClient, written: str, read: str) -> None:
    """As RFC 5987 or RFC 2047 writes it; nothing in it leads elsewhere."""
    part = f'--x\r\nContent-Disposition: form-data; name="file"; {written}\r\n\r\n{BRIDGE}\r\n--x--\r\n'
    reply = client.post(
        "/documents", content=part.encode(), headers={"Content-Type": "multipart/form-data; boundary=x"}
    )
    assert reply.status_code == 202, reply.text
    assert finished(client, reply.json()["job"])["files"] == [read]


def test_what_was_not_read_is_told_with_its_reason(client: TestClient) -> None:
    """A file that is no PDF, one of an unknown kind or an old one, a lock, one without a name; the others are read."""
    files = {"fake.pdf": b"this is no PDF", "virus.exe": b"MZ\x00\x01", "../..": b"x", "hut.md": HUT}
    job = upload(client, files | {"old.doc": b"\xd0\xcf", "~$plan.docx": b"Ola Vint"})
    assert (job["state"], job["done"], job["of"]) == ("done", 6, 6)
    reasons = {one["file"]: one["reason"] for one in job["unread"]}
    assert set(reasons) == {"fake.pdf", "virus.exe", "../..", "old.doc", "~$plan.docx"}
    assert "of a kind that is not read" in reasons["virus.exe"]
    assert "save it as .docx" in reasons["old.doc"]
    assert "lock file" in reasons["~$plan.docx"]
    states = {line["file"]: line["state"] for line in client.get("/documents").json()["documents"]}
    assert states == {"uploads/fake.pdf": "unread", "uploads/hut.md": "ready"}


def test_documents_come_page_by_page(client: TestClient) -> None:
    """`next` is None on the last page."""
    upload(client, {"a.md": BRIDGE, "b.md": HUT, "c.md": "# C\n\nThe third one.\n"})
    first = client.get("/documents", params={"limit": 2}).json()
    assert len(first["documents"]) == 2
    rest = client.get("/documents", params={"limit": 2, "before": first["next"]}).json()
    assert [line["file"] for line in rest["documents"]] == ["uploads/c.md"]
    assert rest["next"] is None


def test_a_text_can_be_sent_as_json(client: TestClient) -> None:
    """Under a name that says its format; the form's field says the collection as well as the address does."""
    reply = client.post("/documents", json={"name": "bridge.md", "text": BRIDGE})
    assert finished(client, reply.json()["job"])["state"] == "done"
    form = client.post("/documents", data={"collection": "huts"}, files=[("file", ("hut.md", HUT.encode()))])
    finished(client, form.json()["job"])
    counted = {one["name"]: one["documents"] for one in client.get("/collections").json()["collections"]}
    assert counted == {"default": 1, "huts": 1}


def test_fields_that_an_upload_gives_can_be_asked_for(client: TestClient) -> None:
    """As JSON and in a form; they stay when others are uploaded, and go with a file of the same name without any."""

    def found(**filter: Any) -> set[str]:
        question = {"question": "Who built the bridge and the hut?", "filter": filter}
        return {one["file"] for one in client.post("/ask", json=question).json()["passages"]}

    sent = {"name": "bridge.md", "text": BRIDGE, "meta": {"product": "x", "year": 1911}}
    finished(client, client.post("/documents", json=sent).json()["job"])
    form = {"data": {"meta": '{"product": "y"}'}, "files": [("file", ("hut.md", HUT.encode()))]}
    finished(client, client.post("/documents", **form).json()["job"])
    assert found(product="x") == {"uploads/bridge.md"}
    assert found(product="y") == {"uploads/hut.md"}
    assert found(year={"<": 1920}) == {"uploads/bridge.md"}
    assert client.get("/documents").json()["documents"][0]["meta"] == {"product": "x", "year": 1911}
    upload(client, {"bridge.md": BRIDGE})
    assert found(product="x") == set()
    assert found(product="y") == {"uploads/hut.md"}


@pytest.mark.parametrize(("meta", "words"), [("{", "not JSON"), ("[]", "an object"), ('{"a b": 1}', "field")])
def test_fields_that_no_document_can_have_are_refused(client: TestClient, meta: str, words: str) -> None:
    reply = client.post("/documents", data={"meta": meta}, files=[("file", ("hut.md", HUT.encode()))])
    assert reply.status_code == 400
    assert words in reply.json()["error"]["message"]
    assert client.get("/documents").json()["documents"] == []


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd.md", "passwd.md"),
        ("C:\\Users\\ann\\notes.md", "notes.md"),
        ("/abs/notes.md", "notes.md"),
        (".hidden.md", "hidden.md"),
        ("a\x00b\x1b[31m.md", "a b [31m.md"),
        ("evil\u202egnp.md", "evil gnp.md"),
        ("con:aux|x?.md", "con aux x .md"),
        ("..", ""),
        ("", ""),
        ("é" * 200 + ".md", "é" * 73 + ".md"),
    ],
)
def test_a_name_leads_nowhere_else(name: str, stored: str) -> None:
    """No folder, no hidden file, nothing that does not show, and short enough for a disk."""
    assert safe_name(name) == stored


def test_nothing_is_written_outside_the_servers_folder(client: TestClient, settings: ServerSettings) -> None:
    before = set(Path(settings.folder).parent.rglob("*"))
    upload(client, {"../../../outside.md": BRIDGE, "..\\up.md": HUT})
    uploads = Path(settings.folder) / "collections" / "default" / "uploads"
    assert {path.name for path in uploads.iterdir()} == {"outside.md", "up.md"}
    new = set(Path(settings.folder).parent.rglob("*")) - before
    assert all(path.is_relative_to(settings.folder) or path.name.startswith("index.db") for path in new)


def test_half_an_upload_is_swept_away_at_the_next_start(service: Service, settings: ServerSettings) -> None:
    """What a kill leaves has no name that an index reads."""
    uploads = Path(settings.folder) / "collections" / "default" / "uploads"
    uploads.mkdir(parents=True)
    (uploads / ".0123456789abcdef").write_text("half")
    (uploads / "whole.md").write_text(BRIDGE)
    service.collections.recover()
    assert [path.name for path in uploads.iterdir()] == ["whole.md"]


def test_an_upload_that_is_too_large_is_refused(settings: ServerSettings, config: Config) -> None:
    """413, whatever its header says; nothing is stored."""
    service = assembled(replace(settings, upload_bytes=1000), config)
    with TestClient(create_app(service), base_url="http://localhost:8710") as client:
        reply = client.post("/documents", files=[("file", ("big.md", b"x" * 5000))])
    assert reply.status_code == 413
    assert not (Path(settings.folder) / "collections" / "default").exists()


def test_uploads_beyond_the_places_come_again_later(client: TestClient, service: Service) -> None:
    held = [service.jobs.arriving() for _ in range(service.settings.waiting)]
    for one in held:
        one.__enter__()
    reply = client.post("/documents", files=[("file", ("hut.md", HUT.encode()))])
    for one in held:
        one.__exit__(None, None, None)
    assert reply.status_code == 429
    assert int(reply.headers["Retry-After"]) >= 1


def test_a_relative_folder_makes_no_difference(config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's own is one: uploads are known, and taken out, by the same paths."""
    monkeypatch.chdir(tmp_path)
    with TestClient(create_app(assembled(ServerSettings(), config)), base_url="http://localhost:8710") as client:
        upload(client, {"bridge.md": BRIDGE})
        (line,) = client.get("/documents").json()["documents"]
        assert (line["file"], line["uploaded"]) == ("uploads/bridge.md", True)
        finished(client, client.delete(f"/documents/{line['id']}").json()["job"])
        assert client.get("/documents").json()["documents"] == []


def test_whoever_runs_it_is_told_once_all_is_loaded(
    client: TestClient, settings: ServerSettings, config: Config
) -> None:
    """Also the pipeline of a collection that was there before."""
    upload(client, {"bridge.md": BRIDGE})
    service, done, loaded = assembled(settings, config), Event(), list[bool]()
    again = create_app(service)

    def warmed() -> None:
        loaded.append("default" in service.collections._pipelines)
        done.set()

    again.state.warmed = warmed
    with TestClient(again):
        assert done.wait(120)
    assert loaded == [True]


def test_a_collection_holds_so_many_bytes(settings: ServerSettings, config: Config) -> None:
    """Of uploads, together; one more is refused, and what is deleted makes room."""
    service = assembled(replace(settings, collection_bytes=200), config)
    with TestClient(create_app(service), base_url="http://localhost:8710") as client:
        upload(client, {"bridge.md": BRIDGE})
        refused = client.post("/documents", files=[("file", ("long.md", b"# Long\n\n" + b"A bridge. " * 20))])
        assert (refused.status_code, refused.json()["error"]["code"]) == (413, "quota")
        document = client.get("/documents").json()["documents"][0]["id"]
        finished(client, client.delete(f"/documents/{document}").json()["job"])
        upload(client, {"long.md": b"# Long\n\n" + b"A bridge. " * 15})


def test_the_oldest_traces_make_room(service: Service) -> None:
    """Once those of a collection fill their bytes; another's stay."""
    for number, collection in ((0, "acme"), (1, "acme"), (2, "bolt")):
        service.traces.add(collection, "", Trace(f"{number:012}", "Who?"))
        os.utime(next(service.traces.folder.rglob(f"{number:012}.json")), (time.time() + number,) * 2)
    service.traces.most = next(service.traces.folder.rglob("*.json")).stat().st_size + 1
    service.traces.forget()
    assert sorted(place.stem[-1] for place in service.traces.folder.rglob("*.json")) == ["1", "2"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_said_to_be_full(client: TestClient, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """507, for an upload as for a question whose trace is to be stored; other faults of a disk stay 500."""

    def full(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    upload(client, {"bridge.md": BRIDGE})
    monkeypatch.setattr(document_routes, "write_bytes", full)
    monkeypatch.setattr(history, "write_trace", full)
    quiet = TestClient(client.app, base_url="http://localhost:8710", raise_server_exceptions=False)
    text, question = {"name": "hut.md", "text": HUT}, {"question": "Who built the Ruvel Bridge?"}
    for path, body in (("/documents", text), ("/ask", question)):
        reply = quiet.post(path, json=body)
        assert (reply.status_code, reply.json()["error"]["code"]) == (507, "disk_full")
    number = errno.EIO
    assert quiet.post("/documents", json=text).status_code == 500


def test_an_index_that_the_disk_has_no_room_for_is_a_job_that_says_so(
    client: TestClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As SQLite says it, through whatever it was wrapped in."""

    def full(*_: object) -> None:
        with closing(sqlite3.connect(":memory:")) as db:
            db.execute("PRAGMA max_page_count = 1")
            try:
                db.execute("CREATE TABLE t (x)")
            except sqlite3.Error as error:
                raise IndexFault("not written") from error

    monkeypatch.setattr(service.jobs, "_update", full)
    job = upload(client, {"bridge.md": BRIDGE})
    assert (job["state"], "disk is full" in job["message"]) == ("failed", True)


def test_an_address_that_a_row_claims_is_no_link_of_a_chat(client: TestClient) -> None:
    """A client would load the image that it ends in; the file is shown instead. Nor is an image of its text loaded."""
    evil = "https://ann:secret@evil.example/\u202ex) ![x](https://evil.example/p.png"
    text = "The Ruvel Bridge was built in 1911 by Tomas Aldwin, see ![x](https://evil.example/p.png)."
    upload(client, {"bridges.jsonl": json.dumps({"id": "1", "text": text, "url": evil})})
    messages = [{"role": "user", "content": "Who built the Ruvel Bridge?"}]
    body = {"model": "surefoot-default+sources", "messages": messages}
    message = client.post("/v1/chat/completions", json=body).json()["choices"][0]["message"]
    assert "Aldwin" in message["content"]
    assert "![" not in message["content"]
    (cited,) = (one["url_citation"] for one in message["annotations"])
    assert cited["url"].startswith("http://localhost:8710/?collection=default&passage=")
    assert f"]({cited['url']})" in message["content"]


def test_the_address_of_a_page_that_was_fetched_ends_no_link() -> None:
    """It has no login, and no character that turns the direction of letters."""
    assert _linkable("https://ann:x@a.example/b (c)?d=e&f#g") == "https://a.example/b%20%28c%29?d=e&f#g"
    assert _linkable("https://a.example/\u202e>[x]") == "https://a.example/%E2%80%AE%3E%5Bx%5D"
    assert [_linkable(url) for url in ("javascript:x", "/etc/passwd", "http://[", "")] == [""] * 4


def test_files_of_a_watched_folder_come_and_go_by_themselves(
    settings: ServerSettings, config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the usual collection, beside what was uploaded."""
    monkeypatch.setattr("surefoot.index.watch.PAUSE", 0.05)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "bridge.md").write_text(BRIDGE)
    service = assembled(replace(settings, watch=[str(tmp_path / "docs")]), config)
    with TestClient(create_app(service), base_url="http://localhost:8710") as client:

        def until(*files: str) -> None:
            for _ in range(600):
                found = [one["file"] for one in client.get("/documents").json()["documents"]]
                if sorted(found) == sorted(files):
                    return
                time.sleep(0.05)
            raise AssertionError(found)

        until("docs/bridge.md")
        upload(client, {"x.md": HUT})
        (tmp_path / "docs" / "hut.md").write_text(HUT)
        until("docs/bridge.md", "docs/hut.md", "uploads/x.md")
        (tmp_path / "docs" / "bridge.md").unlink()
        until("docs/hut.md", "uploads/x.md")
