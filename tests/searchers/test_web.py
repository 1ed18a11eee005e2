"""What the searchers of the web have in common."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from surefoot.network import Reply
from surefoot.network.credentials import address, excerpt, key
from surefoot.searchers._web import answered, external, field, passages, refused, requested, sendable
from surefoot.types.errors import ConfigError, SearchError

WEB = "https://example.org/bridge"


def reply(body: object, status: int = 200, kind: str = "application/json", **headers: str) -> Reply:
    """What a server said."""
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return Reply("https://api.example.org/search", status, {"content-type": kind, **headers}, raw)


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=300), st.integers(1, 50))
def test_whatever_is_asked_fits_on_a_line_that_can_be_sent(query: str, most: int) -> None:
    """Control characters, line ends and half characters included; what is left has a letter or a digit, or is empty."""
    line = sendable(query, most)
    assert line.encode().decode() == line
    assert line == "" or line.isprintable()
    assert len(line) <= most
    assert line == "" or any(map(str.isalnum, line))


def test_a_long_query_is_cut_between_words() -> None:
    """Half a word finds other things than the word."""
    assert sendable("who built the bridge", 15) == "who built the"
    assert sendable("who built the bridge", 20) == "who built the bridge"
    assert sendable("a" * 30, 10) == "a" * 10


def test_a_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the line end that files with keys have."""
    monkeypatch.setenv("SOME_KEY", " k-123\n")
    assert key("searcher 'x'", "SOME_KEY") == "k-123"


@pytest.mark.parametrize("value", ["", "  ", "two keys", "k\u00e9y", "k\x01y"])
def test_what_is_no_key_is_refused_without_being_shown(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would end up in a header."""
    monkeypatch.setenv("SOME_KEY", value)
    with pytest.raises(ConfigError, match="SOME_KEY") as caught:
        key("searcher 'x'", "SOME_KEY")
    assert value.strip() == "" or value not in str(caught.value)


@pytest.mark.parametrize("pasted", ["tvly-4711", "sk-proj_4711", "9f8e7d6c", "f98e7d6c", "MY KEY", ""])
def test_a_key_in_place_of_its_variables_name_is_not_shown(pasted: str) -> None:
    """It would go into the message, and into the record of the run."""
    with pytest.raises(ConfigError, match="key_env is the name of an environment variable") as caught:
        key("searcher 'x'", pasted)
    assert not pasted or pasted not in str(caught.value)


SECRET = ["https://me:hidden@a.org", "https://a.org/?token=hidden"]


@pytest.mark.parametrize(
    "url", ["a.example.org", "ftp://a/b", "http://", "http://[::1", "", "http://a:99999", "http://a/\ud800", *SECRET]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    """When the searcher is built; one with a secret too, without showing it: the configuration is recorded."""
    with pytest.raises(ConfigError, match="a login or a query" if url in SECRET else "not an http or") as caught:
        address(url)
    assert "hidden" not in str(caught.value)


def test_a_refusal_says_what_the_provider_said_and_what_to_do() -> None:
    """On one line."""
    error = refused("Tavily", reply({"detail": {"error": "no\nsuch plan"}}, 401), {401: "check the key"})
    assert type(error) is SearchError
    assert str(error) == 'Tavily answered HTTP 401 ({"detail": {"error": "no\\nsuch plan"}}); check the key'


@pytest.mark.parametrize("body", [[], 7, {"results": "none"}, {"results": {"0": 1}}])
def test_json_of_another_shape_is_an_error(body: object) -> None:
    """It is not "nothing found"."""
    with pytest.raises(SearchError, match="results"):
        answered("Tavily", reply(body), "results")


def test_only_a_reply_that_holds_something_is_kept() -> None:
    """Neither an error in a good reply nor nothing at all."""
    bodies: list[object] = [{"results": [1]}, {"results": []}, {"results": "x"}, "<html>"]

    def send(*, keep: Callable[[Reply], bool], trusted: bool) -> Reply:
        assert [keep(reply(one)) for one in bodies] == [True, False, False, False]
        return reply(bodies[0])

    assert requested(send, lambda found: answered("Tavily", found, "results").get("results", [])) == [1]


@pytest.mark.parametrize("row", [None, "text", {"title": None}, {"title": 7}, {}])
def test_what_is_no_text_counts_as_empty(row: object) -> None:
    """A row is what a stranger sent."""
    assert field(row, "title") == ""


def test_only_addresses_of_the_web_are_passed_on() -> None:
    """A citation is a link that somebody clicks."""
    urls = ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//a.org", "", "https://", WEB]
    assert [p.url for p in passages([(url, "t", "text", "snippet") for url in urls], 9)] == [WEB]


def test_a_passage_comes_once_and_never_empty() -> None:
    """And no more of them than were asked for."""
    rows = [(WEB, "t", "one", "snippet"), (WEB, "t", "one", "page"), (WEB, "", " ", "page"), (WEB, "", "two", "page")]
    assert [(p.text, p.via, p.title) for p in passages(rows, 9)] == [("one", "snippet", "t"), ("two", "page", WEB)]
    assert [p.trust for p in passages(rows, 1)] == ["web"]


def test_an_id_hangs_on_address_and_text_alone() -> None:
    """A passage that was graded before is known again, however it was found."""
    one = external(WEB, "title", "text", "snippet", "untrusted")
    assert one.id == external(WEB, "other", "text", "page", "plain").id
    assert one.id != external(WEB + "/2", "title", "text", "snippet", "untrusted").id
    assert one.id != external(WEB, "title", "text 2", "snippet", "untrusted").id
    assert one.source == "external"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Incorrect API key provided: s3cretvalue.", "Incorrect API key provided: ***"),
        ('{"api_key": "other", "model": "m"}', '{"api_key": "***", "model": "m"}'),
        ("no account has S3CRET-KEY", "no account has ***"),
        ("x" * 1995 + "s3cret-key", "x" * 160),
        ("unknown 0123456789abcdef0123456789abcdef01234567", "unknown ***"),
        ("token=abc and password: hunter2", "token=*** and password: ***"),
        ("no postgresql://me:p@ss@db.example:5432/x", "no postgresql://***@db.example:5432/x"),
        ("SERVER=x;PWD=hunter2 https://a.org/@b", "SERVER=x;PWD=*** https://a.org/@b"),
        ("too many tokens: 12; the token limit is 8", "too many tokens: 12; the token limit is 8"),
        ("request 01234567-89ab-cdef-0123-456789abcdef", "request 01234567-89ab-cdef-0123-456789abcdef"),
    ],
)
def test_a_key_is_masked_however_it_is_echoed(said: str, shown: str) -> None:
    """The one that was sent, in any case, and what looks like one without a known beginning; words of an error stay."""
    assert excerpt(said, "s3cret-key") == shown
