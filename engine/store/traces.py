"""Where the traces of a store's runs are kept as files: in a folder beside it, one for each tenant."""

import contextlib
import shutil
import time
from collections.abc import Container
from pathlib import Path
from urllib.parse import quote

from ...tracing.file import SUFFIX
from .facts import Resumed
from .journal import Scope
from .place import is_url
from .retention import holdings_of

_NAME = "-traces"


def traces_beside(store: str, tenant: str) -> Path | None:
    """The folder of a tenant's traces, beside the store's file; None for a server's, which has no beside."""
    if is_url(store):
        return None
    return Path(f"{store}{_NAME}") / quote(tenant, safe="").replace(".", "%2E")


def forget_traces(folder: Path | None) -> None:
    """Deletes all traces of a tenant. It blocks."""
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


async def named_traces(scope: Scope) -> frozenset[str]:
    """The traces that the tenant's runs are part of.

    Raises:
        ConfigurationError: the store cannot list its sessions.
        StoreError: the store failed.
    """
    found: set[str] = set()
    for stream in await holdings_of(scope).streams():
        async for row in scope.journal.read(stream):
            if isinstance(row.fact, Resumed):
                found.add(row.fact.trace)
    return frozenset(found)


def sweep_traces(folder: Path | None, named: Container[str], older_than_s: float) -> int:
    """Deletes the traces of no run that were not written to for so long. Gives how many. It blocks."""
    before, removed = time.time() - older_than_s, 0
    for file in () if folder is None else folder.glob(f"*{SUFFIX}"):
        with contextlib.suppress(FileNotFoundError):  # somebody else was quicker
            if file.stem not in named and file.stat().st_mtime < before:
                file.unlink()
                removed += 1
    return removed
