"""`offing export`, `forget` and `sweep`: retention of what the command line keeps."""

import argparse
import asyncio
from pathlib import Path

from ...errors import ConfigurationError
from ...store.place import shown
from ...store.retention import export, forget, sweep
from ...store.traces import forget_traces, named_traces, sweep_traces
from ..command import Command, completes_files
from ..exits import DONE, ExitCode
from ..ground import Ground

_DAY_S = 24 * 3600.0


async def export_to(file: Path, ground: Ground) -> ExitCode:
    """Writes all that is in the store into a file, which must not be there yet.

    Raises:
        ConfigurationError: the file is there, or cannot be written.
        StoreError: the store failed.
    """
    kept = ground.existing()
    lines = 0
    try:
        with file.open("xb") as out:
            async for line in export(kept.scoped(ground.tenant)):
                out.write(line)
                lines += 1
    except OSError as error:
        raise ConfigurationError(f"cannot write {str(file)!r}: {error}") from error
    finally:
        await kept.close()
    ground.screen.line(f"{lines} lines written: {file}")
    return DONE


async def forget_all(ground: Ground, *, is_sure: bool) -> ExitCode:
    """Deletes all that is in the store.

    Raises:
        ConfigurationError: nobody said to be sure.
        LeaseHeld: a run is at work.
        StoreError: the store failed.
    """
    if not is_sure:
        what = f"this deletes every session in {shown(ground.store)!r} for good"
        raise ConfigurationError(f"{what}: say so with --yes")
    kept = ground.existing()
    try:
        await forget(kept.scoped(ground.tenant))
    finally:
        await kept.close()
    await asyncio.to_thread(forget_traces, ground.traces)
    ground.screen.line("deleted")
    return DONE


async def sweep_artifacts(ground: Ground, older_than_days: float) -> ExitCode:
    """Removes artifacts that nothing names.

    Raises:
        ConfigurationError: the days are too few.
        StoreError: the store failed.
    """
    kept = ground.existing()
    try:
        scope, older_s = kept.scoped(ground.tenant), older_than_days * _DAY_S
        removed = await sweep(scope, older_s)
        named = await named_traces(scope)
    finally:
        await kept.close()
    traces = await asyncio.to_thread(sweep_traces, ground.traces, named, older_s)
    told = f" and {traces} traces" if traces else ""
    ground.screen.line(f"{removed} artifacts{told} removed")
    return DONE


def _arguments_of_export(made: argparse.ArgumentParser) -> None:
    completes_files(made.add_argument("file", help="must not be there yet"))


def _arguments_of_forget(made: argparse.ArgumentParser) -> None:
    made.add_argument("--yes", action="store_true", help="it is meant")


def _arguments_of_sweep(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--older-than", type=float, default=7.0, metavar="DAYS", help="not touched for so long (default: 7)"
    )


KEEPING = (
    Command(
        "export",
        "write all that the store has into a file, as lines of JSON",
        _arguments_of_export,
        lambda given, ground: export_to(Path(given.file), ground),
    ),
    Command(
        "forget",
        "delete all that the store has, for good",
        _arguments_of_forget,
        lambda given, ground: forget_all(ground, is_sure=given.yes),
    ),
    Command(
        "sweep",
        "remove stored bytes that no session names",
        _arguments_of_sweep,
        lambda given, ground: sweep_artifacts(ground, given.older_than),
    ),
)
