"""Retention: the one way in which anything is deleted, and a copy of all that a tenant has.

An export is lines of JSON: a head, the rows of each stream in order, the artifacts, the decisions about
files, what is remembered, and an end with the digest of all lines before. Bodies of rows are as the
journal keeps them.
"""

import base64
import hashlib
import json
import re
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from pydantic import JsonValue, TypeAdapter

from ..errors import ConfigurationError, StoreError
from .codec import Body, decode, encode
from .copying import write_stream
from .facts import Unknown
from .holdings import Holdings
from .journal import Lease, Row, Scope
from .memories import MemoryItem

FORMAT = 1
"""Version of the export's lines."""
GRACE_S = 7 * 24 * 3600.0
"""Seconds that an artifact is left alone after it was last put, unless a host says otherwise."""
LEAST_GRACE_S = 3600.0
"""Fewer are refused: a run may have put what it has not recorded yet."""

_ITEM = TypeAdapter(MemoryItem)
_REF = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


async def sweep(scope: Scope, older_than_s: float = GRACE_S) -> int:
    """Removes a tenant's artifacts that no row names and that were not put for so long. Gives how many.

    Safe while runs are at work. Whatever looks like an artifact's address in a row, of a kind that this
    release knows or not, keeps it.

    Raises:
        ConfigurationError: less than an hour, or the store has no retention.
        StoreError: the store failed; nothing was removed.
    """
    if not older_than_s >= LEAST_GRACE_S:
        raise ConfigurationError(
            f"artifacts cannot be swept after {older_than_s} s: a run may have put what it has not"
            f" recorded yet; give {LEAST_GRACE_S:g} or more"
        )
    holdings = holdings_of(scope)
    held = {each.ref for each in await holdings.artifacts()}
    for stream in await holdings.streams():
        async for row in scope.journal.read(stream):
            held -= {ref.decode() for ref in _REF.findall(body_of(row).body)}
    return await holdings.remove_artifacts(sorted(held), int(older_than_s * 1_000_000))


async def forget(scope: Scope) -> None:
    """Deletes a tenant whole: its sessions, artifacts, decisions and memory. It cannot be undone.

    Raises:
        LeaseHeld: one of its sessions is being worked on; nothing was deleted.
        ConfigurationError: the store has no retention.
        StoreError: the store failed; nothing was deleted.
    """
    holdings = holdings_of(scope)
    leases: list[Lease] = []
    try:
        for stream in await holdings.streams():
            leases.append(await scope.journal.acquire(stream))
        await holdings.remove_all()
    finally:
        for lease in leases:
            await scope.journal.release(lease)


async def export(scope: Scope) -> AsyncIterator[bytes]:
    """All that a tenant has, line by line; each ends in a line feed.

    Runs at work are in it as far as their rows are there when they are read.

    Raises:
        ConfigurationError: the store has no retention.
        JournalUnreadable: a row is damaged.
        StoreError: the store failed, or an artifact was removed meanwhile.
    """
    holdings = holdings_of(scope)
    digest = hashlib.sha256()
    count = 0
    async for value in _values(scope, holdings):
        line = _line(value)
        digest.update(line)
        count += 1
        yield line
    yield _line({"end": FORMAT, "lines": count, "sha256": digest.hexdigest()})


async def restore(scope: Scope, lines: Iterable[bytes]) -> None:
    """Brings an export into a tenant that has nothing.

    The folds of its sessions are those of the exported ones. Whatever is wrong with a line, the tenant has
    nothing again. A kill in between leaves a part of it: `forget` the tenant and begin anew.

    Raises:
        ConfigurationError: the tenant has something already, or the store has no retention.
        StoreError: a line is not what was exported, lines are missing, or a row is of a later release;
            the number of the line is named.
    """
    holdings = holdings_of(scope)
    has_any = await holdings.streams() or await holdings.artifacts() or await holdings.readings()
    if has_any or await scope.memory.items():
        raise ConfigurationError("an export is for a tenant that has nothing: this one has something already")
    try:
        await _Restored(scope).take_all(lines)
    except BaseException:
        await holdings.remove_all()
        raise


def holdings_of(scope: Scope) -> Holdings:
    """What the tenant has.

    Raises:
        ConfigurationError: the store cannot tell.
    """
    if scope.holdings is None:
        raise ConfigurationError(
            "this store has no retention: use one that offers Holdings, as those of this library do"
        )
    return scope.holdings


def body_of(row: Row) -> Body:
    """A row's fact as the journal keeps it, of an unknown kind too."""
    if isinstance(row.fact, Unknown):
        return Body(row.fact.kind, row.fact.version, row.fact.body)
    return encode(row.fact)


async def _values(scope: Scope, holdings: Holdings) -> AsyncIterator[Mapping[str, JsonValue]]:
    yield {"offing": "export", "format": FORMAT}
    for stream in await holdings.streams():
        async for row in scope.journal.read(stream):
            kind, version, body = body_of(row)
            place: dict[str, JsonValue] = {"row": stream, "seq": row.seq, "run": row.run, "at": row.at}
            yield {**place, "kind": kind, "version": version, "body": body.decode()}
    for held in await holdings.artifacts():
        data = await scope.artifacts.get(held.ref)
        yield {"artifact": held.ref, "base64": base64.b64encode(data).decode()}
    for system, key, text in await holdings.readings():
        yield {"reading": system, "key": key, "text": text}
    for item in await scope.memory.items():
        yield {"memory": item.id, **_ITEM.dump_python(item, mode="json", exclude={"id"})}


def _line(value: Mapping[str, JsonValue]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


class _End(NamedTuple):
    lines: int
    sha256: str


@dataclass(slots=True)
class _Restored:
    """An export on its way into a tenant: the rows of one stream are written at once."""

    scope: Scope
    stream: str = ""
    rows: list[Row] = field(default_factory=list[Row])

    async def take_all(self, lines: Iterable[bytes]) -> None:
        digest = hashlib.sha256()
        end: _End | None = None
        number = 0
        for number, line in enumerate(lines, start=1):
            if end is not None:
                raise StoreError(f"line {number}: the export has ended in the line before")
            try:
                end = await self._take(cast("dict[str, JsonValue]", json.loads(line)), number)
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                raise StoreError(f"line {number} is no line of an export: {error}") from error
            if end is None:
                digest.update(line)
        if end is None:
            raise StoreError(f"the export is cut: its end is not there after line {number}")
        if end != (number - 1, digest.hexdigest()):
            raise StoreError("the export is damaged: its lines are not those that it ends with the digest of")

    async def _take(self, value: dict[str, JsonValue], number: int) -> _End | None:
        match value:
            case {"offing": "export", "format": 1} if number == 1:
                return None
            case _ if number == 1:
                raise ValueError(f"it is to say that an export of format {FORMAT} begins")
            case {"row": str(stream)}:
                await self._row(stream, value)
                return None
            case _:
                await self._write()
        return await self._other(value)

    async def _other(self, value: dict[str, JsonValue]) -> _End | None:
        match value:
            case {"artifact": str(ref), "base64": str(text)}:
                if await self.scope.artifacts.put(base64.b64decode(text, validate=True)) != ref:
                    raise ValueError(f"the bytes are not those of {ref}")
            case {"reading": str(system), "key": str(key), "text": str(text)}:
                self.scope.readings.keep(system, key, text)
            case {"memory": str(identity), **fields}:
                await self.scope.memory.keep(_ITEM.validate_python({"id": identity, **fields}))
            case {"end": 1, "lines": int(lines), "sha256": str(sha256)}:
                return _End(lines, sha256)
            case _:
                raise ValueError("it is none of row, artifact, reading, memory and end")
        return None

    async def _row(self, stream: str, value: dict[str, JsonValue]) -> None:
        if stream != self.stream:
            await self._write()
            self.stream = stream
        match value:
            case {"seq": int(seq)} if seq != len(self.rows) + 1:
                raise ValueError(
                    f"row {len(self.rows) + 1} of session {stream!r} is to stand here, not {seq}"
                )
            case {"seq": int(seq), "run": str(run), "at": int(at), "kind": str(kind)}:
                body = Body(kind, cast("int", value["version"]), cast("str", value["body"]).encode())
                self.rows.append(Row(seq, run, at, decode(body)))
            case _:
                raise ValueError("a row has seq, run, at, kind, version and body")

    async def _write(self) -> None:
        rows, self.rows = self.rows, []
        if rows:
            await write_stream(self.scope.journal, self.stream, rows)
