"""A fresh store and folder for each journey: a file beside it, or a database of its own on a server."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from ..store.place import is_url

_FILE_COPY = 150000
"""Version of the server from which a database is best copied file by file."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where the journeys of one sweep take place."""

    folder: Path
    url: str
    """Of a database on whose server others may be made; empty for SQLite files."""

    @property
    def kind(self) -> str:
        """What the store is, in a word."""
        return "PostgreSQL" if self.url else "SQLite"

    @contextmanager
    def one(self, name: str) -> Generator[tuple[Path, str]]:
        """A folder and a store; what is on a server is gone afterwards."""
        root = self.folder / name
        (root / "files").mkdir(parents=True)
        if not is_url(self.url):
            yield root, str(root / "store.db")
            return
        database = f"{self.folder.name}_{name}".replace("-", "_").lower()
        self._on_server(f'create database "{database}"', copied=True)
        try:
            yield root, urlunsplit(urlsplit(self.url)._replace(path=f"/{database}"))
        finally:
            self._on_server(f'drop database "{database}" with (force)')

    def _on_server(self, statement: str, *, copied: bool = False) -> None:
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as link:
            by_file = copied and link.info.server_version >= _FILE_COPY
            link.execute(f"{statement}{' strategy file_copy' if by_file else ''}".encode())
