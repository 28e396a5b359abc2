"""`offing export`, `forget` and `sweep`: retention of what the command line keeps."""

from pathlib import Path

from ..errors import ConfigurationError
from ..store import Store, store_at
from ..store.place import is_url, shown
from ..store.retention import export, forget, sweep
from .commands import TENANT, ExitCode
from .screen import Screen

_DAY_S = 24 * 3600.0


async def export_to(file: Path, store: str, screen: Screen) -> ExitCode:
    """Writes all that is in the store into a file, which must not be there yet.

    Raises:
        ConfigurationError: the file is there, or cannot be written.
        StoreError: the store failed.
    """
    kept = _existing(store)
    lines = 0
    try:
        with file.open("xb") as out:
            async for line in export(kept.scoped(TENANT)):
                out.write(line)
                lines += 1
    except OSError as error:
        raise ConfigurationError(f"cannot write {str(file)!r}: {error}") from error
    finally:
        await kept.close()
    screen.line(f"{lines} lines written: {file}")
    return 0


async def forget_all(store: str, screen: Screen, *, is_sure: bool) -> ExitCode:
    """Deletes all that is in the store.

    Raises:
        ConfigurationError: nobody said to be sure.
        LeaseHeld: a run is at work.
        StoreError: the store failed.
    """
    if not is_sure:
        what = f"this deletes every session in {shown(store)!r} for good"
        raise ConfigurationError(f"{what}: say so with --yes")
    kept = _existing(store)
    try:
        await forget(kept.scoped(TENANT))
    finally:
        await kept.close()
    screen.line("deleted")
    return 0


async def sweep_artifacts(store: str, older_than_days: float, screen: Screen) -> ExitCode:
    """Removes artifacts that nothing names.

    Raises:
        ConfigurationError: the days are too few.
        StoreError: the store failed.
    """
    kept = _existing(store)
    try:
        removed = await sweep(kept.scoped(TENANT), older_than_days * _DAY_S)
    finally:
        await kept.close()
    screen.line(f"{removed} artifacts removed")
    return 0


def _existing(store: str) -> Store:
    if not is_url(store) and not Path(store).is_file():
        raise ConfigurationError(f"there is no store {shown(store)!r}: name it with --store")
    return store_at(store)
