"""What a run made, as files: its report, and what its tools attached to their results."""

from collections.abc import Mapping
from pathlib import Path

from ...answer import Result
from ...errors import ConfigurationError
from ...store.facts import Settled
from ...store.journal import Scope


async def deliver(result: Result, kept: Scope, folder: Path, title: str) -> tuple[Path, ...]:
    """Writes the report and the attachments into a folder; files of these names are replaced.

    Args:
        result: Of a run that has answered.
        kept: Where the run is kept.
        folder: Made if it is not there.
        title: Of the report's file, without its ending.

    Raises:
        ConfigurationError: the folder cannot be written to.
        StoreError: an attachment cannot be read.
    """
    files = {f"{title}.md": f"{result.markdown()}\n".encode()}
    rows = [row async for row in kept.journal.read(result.run.partition(".")[0]) if row.run == result.run]
    settled = [row.fact for row in rows if isinstance(row.fact, Settled)]
    for fact in settled:
        for stored in fact.stored:
            # A long result is kept under its call alone, and is no attachment.
            if name := stored.handle.removeprefix(f"result/{fact.result.call}").removeprefix("/"):
                files[name] = await kept.artifacts.get(stored.ref)
    return write_files(files, folder)


def write_files(files: Mapping[str, bytes], folder: Path) -> tuple[Path, ...]:
    """Writes files into a folder, which is made if it is not there.

    Raises:
        ConfigurationError: it cannot be written to; the message says why.
    """
    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            path = folder / name
            path.write_bytes(data)
            written.append(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigurationError(
            f"cannot write to {str(folder)!r} ({reason}); give another folder with --out"
        ) from error
    return tuple(written)
