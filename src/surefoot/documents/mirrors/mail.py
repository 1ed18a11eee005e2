"""The mails of a Maildir, or of a folder on an IMAP server, each as a file .eml; a server's stay unseen."""

import imaplib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from mailbox import Maildir
from pathlib import Path
from urllib.parse import unquote, urlsplit

from surefoot.documents.mirrors import Item, Tell
from surefoot.network import Network
from surefoot.types.errors import NetworkError, UsageError

PASSWORD = "SUREFOOT_IMAP_PASSWORD"  # noqa: S105 - its name
"""The variable of the environment that holds the password."""
_SECONDS = 60.0
_PORT = 993


def items(source: str, network: Network, tell: Tell) -> Iterator[Item]:
    """Each mail; one never changes. Raises UsageError and NetworkError."""
    return _of_server(source, network) if source.startswith("imaps:") else _of_maildir(source)


def _of_maildir(source: str) -> Iterator[Item]:
    place = Path(unquote(source.removeprefix("maildir:"))).expanduser()
    if not (place / "cur").is_dir():
        raise UsageError(f"{place} is no Maildir: it has no folder cur; check the path")
    top = Maildir(place, create=False)
    for name, box in (("", top), *((name, top.get_folder(name)) for name in sorted(top.list_folders()))):
        yield from (Item(f"{name}/{key}.eml", "1", partial(box.get_bytes, key)) for key in box.keys())  # noqa: SIM118


def _of_server(source: str, network: Network) -> Iterator[Item]:
    parts = urlsplit(source)
    host, port, folder = str(parts.hostname), parts.port or _PORT, unquote(parts.path.strip("/")) or "INBOX"
    if parts.password or not parts.username:
        raise UsageError(f"write imaps://NAME@{host}/{folder}, and the password into the variable {PASSWORD}")
    if not (password := os.environ.get(PASSWORD)):
        raise UsageError(f"the password of {unquote(parts.username)} is missing; set the variable {PASSWORD}")
    network.require(host, port)
    try:
        with imaplib.IMAP4_SSL(host, port, timeout=_SECONDS) as server:
            server.login(unquote(parts.username), password)
            quoted = folder.replace("\\", "\\\\").replace('"', '\\"')
            if server.select(f'"{quoted}"', readonly=True)[0] != "OK":
                raise UsageError(f"{host} has no folder {folder}; check its name")
            era = (server.response("UIDVALIDITY")[1] or [b""])[0] or b""
            _, (found, *_) = server.uid("SEARCH", "ALL")
            for uid in (found or b"").decode().split():
                yield Item(f"{uid}.eml", era.decode(), partial(_mail, server, uid))
    except (imaplib.IMAP4.error, OSError) as error:
        raise NetworkError(f"{host}: {re.sub(re.escape(password), '…', str(error))[:200]}") from None


def _mail(server: imaplib.IMAP4, uid: str) -> bytes:
    with suppress(imaplib.IMAP4.error):
        for part in server.uid("FETCH", uid, "(BODY.PEEK[])")[1]:
            if isinstance(part, tuple):
                return bytes(part[1])
    raise NetworkError("the mail cannot be had at present")
