"""The stores that tests run over, each by its kind, in the test's own folder or on the tests' server."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from bare_run import SetClock
from offing.engine.store import MemoryStore, PostgresStore, SqliteStore, Store, store_at
from offing.engine.store.owner import Owner
from postgres_server import fresh_url, in_postgres

MAKERS = ["memory", "sqlite", "postgres"]
DURABLE = ["sqlite", "postgres"]


def place_in(kind: str, folder: Path) -> str:
    """Where the folder's durable store is: a path, or a URL that is the same each time it is asked for."""
    if kind == "sqlite":
        return str(folder / "store.db")
    kept = folder / "store.url"
    if not kept.exists():
        kept.write_text(fresh_url())
    return kept.read_text()


def store_in(kind: str, folder: Path) -> Store:
    """The folder's store of that kind."""
    if kind == "memory":
        return MemoryStore()
    place = place_in(kind, folder)
    return SqliteStore(place, SetClock()) if kind == "sqlite" else PostgresStore(place)


@dataclass(frozen=True, slots=True)
class Place:
    """A durable store seen from outside: what a test looks up or changes behind its back."""

    where: str

    @property
    def on_server(self) -> bool:
        return self.where.startswith("postgresql:")

    def store(self) -> Store:
        return store_at(self.where)

    def run(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        """Runs a statement, with `?` for values and `offing.` before tables, on either."""
        if self.on_server:
            return in_postgres(self.where, statement.replace("?", "%s"), *values)
        connection = sqlite3.connect(self.where)
        with connection:
            found = connection.execute(statement.replace("offing.", ""), values).fetchall()
        connection.close()
        return found

    def silence(self, by_us: int) -> None:
        """Sets back each owner's last sign of life."""
        table = "owner" if self.on_server else "stream"
        self.run(f"update offing.{table} set alive_at=alive_at-?", by_us)

    def own(self, owner: Owner) -> None:
        """Gives the leases to an owner that is alive now."""
        if not self.on_server:
            self.run("update stream set owner=?", owner.to_json())
            return
        self.run(
            "insert into offing.owner values(?, ?, 1, (extract(epoch from now()) * 1000000)::bigint)",
            owner.store,
            owner.to_json(),
        )
        self.run("update offing.stream set owner=?", owner.store)
