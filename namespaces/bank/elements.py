"""XML as a stream of finished elements, by their local names.

Nothing is ever declared, fetched or expanded: a file with a DOCTYPE is refused, and so is one that
nests too deep or holds too much in one place. A damaged file is read up to its fault.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.parsers import expat

from ..tables.source import SourceError

_MAX_DEPTH = 64
"""No message nests a third as deep, and no books half as deep."""
_MAX_LIVE = 500_000
"""Elements held at once, those that were taken not counted."""
_MAX_VALUE = 4000
"""Characters kept of one text; no field of the messages read here is longer."""
_CHUNK = 1 << 20


@dataclass(slots=True)
class Element:
    """One element with what was kept of its contents."""

    name: str
    """Without its namespace."""
    row: int
    """Line of its opening tag, counted from 1."""
    currency: str = ""
    """Its attribute Ccy; empty when there is none."""
    text: str = ""
    """The text directly in it, blanks joined."""
    children: list["Element"] = field(default_factory=list["Element"])

    def all(self, *path: str) -> Iterator["Element"]:
        """The elements at that path below this one, in order."""
        if not path:
            yield self
            return
        for child in self.children:
            if child.name == path[0]:
                yield from child.all(*path[1:])

    def value(self, *path: str) -> str:
        """The first text at that path; empty when there is none."""
        return next((found.text for found in self.all(*path) if found.text), "")


class Broken(NamedTuple):
    """Where a file stops being XML."""

    row: int
    why: str
    unclosed: list[Element]
    """The elements that were open there, outermost first."""


Take = Callable[[Element, "Element | None"], bool]
"""Gets each finished element and the one around it; True when nothing of it need be kept."""


def read_elements(text: str, file: str, take: Take) -> Broken | None:
    """Hands over all elements of a file as they end; None when all of it is XML.

    Raises:
        SourceError: it has a DOCTYPE, nests too deep, or holds too many elements in one.
    """
    body = text.lstrip("\ufeff \t\r\n")
    stream = _Stream(file, take, text.count("\n", 0, len(text) - len(body)))
    try:
        for start in range(0, len(body), _CHUNK):
            stream.parser.Parse(body[start : start + _CHUNK], False)  # noqa: FBT003  expat has no keywords
        stream.parser.Parse("", True)  # noqa: FBT003
    except expat.ExpatError as error:
        return Broken(error.lineno + stream.above, expat.ErrorString(error.code), stream.stack)
    return None


class _Stream:
    def __init__(self, file: str, take: Take, above: int) -> None:
        self.file, self.take = file, take
        self.above = above
        """Lines before the first tag."""
        self.stack: list[Element] = []
        self._held: list[int] = []
        """For each open element, how many were held when it began."""
        self._live = 0
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text

    @property
    def _row(self) -> int:
        return self.parser.CurrentLineNumber + self.above

    def _refuse(self, *_: object) -> None:
        what = "declares a DOCTYPE, which no such file has: entities are never expanded; remove it"
        raise SourceError(self.file, what, row=self._row)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self.stack) >= _MAX_DEPTH:
            what = f"nests more than {_MAX_DEPTH} elements, which no such file does"
            raise SourceError(self.file, what, row=self._row)
        if self._live >= _MAX_LIVE:
            what = f"holds more than {_MAX_LIVE} elements outside of entries; split it into several files"
            raise SourceError(self.file, what, row=self._row)
        self._held.append(self._live)
        self._live += 1
        currency = attributes.get("Ccy", "").strip().upper()
        self.stack.append(Element(name.rpartition(":")[2], self._row, currency))

    def _text(self, data: str) -> None:
        top = self.stack[-1]
        if len(top.text) < _MAX_VALUE:
            top.text += data[:_MAX_VALUE]

    def _end(self, _: str) -> None:
        ended, held = self.stack.pop(), self._held.pop()
        ended.text = " ".join(ended.text.split())[:_MAX_VALUE]
        around = self.stack[-1] if self.stack else None
        if self.take(ended, around):
            self._live = held
        elif around is not None:
            around.children.append(ended)
