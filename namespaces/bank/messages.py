"""A file of SWIFT messages as messages, and each of those as tags with their lines."""

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..tables.source import Findings, quote
from ..tables.text import Line
from .statement import Often

_CONTROL = dict.fromkeys([*range(9), *range(10, 32), 0x7F, 0xFEFF])
_HEAD = re.compile(r"\{[1-5]:")
_ENVELOPE = re.compile(r"\{[0-9A-Z]:.*|-?\}.*")
_HEADER = re.compile(r"[A-Z0-9 ]{3,20}|:940:")
_TAG = re.compile(
    r":(20|21|25P?|28C?|60[FM]|61|62[FM]|64|65|86|13D?|34F|90[CD]|NS):(.*)",
)
_BEGINS = (":20:", ":940:", "{")


@dataclass(slots=True)
class Field:
    """One tag with its lines."""

    tag: str
    row: int
    lines: list[str]


@dataclass(slots=True)
class Messages:
    """Splits lines into messages, and messages into tags."""

    findings: Findings
    often: Often
    messages: deque[list[Field]] = field(default_factory=deque[list[Field]])
    _inside: bool = False
    _closed: bool = False
    """True once the message has its closing balance."""

    def split(self, lines: Iterable[Line]) -> deque[list[Field]]:
        """The messages; what belongs to none is told."""
        bare = (Line(line.number, line.text.translate(_CONTROL)) for line in lines)
        kept = (line for line in bare if line.text.strip())
        last: Line | None = None
        for line in kept:
            if last is not None:
                self._take(last, line.text)
            last = line
        if last is not None:
            self._take(last, "")
            if _HEAD.match(last.text):
                self.findings.add("error", "ends in the head of a message: it is cut off", last.number)
        return self.messages

    def _take(self, line: Line, following: str) -> None:
        text = line.text
        if _HEAD.match(text):
            self._inside = False
            _, block, content = text.rpartition("{4:")
            text = content if block else text
        found = _TAG.match(text)
        if self._ends(text, following):
            self._inside = False
        elif found:
            self._open(Field(found[1], line.number, [found[2]]))
        elif self._inside:
            self.messages[-1][-1].lines.append(text)
        elif text.strip() and not _ENVELOPE.fullmatch(text.strip()):
            what = f"{quote(text)} is left out: it belongs to no tag"
            if _HEADER.fullmatch(text.strip()):
                self.often.add("info", what, line.number)
            else:
                self.findings.add("warning", what, line.number)

    def _ends(self, text: str, following: str) -> bool:
        """A lone hyphen may also be a broken line of a text: then no message begins after it."""
        if text.startswith("-}"):
            return True
        in_text = self._inside and self.messages[-1][-1].tag in {"61", "86"}
        return text.strip() == "-" and (not in_text or not following or following.startswith(_BEGINS))

    def _open(self, tagged: Field) -> None:
        again = self._closed and tagged.tag in {"25", "25P", "60F", "60M", "61"}
        if not self._inside or tagged.tag == "20" or again:
            self.messages.append([])
            self._closed = False
        self.messages[-1].append(tagged)
        self._closed = self._closed or tagged.tag.startswith("62")
        self._inside = True
