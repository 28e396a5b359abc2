"""The files beside a SKILL.md: which there are, and their bytes on demand.

A skill's version covers them, so a file that changed since is not given: what the record says was used
is what was used. The scan is bounded and follows no link out of the skill's folder.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from .document import FILE
from .errors import ResourceError

MOST_FILES = 100
MOST_BYTES = 5_000_000
"""Size of one resource."""
MOST_ENTRIES = 1_000
"""Entries of one folder up to which it is looked at."""
DEEPEST = 3
"""Folders below that of the skill."""


@dataclass(frozen=True, slots=True)
class Resource:
    """One file that a skill offers."""

    path: str
    """Relative to the skill's folder, with `/`."""
    size: int
    """Bytes."""
    digest: str
    """SHA-256 in hexadecimal."""


class Offered(NamedTuple):
    """The resources of a skill, and what of its folder is not offered."""

    resources: tuple[Resource, ...]
    findings: tuple[str, ...]


def resources_in(folder: Path) -> Offered:
    """The resources of a skill's folder, sorted by path; hidden files are none."""
    found: list[Resource] = []
    findings: list[str] = []
    for path, problem in _files(folder, folder.resolve(), DEEPEST):
        name = path.relative_to(folder).as_posix()
        if problem:
            findings.append(f"{name} {problem}")
        elif len(found) == MOST_FILES:
            findings.append(f"it has more than {MOST_FILES} resources: those from {name} on are not offered")
            break
        else:
            _add(path, name, found, findings)
    return Offered(tuple(found), tuple(findings))


def read_resource(folder: Path, resource: Resource) -> bytes:
    """The bytes of a resource.

    Raises:
        ResourceError: it cannot be read, or is not what it was when the skill was read.
    """
    try:
        data = _read(folder / resource.path)
    except OSError as error:
        raise ResourceError(f"{resource.path} cannot be read: {error.strerror}") from error
    if hashlib.sha256(data).hexdigest() != resource.digest:
        raise ResourceError(f"{resource.path} has changed since the skill was read: open a new session")
    return data


def _add(path: Path, name: str, found: list[Resource], findings: list[str]) -> None:
    try:
        data = _read(path)
    except OSError as error:
        findings.append(f"{name} cannot be read: {error.strerror}")
        return
    if len(data) > MOST_BYTES:
        findings.append(f"{name} is larger than {MOST_BYTES} bytes, and is not offered")
        return
    found.append(Resource(name, len(data), hashlib.sha256(data).hexdigest()))


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MOST_BYTES + 1)


class _Seen(NamedTuple):
    path: Path
    problem: str
    """Why it is not offered; empty when it is."""


def _files(folder: Path, root: Path, depth: int) -> Iterator[_Seen]:
    entries = list(islice(folder.iterdir(), MOST_ENTRIES + 1))
    if len(entries) > MOST_ENTRIES:
        yield _Seen(folder / "*", f"are more than {MOST_ENTRIES} files, and are not offered")
        return
    for path in _sorted(entries):
        if not is_inside(path, root):
            yield _Seen(path, "leads out of the skill's folder, and is not offered")
        elif path.is_dir() and path.is_symlink():
            yield _Seen(path, "is a link to a folder, and is not followed")
        elif path.is_dir() and depth:
            yield from _files(path, root, depth - 1)
        elif path.is_dir():
            yield _Seen(path, f"is more than {DEEPEST} folders deep, and is not offered")
        elif path.is_file() and path.resolve() != root / FILE:
            yield _Seen(path, "")


def is_inside(path: Path, root: Path) -> bool:
    """Whether a path leads to something in `root`, which is resolved, and not in a circle."""
    try:
        return path.resolve().is_relative_to(root) and (path.exists() or not path.is_symlink())
    except (OSError, RuntimeError):
        return False


def _sorted(entries: Sequence[Path]) -> list[Path]:
    return sorted(each for each in entries if each.name[0] != "." and each.name != "__pycache__")
