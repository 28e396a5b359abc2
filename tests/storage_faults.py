"""A session on a disk that fails, as a process of its own: it meets the fault, and goes on when it is gone.

    python tests/storage_faults.py FAULT FOLDER

Prints one JSON object: what the failing run was told, how many rows were acknowledged by then, and what
the resumed run came to. FAULT is a function of this file.
"""

import asyncio
import ctypes
import json
import os
import resource
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from offing.engine import Engine, Playbook, Scripted, SqliteStore
from offing.engine.errors import StoreError
from offing.engine.store.inbox import Item, Posting
from offing.engine.store.journal import Journal, Lease, Row, Scope, Store
from offing.namespaces import Effect, FunctionNamespace
from offing.namespaces.functions import tool

STEPS = 30
ROOM = 1_000_000
"""Bytes that the disk has room for: less than the session needs."""
NOBODY = 65534


@dataclass(slots=True)
class Acknowledged:
    """A journal that notes which rows its store said were durable."""

    inner: Journal
    rows: list[Row] = field(default_factory=list[Row])

    async def acquire(self, stream: str) -> Lease:
        return await self.inner.acquire(stream)

    async def release(self, lease: Lease) -> None:
        await self.inner.release(lease)

    def append(self, lease: Lease, rows: Sequence[Row]) -> Awaitable[None]:
        done = asyncio.ensure_future(self.inner.append(lease, rows))

        def note(appended: "asyncio.Future[None]") -> None:
            if not appended.cancelled() and appended.exception() is None:
                self.rows += rows

        done.add_done_callback(note)
        return done

    def read(self, stream: str, after: int = 0) -> AsyncIterator[Row]:
        return self.inner.read(stream, after)

    async def post(self, stream: str, posting: Posting) -> int:
        return await self.inner.post(stream, posting)

    async def inbox(self, stream: str) -> Sequence[Item]:
        return await self.inner.inbox(stream)

    def on_post(self, lease: Lease, tell: Callable[[], object]) -> None:
        self.inner.on_post(lease, tell)


class Noting:
    """A store whose acknowledgements are noted."""

    def __init__(self, inner: Store) -> None:
        self._inner = inner
        scope = inner.scoped("local")
        self.journal = Acknowledged(scope.journal)
        self._scope = Scope(self.journal, scope.artifacts)

    def scoped(self, tenant: str) -> Scope:
        return self._scope

    async def close(self) -> None:
        await self._inner.close()


class Archive:
    """A system whose answers are long, each another one."""

    def __init__(self) -> None:
        self.asked = 0

    async def page(self, number: int) -> str:
        """Gives a page."""
        self.asked += 1
        return f"{number} " * 30_000


async def reading(book: Playbook, text: str) -> str:
    for number in range(STEPS):
        await book.call("archive__page", number=number)
    return "Read."


@contextmanager
def full_disk(folder: Path) -> Generator[Callable[[], object]]:
    """A disk of its own with little room, some of which can be freed."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={12 * ROOM}", "tmpfs", folder], check=True)
    ballast = folder / "ballast"
    ballast.write_bytes(bytes(11 * ROOM))
    yield ballast.unlink


@contextmanager
def file_too_large(folder: Path) -> Generator[Callable[[], object]]:
    """A limit on the size of files, as a quota may set one."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, hard))
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


@contextmanager
def read_only_file(folder: Path) -> Generator[Callable[[], object]]:
    """A file that this process may read and not write."""
    store = folder / "store.db"
    asyncio.run(_empty(store))
    yield from _denied(folder, store)


@contextmanager
def read_only_folder(folder: Path) -> Generator[Callable[[], object]]:
    """A folder in which nothing can be made."""
    yield from _denied(folder, folder)


def _denied(folder: Path, path: Path) -> Generator[Callable[[], object]]:
    """Takes the right to write away, also from root: by being somebody else meanwhile."""
    owner = os.geteuid()
    mode = path.stat().st_mode
    path.chmod(0o444 if path.is_file() else 0o555)
    _become(NOBODY if owner == 0 else owner)

    def allow() -> None:
        _become(owner)
        path.chmod(mode)

    yield allow


def _become(user: int) -> None:
    """In all threads: the C library sees to that."""
    if ctypes.CDLL(None).seteuid(user) != 0:
        raise PermissionError(user)


async def _empty(path: Path) -> None:
    store = SqliteStore(path)
    await store.scoped("local").journal.acquire("another")
    await store.close()


async def meet(folder: Path, heal: Callable[[], object]) -> dict[str, object]:
    """Runs into the fault, and goes on when it is gone."""
    store, archive = Noting(SqliteStore(folder / "store.db")), Archive()
    system = FunctionNamespace("archive", [tool(effect=Effect.READ)(archive.page)])
    async with Engine(Scripted(reading), [system], store=store) as engine:
        session = engine.session("s")
        told = await _fails(session.ask("Read."))
        acknowledged = list(store.journal.rows)
        heal()
        kept = [row async for row in store.journal.read("s")]
        again = session.resume("s.1") if kept else None
        result = await (await again).result() if again else await session.ask("Read.")
    return {
        "told": told,
        "acknowledged": len(acknowledged),
        "lost": len([row for row in acknowledged if row not in kept]),
        "answer": result.answer,
        "asked": archive.asked,
    }


async def _fails(work: Awaitable[object]) -> str:
    try:
        await work
    except StoreError as error:
        return str(error)
    return "nothing"


FAULTS: dict[str, Callable[[Path], AbstractContextManager[Callable[[], object]]]] = {
    each.__name__: each for each in (full_disk, file_too_large, read_only_file, read_only_folder)
}


def main() -> None:
    fault, folder = FAULTS[sys.argv[1]], Path(sys.argv[2])
    asyncio.run(meet(folder.parent / "warm", lambda: None))  # loads all there is to load
    with fault(folder) as heal:
        print(json.dumps(asyncio.run(meet(folder, heal))))  # noqa: T201


if __name__ == "__main__":
    main()
