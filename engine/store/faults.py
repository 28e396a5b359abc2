"""What a failing database is told as: what went wrong, and what a person can do about it."""

import errno
import hashlib
from collections.abc import Mapping

from ..errors import StoreError

_FULL = (
    "There is no room left where the database is kept: free some, then resume; what was acknowledged is there"
)
_READ_ONLY = "It cannot be written: give this process the right to write the file and its folder, then resume"
_DAMAGED = "The database is damaged: stop using it, keep a copy, and restore the last backup"

_SYSTEM: Mapping[int, str] = {
    errno.EACCES: _READ_ONLY,
    errno.EROFS: _READ_ONLY,
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.ENOTDIR: "A file stands where its folder should be: name another path",
    errno.EEXIST: "A file stands where its folder should be: name another path",
}
"""By the system's error number."""

_SQLITE: Mapping[str, str] = {
    "SQLITE_FULL": _FULL,
    "SQLITE_READONLY": _READ_ONLY,
    "SQLITE_PERM": _READ_ONLY,
    "SQLITE_CANTOPEN": "See that its folder is there and can be written",
    "SQLITE_BUSY": "Another process keeps it locked: let that one finish, or end it, then resume",
    "SQLITE_LOCKED": "Another process keeps it locked: let that one finish, or end it, then resume",
    "SQLITE_CORRUPT": _DAMAGED,
    "SQLITE_NOTADB": "The path names a file of another kind, or the database is damaged: see which",
    "SQLITE_IOERR": "The disk does not do as it is told, or has no room left: see to it, then resume",
}
"""By the primary name of SQLite's result code."""

_POSTGRES: Mapping[str, str] = {
    "53100": _FULL,
    "25006": "The server takes no writes: let the URL name the primary, or make it writable, then resume",
    "42501": "Grant the role of the URL what it needs: see docs/stores.md, then resume",
    "55P03": "Another session keeps a row or table locked: let it finish, or end it, then resume",
    "57014": "The server took too long: see what holds it up, then resume",
    "53300": "The server has no connection left: raise max_connections, or use fewer engines",
    "XX001": _DAMAGED,
    "XX002": _DAMAGED,
    "58P01": _DAMAGED,
    "42P01": "A table of the store is missing: restore the last backup",
    "3D000": "Create the database that the URL names, or name another",
    "28P01": "See to user and password of the URL",
    "28000": "See to the user of the URL, and to the server's pg_hba.conf",
}
"""By SQLSTATE."""


def advice(error: BaseException) -> str:
    """What a person can do about a database's error, or its cause; empty when that is not known."""
    if error.__cause__ is not None and (known := advice(error.__cause__)):
        return known
    if isinstance(error, OSError):
        return _SYSTEM.get(error.errno or 0, "")
    name = getattr(error, "sqlite_errorname", None)
    if isinstance(name, str):
        return _SQLITE.get("_".join(name.split("_")[:2]), "")
    return _POSTGRES.get(str(getattr(error, "sqlstate", None)), "")


def told(what: str, error: BaseException, hint: str = "") -> StoreError:
    """The error that is raised for a database's: `what` failed, what it said, and what to do.

    Args:
        what: What was tried, in words.
        error: The database's.
        hint: What to do; empty for what is known about such an error.
    """
    said = " ".join(str(error).split("\n")[0].split()) or type(error).__name__
    hint = hint or advice(error)
    failed = StoreError(f"{what}: {said}. {hint}" if hint else f"{what}: {said}")
    failed.__cause__ = error
    return failed


def whole(ref: str, data: bytes) -> bytes:
    """The bytes of an artifact, when they are what was kept.

    Raises:
        StoreError: they are not.
    """
    if hashlib.sha256(data).hexdigest() != ref:
        raise StoreError(f"the artifact {ref!r} is not what was kept. {_DAMAGED}")
    return data
