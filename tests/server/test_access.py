"""Who may come in: keys, hosts and origins."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from server.conftest import finished
from surefoot.config.settings import Config
from surefoot.server import keys as keys_module
from surefoot.server.app import check, create_app
from surefoot.server.keys import Keys
from surefoot.server.service import ServerSettings, Service, assembled
from surefoot.types.errors import ConfigError, UsageError
from surefoot.web import served_policy

Secret = Callable[..., dict[str, str]]


def test_a_key_is_kept_as_its_hash_alone(tmp_path: Path) -> None:
    """In a file that nobody else may read."""
    keys = Keys(tmp_path / "keys.json")
    secret = keys.add("ann", ["acme"])
    assert secret not in keys.path.read_text()
    assert keys.path.stat().st_mode & 0o077 == 0
    found = keys.holder(secret)
    assert found
    assert found.collections == ("acme",)
    assert keys.holder(secret[:-1]) is None
    assert secret not in repr(found)


def test_a_key_that_is_removed_opens_nothing_more(tmp_path: Path) -> None:
    """Also for a server that read the file before. A name is there once, and a collection is no path."""
    keys, running = Keys(tmp_path / "keys.json"), Keys(tmp_path / "keys.json")
    with pytest.raises(UsageError, match="cannot be a collection"):
        keys.add("ann", ["../other"])
    secret = keys.add("ann", [])
    with pytest.raises(UsageError, match="there is a key 'ann'"):
        keys.add("ann", [])
    assert running.holder(secret)
    keys.remove("ann")
    assert running.holder(secret) is None
    with pytest.raises(UsageError, match="no key 'ann'"):
        keys.remove("ann")


def test_once_there_is_a_key_it_is_needed(client: TestClient, secret: Secret) -> None:
    """By all but the page's files and health; before, a client may send a dummy, as most insist on."""
    assert client.get("/collections").status_code == 200
    assert client.get("/collections", headers={"Authorization": "Bearer dummy"}).status_code == 200
    header = secret("ann", "default")
    assert client.get("/collections", headers=header).status_code == 200
    for wrong in ({}, {"Authorization": "Bearer sf-x"}, {"Authorization": "Basic eDp5"}):
        reply = client.get("/collections", headers=wrong)
        assert reply.status_code == 401
        assert reply.headers["WWW-Authenticate"] == "Bearer"
        assert "sf-x" not in json.dumps(dict(reply.headers)) + reply.text
    assert client.get("/nowhere").status_code == 401
    assert client.get("/health").status_code == 200
    assert client.get("/").status_code == 200


def test_a_lost_file_of_keys_opens_nothing(client: TestClient, secret: Secret, service: Service) -> None:
    """A key that was once needed stays needed; a damaged file lets nobody in."""
    header = secret("ann", "default")
    assert client.get("/collections", headers=header).status_code == 200
    path = Path(service.settings.folder) / "keys.json"
    path.write_text("{")
    assert client.get("/collections", headers=header).status_code == 503
    path.unlink()
    assert client.get("/collections").status_code == 401
    path.mkdir()
    assert client.get("/collections", headers=header).status_code == 503


def test_others_are_not_served_without_a_key(settings: ServerSettings, config: Config) -> None:
    with pytest.raises(ConfigError, match="surefoot serve keys"):
        check(replace(settings, host="0.0.0.0"), config)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *((host, 421) for host in ("evil.example", "evil.example:8710", "localhost.evil.example", "", "[::1", "a@b")),
        *((host, 200) for host in ("localhost", "localhost:8710", "127.0.0.1:1", "[::1]:8710", "LOCALHOST.")),
    ],
)
def test_only_this_machines_own_names_are_known(client: TestClient, host: str, status: int) -> None:
    """A page that rebinds its own name to loopback says so in the Host header. A tunnel may have another port."""
    assert client.get("/collections", headers={"Host": host}).status_code == status


def test_a_configured_name_is_known_and_no_other(settings: ServerSettings, config: Config) -> None:
    service = assembled(replace(settings, host="0.0.0.0", name="ask.example"), config)
    with TestClient(create_app(service), base_url="http://ask.example") as client:
        assert client.get("/health").status_code == 200
        assert client.get("/health", headers={"Host": "other.example"}).status_code == 421
        assert client.get("/collections").status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:3000"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_another_sites_page_may_not_ask(client: TestClient, headers: dict[str, str]) -> None:
    """A form of anybody's page can post to this machine; it would fill the collection."""
    files = [("file", ("x.md", b"# Lies\n\nThe bridge fell."))]
    assert client.post("/documents", files=files, headers=headers).status_code == 403
    assert client.get("/collections", headers=headers).status_code == 403


def test_the_own_page_a_link_to_it_and_whoever_has_a_key_may_ask(client: TestClient, secret: Secret) -> None:
    """The page's requests name its own origin. A browser adds no key by itself; desktop clients have odd origins."""
    own = {"Origin": "http://localhost:8710", "Sec-Fetch-Site": "same-origin"}
    assert client.get("/collections", headers=own).status_code == 200
    assert client.get("/", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200
    header = secret("ann", "default")
    assert client.get("/collections", headers={**header, "Origin": "app://cherry"}).status_code == 200


def test_every_answer_forbids_what_is_foreign(client: TestClient) -> None:
    for path in ("/", "/health", "/nowhere"):
        headers = client.get(path).headers
        assert headers["Content-Security-Policy"] == served_policy()
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in headers
    assert "unsafe" not in served_policy()


def test_another_collection_can_be_meant_where_none_is_named(settings: ServerSettings, config: Config) -> None:
    """`--collection`, which is `[index] collection`; its name has to be one that a server takes."""
    handbook = {**config, "index": {**config["index"], "collection": "handbook"}}
    with TestClient(create_app(assembled(settings, handbook)), base_url="http://localhost:8710") as client:
        text = {"name": "bridge.md", "text": "# Ruvel Bridge\n\nThe Ruvel Bridge was built in 1911.\n"}
        finished(client, client.post("/documents", json=text).json()["job"])
        assert [one["name"] for one in client.get("/collections").json()["collections"]] == ["handbook"]
        assert "1911" in client.post("/ask", json={"question": "When was the Ruvel Bridge built?"}).text
    with pytest.raises(ConfigError, match="cannot be served"):
        assembled(settings, {**config, "index": {**config["index"], "collection": "Hand.Book"}})


def test_the_pages_cookie_is_no_key(client: TestClient, secret: Secret, service: Service) -> None:
    """It holds the id of a session, which opens nothing elsewhere, nor once the session ended or the key is removed."""
    key = secret("ann", "default")["Authorization"].removeprefix("Bearer ")
    ids = []
    for _ in range(2):
        assert client.post("/session", json={"key": key}).status_code == 204
        ids.append(client.cookies["surefoot"])
        client.cookies.clear()
    one, other = ({"Cookie": f"surefoot={id}"} for id in ids)
    assert key not in ids
    assert client.get("/collections", headers=one).status_code == 200
    assert client.get("/collections", headers={"Cookie": f"surefoot={key}"}).status_code == 401
    assert client.get("/collections", headers={"Authorization": f"Bearer {ids[0]}"}).status_code == 401
    assert client.delete("/session", headers=one).status_code == 204
    assert [client.get("/collections", headers=each).status_code for each in (one, other)] == [401, 200]
    Keys(Path(service.settings.folder) / "keys.json").remove("ann")
    assert client.get("/collections", headers=other).status_code == 401
    assert client.post("/session", json={"key": key}).status_code == 401


def test_the_oldest_session_ends_where_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that whoever has a key cannot fill the memory."""
    monkeypatch.setattr(keys_module, "SESSIONS", 2)
    keys = Keys(tmp_path / "keys.json")
    secret = keys.add("ann", [])
    ids = [keys.begin_session(secret) or "" for _ in range(3)]
    assert [keys.session_holder(id) is not None for id in ids] == [False, True, True]
