"""Runs a throw-away PostgreSQL with pgvector until its standard input closes; the first line it prints is the DSN. A
line on the input kills the server and starts it again, which a second line of the DSN says.

    python tests/services/postgres.py [SETTING=VALUE...]

The server is the one inside the `pgserver` wheel, without that wheel's Python, which adds a system user and opens the
permissions of every parent folder. It listens on a unix socket alone and asks for a password. PostgreSQL refuses to run
as root, so root runs it as `nobody`.
"""

import os
import pwd
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

NOBODY = pwd.getpwnam("nobody")
SERVANT = {"user": NOBODY.pw_uid, "group": NOBODY.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}


def installation(home: Path) -> Path:
    """The folder of PostgreSQL's programs, copied into `home` where the servant cannot walk to the installed one."""
    spec = find_spec("pgserver")
    if spec is None or spec.origin is None:
        sys.exit("pgserver is not installed; run: pip install pgserver")
    site = Path(spec.origin).resolve().parents[1]
    if SERVANT and not all(folder.stat().st_mode & stat.S_IXOTH for folder in (site, *site.parents)):
        for part in ("pgserver", "pgserver.libs"):
            shutil.copytree(site / part, home / part)
        site = home
    return site / "pgserver" / "pginstall" / "bin"


def start(home: Path, programs: Path, password: str) -> subprocess.Popen[bytes]:
    """A running server whose data, socket and log are in `home`."""
    secret = home / "password"
    secret.write_text(password)
    if SERVANT:
        shutil.chown(home, "nobody")
        shutil.chown(secret, "nobody")
    data = str(home / "data")
    make = [programs / "initdb", "-D", data, "-U", "surefoot", "-A", "scram-sha-256", "--pwfile", secret, "-E", "UTF8"]
    subprocess.run([*make, "--locale=C", "--no-sync"], check=True, stdout=subprocess.DEVNULL, cwd=home, **SERVANT)
    return run(home, programs)


def run(home: Path, programs: Path) -> subprocess.Popen[bytes]:
    """The server over the data that is there, a group of processes of its own."""
    data = str(home / "data")
    run = [programs / "postgres", "-D", data, "-k", home, "-c", "listen_addresses=", "-c", "fsync=off"]
    run += [part for setting in sys.argv[1:] for part in ("-c", setting)]
    with (home / "log").open("wb") as log:
        return subprocess.Popen(run, stdout=log, stderr=log, cwd=home, **SERVANT)


def is_ready(home: Path, server: subprocess.Popen[bytes]) -> bool:
    """Wait until the server takes connections, after a kill until it has recovered; False: it ended instead."""
    status = home / "data" / "postmaster.pid"
    for _ in range(3000):
        if status.exists() and status.read_text().rstrip().endswith("ready"):
            return True
        if server.poll() is not None:
            break
        time.sleep(0.1)
    return False


def killed(home: Path, programs: Path, server: subprocess.Popen[bytes]) -> subprocess.Popen[bytes]:
    """The server that takes the place of one that is killed with its sessions, of which one that makes an index would
    go on for a minute and let no other start."""
    sessions = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    server.kill()
    for session in map(int, sessions):
        with suppress(ProcessLookupError):
            os.kill(session, signal.SIGKILL)
    server.wait()
    for _ in range(100):
        (home / "data" / "postmaster.pid").unlink(missing_ok=True)
        if is_ready(home, server := run(home, programs)):
            break
        time.sleep(0.1)
    return server


def main() -> None:
    """Start, tell the DSN, wait for the end of standard input, stop."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    password = secrets.token_urlsafe(12)
    with tempfile.TemporaryDirectory(prefix="surefoot-pg-", dir="/tmp") as folder:
        home = Path(folder)
        programs = installation(home)
        server = start(home, programs, password)
        try:
            if not is_ready(home, server):
                sys.exit(f"PostgreSQL did not start: {(home / 'log').read_text()[-500:]}")
            dsn = f"postgresql://surefoot:{password}@/postgres?host={quote(folder, safe='')}"
            print(dsn, flush=True)
            for _ in sys.stdin:  # each line asks for a kill
                server = killed(home, programs, server)
                print(dsn, flush=True)
        finally:
            server.send_signal(signal.SIGINT)  # "fast": does not wait for clients to leave
            server.wait(30)


if __name__ == "__main__":
    main()
