"""A file gets its new content whole or not at all, and never over somebody else's change.

The new content is first written and flushed beside the file; then it takes the file's place in one
step. A process that is killed between leaves the file as it was, and a draft that the next one
writes over.
"""

import os
import shutil
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import NamespaceError

_OPEN_IN = ("~${}", ".~lock.{}#")
"""Names of the files that Excel and LibreOffice put beside one that they have open."""
_BINARY = getattr(os, "O_BINARY", 0)


@contextmanager
def alone(path: Path) -> Generator[None]:
    """Keeps everybody else who uses this library from posting into the same folder meanwhile.

    Other programs are not kept out: what they change is seen by `replace`. Where the system has no
    such lock, that is all there is.

    Raises:
        NamespaceError: somebody else is posting.
    """
    if sys.platform == "win32":
        yield
        return
    import fcntl

    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(folder)
        what = f"somebody else is posting to {path.parent.name!r}: nothing is written; try again"
        raise NamespaceError(what) from None
    except OSError:
        pass  # a file system without locks
    try:
        yield
    finally:
        os.close(folder)


def check_writable(path: Path) -> None:
    """Refuses a file that is not to be changed, also where this user could.

    Raises:
        NamespaceError: the file or its folder is not writable, or a spreadsheet program has it open.
    """
    if not path.stat().st_mode & stat.S_IWUSR or not os.access(path, os.W_OK):
        raise NamespaceError(f"{path.name} is write-protected: nothing is written")
    if not os.access(path.parent, os.W_OK):
        raise NamespaceError(f"the folder of {path.name} cannot be written to: nothing is written")
    if any(path.with_name(pattern.format(path.name)).exists() for pattern in _OPEN_IN):
        raise NamespaceError(
            f"{path.name} is open in a spreadsheet program, which would save over the entry: close it there"
        )


def write_draft(path: Path, data: bytes) -> Path:
    """Writes the new content beside the file and flushes it to the disk.

    Raises:
        NamespaceError: it cannot be written; the file is as it was.
    """
    beside = path.with_name(f".{path.name}.offing-draft")
    try:
        beside.unlink(missing_ok=True)
        number = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
        with os.fdopen(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(number)
        _keep_owner(path, beside)
        shutil.copymode(path, beside)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise NamespaceError(f"{path.name} is as it was: the draft cannot be written ({error})") from error
    return beside


def replace(path: Path, beside: Path, was: bytes) -> None:
    """Puts the draft in the file's place, if the file is still what the draft was made of.

    Raises:
        NamespaceError: somebody changed the file meanwhile, or it cannot be replaced.
    """
    try:
        if path.read_bytes() != was:
            raise NamespaceError(
                f"{path.name} was changed meanwhile by somebody else: nothing is written; try again"
            )
        beside.replace(path)
    except OSError as error:
        raise NamespaceError(f"{path.name} is as it was: it cannot be replaced ({error})") from error
    finally:
        beside.unlink(missing_ok=True)
    _flush_folder(path.parent)


def _keep_owner(path: Path, beside: Path) -> None:
    """Gives the draft the file's owner, where this user may."""
    if sys.platform == "win32":
        return
    was = path.stat()
    with suppress(PermissionError):
        os.chown(beside, was.st_uid, was.st_gid)


def _flush_folder(folder: Path) -> None:
    """Makes the new name durable, where a folder can be flushed."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
