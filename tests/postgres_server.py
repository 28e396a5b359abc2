"""A real PostgreSQL server for the tests, started at the first use, and a fresh database for each test."""

import atexit
import contextlib
import functools
import itertools
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import psycopg
import pytest

_NUMBERS = itertools.count(1)


def _binaries() -> Path | None:
    """The folder of the newest server that is installed."""
    found = [Path(one) for one in (shutil.which("initdb"),) if one]
    found += Path("/usr/lib/postgresql").glob("*/bin/initdb")
    return max(found, key=lambda path: (path.parts, path), default=Path()).parent if found else None


def _as_user() -> list[str]:
    """A server refuses to run as root."""
    return ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []


def free_port() -> int:
    """A port that nobody is given who leaves the choice to the system, as other tests do all the time."""
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port


class Server:
    """A server with a data folder of its own."""

    def __init__(self, binaries: Path, folder: Path, initdb: Sequence[str] = ()) -> None:
        self.port = free_port()
        self._binaries = binaries
        self._folder = folder
        self.data = folder / "data"
        if os.getuid() == 0:
            owner = pwd.getpwnam("postgres")
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        self._run("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "-N", "-E", "UTF8", *initdb)

    def _run(self, program: str, *words: object) -> None:
        command = [*_as_user(), str(self._binaries / program), *map(str, words)]
        done = subprocess.run(
            command,
            cwd="/",
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self, *, before: Sequence[str] = ()) -> None:
        """Starts it. The machine does not go down with it, so nothing needs to be flushed to its disk.

        Args:
            before: A command that starts what follows it.
        """
        chosen = [f"port={self.port}", f"unix_socket_directories={self._folder}", "fsync=off"]
        options = " ".join(f"-c {one}" for one in ["listen_addresses=127.0.0.1", *chosen])
        log = self._folder / "log"
        command = [
            *before,
            *_as_user(),
            str(self._binaries / "pg_ctl"),
            "-w",
            "-D",
            str(self.data),
            "-l",
            str(log),
        ]
        # Its output must not be a pipe of ours: the server keeps what it inherits.
        done = subprocess.run(
            [*command, "-o", options, "start"],
            cwd="/",
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=120,
        )
        assert done.returncode == 0, log.read_text()

    def stop(self, mode: str = "immediate") -> None:
        """Stops it, by default as a crash would."""
        self._run("pg_ctl", "-w", "-D", self.data, "-m", mode, "stop")

    @property
    def pid(self) -> int:
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def url(self, database: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def fresh(self) -> str:
        """The URL of a database in which nothing is."""
        name = f"t{next(_NUMBERS)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as link:
            link.execute(f"create database {name} strategy file_copy".encode())
        return self.url(name)


def new_server(initdb: Sequence[str] = ()) -> Server:
    """A server of the test's own, not started yet; without one on this machine the test is skipped."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server is installed: initdb is neither on the PATH nor in /usr/lib")
    if os.getuid() == 0 and "postgres" not in {one.pw_name for one in pwd.getpwall()}:
        pytest.skip("a PostgreSQL server refuses to run as root, and there is no user postgres")
    folder = Path(tempfile.mkdtemp(prefix="offing-pg-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Server(binaries, folder, initdb)


@functools.cache
def server() -> Server:
    """The one that the tests share, until they end."""
    shared = new_server()
    shared.start()
    atexit.register(shared.stop)
    return shared


def fresh_url() -> str:
    """The URL of a database in which nothing is."""
    return server().fresh()


def in_postgres(url: str, statement: str, *values: object) -> list[tuple[object, ...]]:
    """What a statement finds or does, on a connection of its own."""
    with psycopg.connect(url, autocommit=True) as link:
        cursor = link.execute(statement.encode(), values or None)
        return cursor.fetchall() if cursor.description else []
