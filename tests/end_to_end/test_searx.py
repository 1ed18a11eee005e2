"""The searxng searcher against a real searx (Debian's package `searx`), whose one engine asks a real MediaWiki.

SUREFOOT_TEST_MEDIAWIKI is the address of that wiki's api.php.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from surefoot.contracts import verify
from surefoot.network import Network
from surefoot.searchers.searxng import Searxng
from surefoot.types.errors import SearchError

API = os.environ.get("SUREFOOT_TEST_MEDIAWIKI", "")
SHARE = Path("/usr/share/python3-searx")
SETTINGS = """
general: {{debug: false, instance_name: test}}
search: {{safe_search: 0, autocomplete: "", default_lang: "", ban_time_on_fail: 0, max_ban_time_on_fail: 0}}
server:
  {{port: {port}, bind_address: 127.0.0.1, secret_key: of no use, base_url: false, image_proxy: false, method: GET}}
ui: {{default_theme: oscar, static_path: {share}/static, templates_path: {share}/templates}}
outgoing: {{request_timeout: 90.0, useragent_suffix: ""}}
engines:
  - name: wiki
    engine: mediawiki
    shortcut: w
    enable_http: true
    base_url: "{wiki}"
    search_postfix: "{script}?action=query&list=search&{{query}}&format=json&srwhat={{searchtype}}"
    search_type: text
    number_of_results: 10
  - name: broken
    engine: mediawiki
    shortcut: b
    enable_http: true
    base_url: "http://127.0.0.1:9/"
locales: {{en: English}}
doi_resolvers: {{oadoi.org: "https://oadoi.org/"}}
default_doi_resolver: oadoi.org
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("searx-run"), reason="searx is not installed: apt-get install searx"),
    pytest.mark.skipif(not API, reason="SUREFOOT_TEST_MEDIAWIKI is not set: the address of a MediaWiki's api.php"),
]


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A searx on a free port, until the tests are done."""
    folder = tmp_path_factory.mktemp("searx")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    wiki, _, script = API.rpartition("/")
    written = SETTINGS.format(port=port, share=SHARE, wiki=f"{wiki}/", script=script)
    (folder / "settings.yml").write_text(written, encoding="utf-8")
    environment = {**os.environ, "SEARX_SETTINGS_PATH": str(folder / "settings.yml")}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(["searx-run"], env=environment, cwd=folder, stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}"
        for _ in range(240):
            assert process.poll() is None, (folder / "log").read_text(encoding="utf-8", errors="replace")[-500:]
            with suppress(httpx.HTTPError):
                httpx.get(f"{url}/config", timeout=10)
                break
            time.sleep(0.25)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=20)


def test_it_finds_a_page_that_searx_finds(instance: str) -> None:
    """With its address; searx's MediaWiki engine gives no texts, so the title stands for one."""
    params: dict[str, str | int] = {"action": "query", "list": "allpages", "aplimit": 1, "format": "json"}
    listed = httpx.get(API, params={**params, "apminsize": 500, "apfilterredir": "nonredirects"}, timeout=30).json()
    title = listed["query"]["allpages"][0]["title"]
    found = Searxng(Network(seconds=120), instance, engines="wiki").search(title, 10)
    assert found
    assert all(passage.url and passage.via == "title" for passage in found)


def test_nothing_from_an_engine_that_cannot_be_reached_is_an_error(instance: str) -> None:
    """In searx's own words."""
    with pytest.raises(SearchError, match="broken"):
        Searxng(Network(seconds=120), instance, engines="broken").search("bridge", 5)


def test_it_keeps_the_contract(instance: str) -> None:
    """The one that every searcher has to keep."""
    verify("searcher", Searxng(Network(seconds=120, spacing=0), instance, engines="wiki"))
