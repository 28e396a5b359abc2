"""A namespace over files: what systems that read exports have in common, arguments included."""

import asyncio
import datetime
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, ClassVar, Generic, Literal, TypeVar

from pydantic import Field, SecretStr

from ..tool import Tool
from .source import Conventions, Finding, Source, read_sources

Read = TypeVar("Read")
"""What one file holds."""
Contents = TypeVar("Contents")
"""What all files hold together."""

From = Annotated[datetime.date | None, Field(alias="from", description="First day, YYYY-MM-DD; included")]
To = Annotated[datetime.date | None, Field(description="Last day, YYYY-MM-DD; included")]
Limit = Annotated[int, Field(ge=1, le=500)]
Offset = Annotated[int, Field(ge=0)]


class FileNamespace(ABC, Generic[Read, Contents]):
    """Reads its files anew for each session.

    A file that cannot be read is told as a finding as long as another one can; when none can, the
    namespace does not connect, with that reason.
    """

    name: ClassVar[str]
    guide: ClassVar[Path | None]

    def __init__(
        self,
        files: Sequence[Path],
        *,
        day_first: bool | None = None,
        decimal: Literal[".", ","] | None = None,
        currency: str | None = None,
    ) -> None:
        """Opens nothing yet.

        Args:
            files: Files of any format that the system reads.
            day_first: Whether 03/04 is the third of April, for files that leave it open.
            decimal: The decimal mark, for files that leave it open.
            currency: ISO 4217 code, for files that name none.
        """
        self._files = tuple(Path(file) for file in files)
        self._conventions = Conventions(day_first, decimal, currency)

    @asynccontextmanager
    async def connect(self, credentials: Mapping[str, SecretStr]) -> AsyncGenerator[Sequence[Tool]]:
        """Reads the files in a thread and yields the tools over them; files need no credentials.

        Raises:
            NamespaceError: no file was given, or none can be read.
        """
        yield self.tools(await asyncio.to_thread(self.contents))

    def contents(self) -> Contents:
        """Reads the files: what is in them and what was odd. It blocks.

        Raises:
            NamespaceError: no file was given, or none can be read.
        """
        read_all = read_sources(self._files, self._read, self.name)
        return self.gather(read_all.good, read_all.findings)

    def _read(self, source: Source) -> Read:
        return self.read(source, self._conventions)

    @abstractmethod
    def read(self, source: Source, conventions: Conventions) -> Read:
        """What one file holds; raises SourceError when it cannot be read."""

    @abstractmethod
    def gather(self, files: Sequence[Read], failed: Sequence[Finding]) -> Contents:
        """What the files hold together. `failed` tells of those that could not be read."""

    @abstractmethod
    def tools(self, contents: Contents) -> Sequence[Tool]:
        """The tools over what was read."""
