"""The package index that pip is set up for, read without pip."""

from __future__ import annotations

import os
import re
import ssl
import sys
from collections.abc import Iterator
from configparser import Error, RawConfigParser
from netrc import NetrcParseError
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urlsplit
from urllib.request import getproxies, proxy_bypass, url2pathname

import httpx
from lxml import etree, html
from platformdirs import site_config_dir, user_config_dir

from surefoot.models.files import Wheel
from surefoot.network import Network
from surefoot.types.errors import ModelError, NetworkError, on_one_line

_WHEEL = re.compile(r"([^-]+)-([^-]+)(?:-\d[^-]*)?-[^-]+-[^-]+-[^-]+\.whl")
_NO = ("", "0", "n", "no", "f", "false", "off")


class PackageIndex:
    """The places that pip's files and environment name (PIP_INDEX_URL, PIP_FIND_LINKS, PIP_CERT and their like).
    Proxies are used as pip uses them, but not for hosts that the network forbids. Raises ModelError for unreadable
    settings."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._settings = _settings()
        self._logins: dict[str, httpx.Auth] = {}
        """By scheme and host; addresses with logins would end up in logs and messages."""

    def find(self, wheel: Wheel) -> str:
        """The http, https or file address of a wheel of this version, made for any machine. Raises ModelError if no
        place has one, and NetworkError if the network forbids one of the places."""
        found: dict[str, str] = {}
        failures: list[str] = []
        refused: NetworkError | None = None
        for place in map(self._plain, self._places(wheel.package)):
            try:
                found |= {version: link for link in self._links(place) if (version := _version(link, wheel.package))}
            except NetworkError as error:
                refused = error
            except (OSError, ValueError, etree.LxmlError, httpx.HTTPError, httpx.InvalidURL) as error:
                failures.append(f"{place}: {on_one_line(error, 200)}")
            if wheel.version in found:
                return self._plain(urldefrag(found[wheel.version]).url)
        if refused:
            raise refused
        there = f"there are: {', '.join(found)}" if found else "; ".join(failures) or "it has no wheel of that name"
        raise ModelError(f"{wheel} is not to be had; {there}")

    def client(self, url: str) -> httpx.Client:
        """A client for an address that `find` gave, and for its redirects."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        verify = not {host, parts.netloc} & {*self._settings.get("trusted-host", "").split()} and self._certificates()
        login = self._logins.get(f"{parts.scheme}://{parts.netloc}") or _netrc()
        if proxy := self._proxy(parts.scheme, host):
            allow = {"request": [self._allow]}
            return httpx.Client(proxy=proxy, verify=verify, auth=login, event_hooks=allow, **_MANNERS)
        return client(self._network, url, verify, login)

    def _places(self, package: str) -> Iterator[str]:
        yield from self._settings.get("find-links", "").split()
        if self._settings.get("no-index", "").lower() in _NO:
            indexes = self._settings.get("index-url", "https://pypi.org/simple")
            for index in (indexes, *self._settings.get("extra-index-url", "").split()):
                yield f"{index.rstrip('/')}/{_canonical(package)}/"

    def _plain(self, url: str) -> str:
        """The address without its login, which is kept for that host."""
        parts = urlsplit(url)
        if parts.username is None:
            return url
        login = httpx.BasicAuth(unquote(parts.username), unquote(parts.password or ""))
        parts = parts._replace(netloc=parts.netloc.rpartition("@")[2])
        self._logins[f"{parts.scheme}://{parts.netloc}"] = login
        return parts.geturl()

    def _links(self, place: str) -> list[str]:
        """The addresses on a page of links, or of the wheels in a folder."""
        parts = urlsplit(place)
        if parts.scheme in ("http", "https"):
            with self.client(place) as asked:
                page = asked.get(place)
            if page.status_code != 200:
                raise ValueError(f"it answers HTTP {page.status_code}")
            return _hrefs(page.content, str(page.url))
        file = Path(url2pathname(parts.path) if parts.scheme == "file" else place).expanduser().absolute()
        if file.is_dir() and not (file / "index.html").is_file():
            return [wheel.as_uri() for wheel in file.glob("*.whl")]
        file = file / "index.html" if file.is_dir() else file
        return _hrefs(file.read_bytes(), file.as_uri())

    def _certificates(self) -> ssl.SSLContext | bool:
        """The certificates that pip is told to trust; True: those that httpx trusts, which include SSL_CERT_FILE."""
        if not (file := self._settings.get("cert")):
            return True
        try:
            return ssl.create_default_context(cafile=file)
        except OSError as error:
            raise ModelError(f"cannot read the certificates {file} that pip is set up with: {error}") from error

    def _proxy(self, scheme: str, host: str) -> str | None:
        if named := self._settings.get("proxy"):
            return named
        proxies = getproxies()
        return None if proxy_bypass(host) else proxies.get(scheme) or proxies.get("all")

    def _allow(self, request: httpx.Request) -> None:
        self._network.require(request.url.host, request.url.port)


_MANNERS: dict[str, Any] = {
    "timeout": httpx.Timeout(30, connect=10),
    "headers": {"Accept-Encoding": "identity"},
    "follow_redirects": True,
}


def client(
    network: Network, url: str, verify: ssl.SSLContext | bool = True, login: httpx.Auth | None = None
) -> httpx.Client:
    """A client for an address from the user's settings, and for its redirects."""
    return httpx.Client(transport=network.transport(url, verify), auth=login, **_MANNERS)


def _settings() -> dict[str, str]:
    """pip's settings, the later over the earlier: of the machine, the user, this Python, PIP_CONFIG_FILE and PIP_…;
    those for `install` and `download` over those for all commands."""
    own, home = os.environ.get("PIP_CONFIG_FILE", ""), Path.home()
    machine: list[Path | str] = [*site_config_dir("pip", appauthor=False, multipath=True).split(os.pathsep), "/etc"]
    user: list[Path | str] = [
        home / ".pip",
        home / "pip",
        home / ".config/pip",
        user_config_dir("pip", appauthor=False, roaming=True),
    ]
    folders: list[Path | str] = [*machine, *([] if own and Path(own).exists() else user), sys.prefix]
    name = "pip.ini" if sys.platform == "win32" else "pip.conf"
    parser = RawConfigParser()
    parser.optionxform = _key  # type: ignore[method-assign, assignment]
    try:
        parser.read([*(Path(folder) / name for folder in folders), *([own] if own else [])], "utf-8")
    except (Error, UnicodeDecodeError) as error:
        raise ModelError(f"pip's settings cannot be read: {on_one_line(error)}") from error
    found: dict[str, str] = {}
    for section in filter(parser.has_section, ("global", "install", "download")):
        found |= dict(parser.items(section))
    return found | {_key(name[4:]): value for name, value in os.environ.items() if name.startswith("PIP_")}


def _key(name: str) -> str:
    return name.lower().removeprefix("--").replace("_", "-")


def _netrc() -> httpx.Auth | None:
    """The logins of the user's ~/.netrc, which pip uses as well."""
    try:
        return httpx.NetRCAuth(os.environ.get("NETRC"))
    except (OSError, NetrcParseError):
        return None


def _hrefs(page: bytes, base: str) -> list[str]:
    tree = html.document_fromstring(page or b"<p>")
    tree.make_links_absolute(base, handle_failures="ignore")
    return [str(link) for link in tree.xpath("//a/@href")]


def _version(link: str, package: str) -> str | None:
    """The version, if the link leads to a wheel of the package."""
    file = _WHEEL.fullmatch(unquote(urlsplit(link).path).rpartition("/")[2])
    return file[2] if file and _canonical(file[1]) == _canonical(package) else None


def _canonical(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()
