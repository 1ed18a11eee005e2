"""`surefoot serve`: the server and its page; `surefoot serve keys`: who may come in."""

import webbrowser
from dataclasses import replace
from threading import Timer
from typing import Annotated, Any

from typer import Argument, Option

from surefoot.cli._configuration import CollectionName, ConfigFile, IndexFile, Settings, configured, with_extra
from surefoot.cli._console import out, plain, tabled
from surefoot.config.options import assemble
from surefoot.config.settings import Config


def serve(
    host: Annotated[str | None, Option("--host", help="Address to listen on, instead of this machine alone.")] = None,
    port: Annotated[int | None, Option("--port", min=1, max=65535, help="Port to listen on, instead of 8710.")] = None,
    no_browser: Annotated[bool, Option("--no-browser", help="Do not open the page.")] = False,
    index: IndexFile = None,
    collection: CollectionName = None,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """Answer questions over HTTP: for the page that it opens, for programs, and for chat clients.

    On this machine alone, and for whoever is on it, unless there is a key: surefoot serve keys NAME.
    """
    whole = configured(config, settings, index, collection)
    own = server_settings(whole)
    chosen = replace(own, host=host or own.host, port=port or own.port)
    server = _server()
    server.check(chosen, whole)
    url = f"http://{'localhost' if chosen.is_local else chosen.host}:{chosen.port}"
    out.print(f"{url}\nCtrl-C ends it.", soft_wrap=True)
    if not no_browser and chosen.is_local:
        opening = Timer(1.0, webbrowser.open, [url])
        opening.daemon = True
        opening.start()
    server.run(chosen, whole)


def keys(
    name: Annotated[str | None, Argument(metavar="[NAME]", help="A name for a new key, to remove it by.")] = None,
    collection: Annotated[
        list[str] | None,
        Option("--collection", metavar="C", help="A collection that it opens; again for one more. Else: default."),
    ] = None,
    remove: Annotated[bool, Option("--remove", help="Forget the key, at once also in a running server.")] = False,
    config: ConfigFile = None,
    settings: Settings = None,
) -> None:
    """List who may come in; with a name, make a key and print it, or remove one.

    A key is shown this once, and only its hash is kept.
    """
    stored = _server().keys_of(server_settings(configured(config, settings, None)))
    if name is None:
        rows = ((plain(key.name), ", ".join(key.collections), key.created) for key in stored.all())
        out.print(tabled(["key", "collections", "created"], [], rows))
    elif remove:
        stored.remove(name)
    else:
        out.print(stored.add(name, collection or []), soft_wrap=True)


def server_settings(whole: Config) -> Any:
    """`[server]` of a configuration."""
    return assemble("[server]", _server().ServerSettings, whole["server"], {})


def _server() -> Any:
    return with_extra("surefoot.server.app", "surefoot serve", "server")
