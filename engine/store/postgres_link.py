"""Connections to a PostgreSQL server: made with patience, never waited for without an end."""

import threading
import time
from collections.abc import Sequence
from typing import LiteralString, NamedTuple, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow

RV = TypeVar("RV")

_DEFAULTS = {
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}
"""What holds unless the URL says otherwise: a network that has died is noticed within a minute."""

_CUT = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03", "25P04"})
"""SQLSTATEs with which a server takes leave of a connection."""


class Patience(NamedTuple):
    """How long is waited for a server, in seconds."""

    reconnect_s: float = 10.0
    """For a connection to be made again after it was cut."""
    answer_s: float = 60.0
    """For the answer to one statement; longer than `lock_s`."""
    lock_s: float = 20.0
    """For what another session keeps locked."""
    idle_s: float = 15.0
    """The server ends a transaction of ours that says nothing for so long, as one of a stopped process."""


class Link(psycopg.Connection[TupleRow]):
    """A connection that gives up when the server does not answer."""

    answer_s: float = 60.0

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Waits for an answer. A connection whose answer is given up is closed: it may still come."""
        try:
            return super().wait(gen, interval, self.answer_s if timeout is None else timeout)
        except psycopg.OperationalError as error:
            if error.sqlstate is not None or self.closed:
                raise
            self.close()
            raise psycopg.OperationalError(f"no answer within {self.answer_s:g} s") from error


def connect(url: str, patience: Patience, name: str) -> Link:
    """A new connection, shown on the server under that name.

    Raises:
        psycopg.Error: it cannot be made.
    """
    given = {**_DEFAULTS, **conninfo_to_dict(url), "application_name": name}
    link = Link.connect(make_conninfo("", **given), autocommit=True)
    link.answer_s = patience.answer_s
    try:
        link.execute(
            f"set lock_timeout={1000 * patience.lock_s:.0f};"
            f"set statement_timeout={1000 * patience.answer_s:.0f};"
            f"set idle_in_transaction_session_timeout={1000 * patience.idle_s:.0f};"
            "set client_encoding='UTF8';"
            "select set_config('synchronous_commit', 'on', false)"
            " where current_setting('synchronous_commit')='off'".encode()
        )
    except psycopg.Error:
        link.close()
        raise
    return link


def connect_again(url: str, patience: Patience, name: str) -> Link:
    """The same, tried again and again, ever more slowly, until the patience ends."""
    give_up_at = time.monotonic() + patience.reconnect_s
    pause = 0.05
    while True:
        try:
            return connect(url, patience, name)
        except psycopg.OperationalError:
            if time.monotonic() + pause > give_up_at:
                raise
        time.sleep(pause)
        pause = min(2 * pause, 2.0)


def is_cut(link: Link, error: psycopg.Error) -> bool:
    """Whether the connection is of no use any more."""
    return link.closed or error.sqlstate in _CUT


class LinkPool:
    """A few connections for what is no part of a transaction, made when they are needed and kept."""

    def __init__(self, url: str, patience: Patience, most: int = 4) -> None:
        self._url = url
        self._patience = patience
        self._free: list[Link] = []
        self._guard = threading.Lock()
        self._places = threading.BoundedSemaphore(most)
        self._closed = False
        self.reached = False
        """Whether the server has ever answered."""

    def query(self, statement: LiteralString, values: Sequence[object]) -> list[TupleRow]:
        """What the statement finds; sent a second time when the connection is cut meanwhile.

        Raises:
            psycopg.Error: it cannot be read.
        """
        with self._places:
            link = self._take() or self._connect()
            try:
                return self._read(link, statement, values)
            except psycopg.Error as error:
                if not is_cut(link, error):
                    raise
            self.close_idle()  # they were most likely cut too
            return self._read(self._connect(), statement, values)

    def _connect(self) -> Link:
        """A server that was never reached is told at once: its URL may be wrong."""
        make = connect_again if self.reached else connect
        link = make(self._url, self._patience, "offing")
        self.reached = True
        return link

    def _read(self, link: Link, statement: LiteralString, values: Sequence[object]) -> list[TupleRow]:
        try:
            return link.execute(statement, values, binary=True).fetchall()
        except psycopg.Error as error:
            if is_cut(link, error):
                link.close()
            raise
        finally:
            self._give_back(link)

    def _take(self) -> Link | None:
        with self._guard:
            return self._free.pop() if self._free else None

    def _give_back(self, link: Link) -> None:
        with self._guard:
            if not (self._closed or link.closed):
                self._free.append(link)
                return
        link.close()

    def close_idle(self) -> None:
        """Closes those that are not at work."""
        with self._guard:
            idle, self._free = self._free, []
        for link in idle:
            link.close()

    def close(self) -> None:
        """Closes all: those at work, when they are done."""
        self._closed = True
        self.close_idle()
