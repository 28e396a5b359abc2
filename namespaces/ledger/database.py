"""An SQLite file as rows that are read: from a copy in memory, so that nothing can be written or reached.

A view of a hostile file may run forever and a text may be made of nothing, so statements, rows, texts and
what a statement may do are bounded: it reads, and that is all.
"""

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ..tables.numbers import Exact
from ..tables.source import Findings, Source, SourceError

_MAGIC = b"SQLite format 3\0"
_WAL = slice(18, 20)
"""Where the header says that what was written last may be in a second file."""
MAX_ROWS = 2_000_000
MAX_TEXT = 4000
"""Characters kept of one cell."""
_MAX_CHARACTERS = 400_000_000
_MAX_LENGTH = 1_000_000
"""Bytes of one text or row while it is made."""
_STEP = 10_000
_FEWEST_STEPS, _MOST_STEPS = 2_000, 15_000
"""Times so many instructions of the database's machine: half a second to some five."""
_BYTES_PER_STEP = 1_000
_MAX_COLUMNS = 1000
_MAX_TABLES = 2000
_READS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
_BARRED = {"load_extension", "randomblob", "zeroblob", "fts3_tokenizer", "readfile", "writefile", "edit"}
_EXACT_BELOW = 1e15
"""Below it a floating point number has all decimals that count."""
_DECIMALS = 6


class Rows(NamedTuple):
    """What a statement gave."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[str, ...]]
    """Numbers as `Exact`, NULL as an empty text."""


class Database:
    """One file that is open."""

    def __init__(self, source: Source, connection: sqlite3.Connection) -> None:
        self._source, self._connection = source, connection
        self._steps = 0
        self._limit = min(_FEWEST_STEPS + len(source.data) // _BYTES_PER_STEP, _MOST_STEPS)
        self._characters = 0
        connection.text_factory = _text
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_LENGTH)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.setlimit(sqlite3.SQLITE_LIMIT_COLUMN, _MAX_COLUMNS)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100)
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.set_authorizer(_may)
        connection.set_progress_handler(self._more, _STEP)

    def tables(self) -> dict[str, tuple[str, ...]]:
        """The columns of each table and view, by its name; of one that cannot be read none.

        Raises:
            SourceError: the file is damaged.
        """
        listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        names = [row[0] for _, row in zip(range(_MAX_TABLES), self.read(listed).rows, strict=False)]
        return {name: self._columns(name) for name in names if not name.startswith("sqlite_")}

    def read(self, statement: str) -> Rows:
        """What one statement gives.

        Raises:
            SourceError: it does more than read, takes too long, gives too much, or the file is damaged.
        """
        with self._told(statement):
            cursor = self._connection.execute(statement)
        names = tuple(str(column[0]) for column in cursor.description or ())
        return Rows(names, self._rows(cursor, statement))

    def _columns(self, name: str) -> tuple[str, ...]:
        try:
            return self.read(f"SELECT * FROM {quoted(name)} LIMIT 0").columns
        except SourceError:
            return ()

    def _rows(self, cursor: sqlite3.Cursor, statement: str) -> Iterator[tuple[str, ...]]:
        for number in range(MAX_ROWS + 1):
            with self._told(statement):
                row = cursor.fetchone()
            if row is None:
                return
            cells = tuple(map(_cell, row))
            self._characters += sum(map(len, cells))
            if number == MAX_ROWS or self._characters > _MAX_CHARACTERS:
                what = f"gives more than {MAX_ROWS} rows or {_MAX_CHARACTERS} characters; narrow it by query="
                raise SourceError(self._source.file, what, value=statement)
            yield cells

    @contextmanager
    def _told(self, statement: str) -> Generator[None]:
        try:
            yield
        except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError, ValueError) as error:
            what = f"the database says: {error}"
            if self._steps > self._limit:
                what = "takes too long to read; give a query= that reads less, or a table instead of a view"
            raise SourceError(self._source.file, what, value=statement) from None

    def _more(self) -> bool:
        """Counts what the database's machine does; True ends the statement."""
        self._steps += 1
        return self._steps > self._limit


@contextmanager
def open_database(source: Source, findings: Findings) -> Generator[Database]:
    """Opens a copy of the file.

    Raises:
        SourceError: it is no database of SQLite.
    """
    data = bytearray(source.data)
    if b"\x02" in data[_WAL]:
        data[_WAL] = b"\x01\x01"
        what = (
            "keeps what was written last in a second file (-wal), which is not read: close what writes to it"
        )
        findings.add("warning", what)
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    try:
        connection.deserialize(bytes(data))
        yield Database(source, connection)
    except sqlite3.Error as error:
        raise SourceError(source.file, f"is no database that can be read ({error}); save it anew") from None
    finally:
        connection.close()


def is_sqlite(source: Source) -> bool:
    """True for a database of SQLite."""
    return source.data.startswith(_MAGIC)


def quoted(name: str) -> str:
    """A name of a table as statements have it."""
    return '"' + name.replace('"', '""') + '"'


def _may(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    barred = action == sqlite3.SQLITE_FUNCTION and (second or "").casefold() in _BARRED
    return sqlite3.SQLITE_OK if action in _READS and not barred else sqlite3.SQLITE_DENY


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool() | int():
            return Exact(value)
        case float() if abs(value) < _EXACT_BELOW:
            return Exact(f"{value:.{_DECIMALS}f}".rstrip("0").rstrip("."))
        case bytes():
            return _text(value[:MAX_TEXT])
        case _:
            return str(value)[:MAX_TEXT]


def _text(value: bytes) -> str:
    return value.decode("utf-8", errors="replace")
