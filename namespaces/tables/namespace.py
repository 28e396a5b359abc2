"""A namespace over files: what systems that read exports have in common, arguments included."""

import asyncio
import datetime
import hashlib
import operator
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar

from pydantic import Field, JsonValue, SecretStr

from ..errors import NamespaceError
from ..tool import Tool
from .decision import Decision, decision_in
from .identity import Identity
from .naming import names_of
from .needed import needed_by
from .read_as import read_as_tool
from .readings import MemoryReadings, Readings
from .source import (
    Conventions,
    Finding,
    Source,
    SourceError,
    Stamp,
    UndecidedError,
    not_read,
    read_source,
    stamp_of,
)


class ReadFile(Protocol):
    """What a reader makes of one file, as far as all systems have it."""

    @property
    def file(self) -> str:
        """Its name; with its folder where two files have one name."""
        ...

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was odd about it."""
        ...


class Kept(NamedTuple):
    """That something that was said is kept."""

    file: str
    label: str
    """What it is kept for, as a person is told: `account DE1`."""


Read = TypeVar("Read", bound=ReadFile)
"""What one file holds."""
Contents = TypeVar("Contents")
"""What all files hold together."""

From = Annotated[datetime.date | None, Field(alias="from", description="First day, YYYY-MM-DD; included")]
To = Annotated[datetime.date | None, Field(description="Last day, YYYY-MM-DD; included")]
Limit = Annotated[int, Field(ge=1, le=500)]
Offset = Annotated[int, Field(ge=0)]


def next_offset(offset: int, shown: int, total: int) -> dict[str, JsonValue]:
    """Where the next page begins, as a tool says it; nothing after the last one."""
    end = offset + shown
    return {"next_offset": end} if end < total else {}


@dataclass(frozen=True, slots=True)
class _Outcome(Generic[Read]):
    """What became of one file, as long as neither it nor the way to read it changes."""

    stamp: Stamp
    conventions: Conventions
    identity: Identity | None
    read: Read | None
    error: SourceError | None
    digest: str = ""
    """Of its bytes; empty for a file that could not be had."""


class FileNamespace(ABC, Generic[Read, Contents]):
    """Reads its files when they are first asked for, and again when they change.

    A file that cannot be read is told as a finding as long as another one can. When none can, the
    namespace does not connect, with that reason, unless a person can decide how one is to be read.
    """

    name: ClassVar[str]
    guide: ClassVar[Path | None]

    def __init__(  # noqa: PLR0913  each says one thing about the files
        self,
        files: Sequence[Path],
        *,
        day_first: bool | None = None,
        decimal: Literal[".", ","] | None = None,
        currency: str | None = None,
        columns: Mapping[str, str] | None = None,
        readings: Readings | None = None,
        today: Callable[[], datetime.date] | None = None,
    ) -> None:
        """Opens nothing yet.

        Args:
            files: Files of any format that the system reads.
            day_first: Whether 03/04 is the third of April, for files that leave it open.
            decimal: The decimal mark, for files that leave it open.
            currency: ISO 4217 code, for files that name none.
            columns: The column of each role, by name or number, for tables that have such columns.
            readings: Where decisions about single files are kept; None keeps them as long as this.
            today: Gives the day that a decision is dated with; None is the day in UTC.
        """
        self._files = tuple(Path(file) for file in files)
        self._names = names_of(self._files)
        self._conventions = Conventions(day_first, decimal, currency, dict(columns or {}))
        self._readings = MemoryReadings() if readings is None else readings
        self._today = today or (lambda: datetime.datetime.now(datetime.UTC).date())
        self._lock = threading.Lock()
        self._outcomes: tuple[_Outcome[Read], ...] = ()
        self._gathered: Contents | None = None

    @asynccontextmanager
    async def connect(self, credentials: Mapping[str, SecretStr]) -> AsyncGenerator[Sequence[Tool]]:
        """Reads the files in a thread and yields the tools over them; files need no credentials.

        Raises:
            NamespaceError: no file was given, or none can be read.
        """
        await asyncio.to_thread(self.contents)
        yield (*self.tools(), read_as_tool(self))

    def contents(self) -> Contents:
        """What is in the files and what was odd; only what changed is read again. It blocks.

        Safe from several threads: one reads, the others wait for it.

        Raises:
            NamespaceError: no file was given, or none can be read.
        """
        with self._lock:
            outcomes = tuple(self._outcome(index, file) for index, file in enumerate(self._files))
            same = len(outcomes) == len(self._outcomes) and all(map(operator.is_, outcomes, self._outcomes))
            if self._gathered is None or not same:
                self._outcomes, self._gathered = outcomes, None
                self._gathered = self._gather(outcomes)
            return self._gathered

    def decide(self, file: str, decision: Decision) -> Identity:
        """Reads a file as a person decided, and keeps the decision for its account or layout.

        Args:
            file: Its name, as findings have it.
            decision: What was decided; what was kept before and is not in it stays.

        Raises:
            NamespaceError: there is no one such file, or it cannot be read like that; nothing is kept.
                A file that leaves something else open as well is no reason: `told` says what.
        """
        source = self._source(self._named(file))
        identity = self._identified(source)
        before = decision_in(self._readings.load(self.name, identity.key)) or Decision()
        whole = replace(decision.after(before), on=self._today())
        try:
            self.read(source, replace(whole.over(self._conventions), firm=decision.given))
        except UndecidedError as error:
            if error.argument in decision.given:
                raise
        self._readings.keep(self.name, identity.key, whole.to_json())
        return identity

    def forget(self, file: str) -> Identity:
        """Forgets what was decided for a file's account or layout.

        Raises:
            NamespaceError: there is no one such file, or nothing to know its account or layout by.
        """
        identity = self._identified(self._source(self._named(file)))
        self._readings.forget(self.name, identity.key)
        return identity

    def keep_said(self) -> Sequence[Kept]:
        """Keeps what was said of all files for each one that cannot be read without, or names no currency.

        So that it need not be said again of the next file of that account or layout. What a file decides
        by itself is not kept, nor what was kept before. It blocks; a file that cannot be read is left out.
        """
        if self._conventions == Conventions():
            return []
        found = [self._keep_said(file) for file in self._names]
        return [each for each in found if each is not None]

    def _keep_said(self, file: Path) -> Kept | None:
        try:
            source = self._source(file)
            identity = self.identify(source)
            if identity is None:
                return None
            before = decision_in(self._readings.load(self.name, identity.key)) or Decision()
            needed = needed_by(partial(self.read, source), self._conventions, before)
        except SourceError:
            return None
        if needed is None:
            return None
        self._readings.keep(self.name, identity.key, replace(needed, on=self._today()).to_json())
        return Kept(source.file, identity.label)

    def as_decided(self) -> Sequence[Finding]:
        """What is told of where a kept decision was used, or could not be."""
        with self._lock:
            outcomes = self._outcomes
        read = ((each.read, each.conventions.said) for each in outcomes if each.conventions.said)
        return [each for of, said in read if of is not None for each in of.findings if said in each.what]

    def told(self, file: str) -> Sequence[Finding]:
        """What is odd about one file as it is read now.

        Raises:
            NamespaceError: there is no one such file.
        """
        path = self._named(file)
        self.contents()
        with self._lock:
            outcome = self._outcomes[self._files.index(path)]
        if outcome.read is None:
            return [] if outcome.error is None else [not_read(outcome.error)]
        return outcome.read.findings

    @property
    def files(self) -> Sequence[Path]:
        """The files it was given, whether they can be read or not."""
        return self._files

    def conventions_of(self, source: Source) -> Conventions:
        """How a file with this content is read where it leaves that open."""
        return self._decided(self.identify(source))

    def name_of(self, file: Path) -> str:
        """What one of its files is called in findings and records."""
        return self._names[file]

    def _source(self, file: Path) -> Source:
        return read_source(file, self._names[file])

    def _named(self, file: str) -> Path:
        found = [path for path, name in self._names.items() if file in {name, str(path)}]
        if len(found) != 1:
            named = ", ".join(map(repr, list(self._names.values())[:50]))
            raise NamespaceError(f"there is no one file {file!r}; there are: {named}")
        return found[0]

    def _identified(self, source: Source) -> Identity:
        identity = self.identify(source)
        if identity is None:
            raise NamespaceError(f"{source.file} has no account and no layout that a decision could be for")
        return identity

    def _outcome(self, index: int, file: Path) -> _Outcome[Read]:
        """What became of a file: as it is known, unless its stamp or what was decided has changed."""
        stamp = stamp_of(file)
        known = self._outcomes[index] if index < len(self._outcomes) else None
        if known is not None and known.stamp == stamp:
            conventions = self._decided(known.identity)
            if conventions == known.conventions:
                return known
        try:
            source = self._source(file)
        except SourceError as error:
            return _Outcome(stamp, self._conventions, None, None, error)
        identity = self.identify(source)
        conventions = self._decided(identity)
        digest = hashlib.sha256(source.data).hexdigest()
        try:
            return _Outcome(stamp, conventions, identity, self.read(source, conventions), None, digest)
        except SourceError as error:
            return _Outcome(stamp, conventions, identity, None, error, digest)

    def _decided(self, identity: Identity | None) -> Conventions:
        """How a file is to be read: as decided for its account or layout, else as all are."""
        kept = None if identity is None else decision_in(self._readings.load(self.name, identity.key))
        if identity is None or kept is None:
            return self._conventions
        said = f"as decided for {identity.label} on {kept.on}"
        return replace(kept.over(self._conventions), said=said)

    def _gather(self, outcomes: Sequence[_Outcome[Read]]) -> Contents:
        if not outcomes:
            raise NamespaceError(f"{self.name} has no files; give the paths of the files it is to read")
        single, repeats = _once(outcomes)
        good = [each.read for each in single if each.read is not None]
        errors = [each.error for each in outcomes if each.error is not None]
        if not good and not any(isinstance(error, UndecidedError) for error in errors):
            raise errors[0].with_traceback(None)
        return self.gather(good, [*(not_read(error) for error in errors), *repeats])

    def identify(self, source: Source) -> Identity | None:
        """What a decision about a file is kept under; None when nothing tells it from other files."""
        return None

    @abstractmethod
    def read(self, source: Source, conventions: Conventions) -> Read:
        """What one file holds; raises SourceError when it cannot be read."""

    @abstractmethod
    def gather(self, files: Sequence[Read], failed: Sequence[Finding]) -> Contents:
        """What the files hold together. `failed` tells of those that could not be read."""

    @abstractmethod
    def tools(self) -> Sequence[Tool]:
        """The tools: each asks `contents` anew, so that it sees a file that has changed."""


class _Once(NamedTuple, Generic[Read]):
    outcomes: list[_Outcome[Read]]
    repeats: list[Finding]


def _once(outcomes: Iterable[_Outcome[Read]]) -> _Once[Read]:
    """The files without those that are an earlier one byte for byte, and what is told of them."""
    done = _Once[Read]([], [])
    first: dict[str, str] = {}
    named = ((each, each.read.file) for each in outcomes if each.read is not None)
    for outcome, file in sorted(named, key=lambda each: each[1]):
        if outcome.digest in first:
            what = f"is the same file as {first[outcome.digest]}, byte for byte: counted once"
            done.repeats.append(Finding(what, file, None, "info"))
            continue
        first[outcome.digest] = file
        done.outcomes.append(outcome)
    return done
