"""OFX as a stream of tags, for files that are XML, SGML or neither quite.

Nothing is ever fetched or expanded: declarations are skipped, and of entities only those that stand
for one character are known. They are replaced once, so `&amp;lt;` is the text `&lt;`.
"""

import html
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"<!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)"
    r"|<!--.*?(?:-->|\Z)"
    r"|<[!?][^<>]*>"
    r"|<(?P<end>/?)(?P<tag>[A-Za-z][A-Za-z0-9._]{0,31})\s*(?P<empty>/?)>",
    re.DOTALL,
)
_MAX_VALUE = 4000
"""Characters kept of one value; no field of OFX is longer."""
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8});")


class Tag(NamedTuple):
    """One tag with what follows it up to the next."""

    name: str
    """In capitals."""
    opens: bool
    """False for a closing tag."""
    value: str
    """The text after an opening tag, blanks joined; empty for an aggregate."""
    row: int
    """Line of the tag, counted from 1."""


def tags(text: str) -> Iterator[Tag]:
    """All tags of a file, in order. It does not check that they nest or close."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    row, counted = 1, 0
    open_tag: Tag | None = None
    parts: list[str] = []
    last = 0
    for found in _TOKEN.finditer(text):
        parts.append(_unescape(text[last : found.start()]))
        last = found.end()
        if found["cdata"] is not None:
            parts.append(found["cdata"])
        if found["tag"] is None:
            continue
        if open_tag is not None:
            yield _filled(open_tag, parts)
        row += text.count("\n", counted, found.start())
        counted = found.start()
        parts = []
        open_tag = Tag(sys.intern(found["tag"].upper()), not found["end"], "", row)
    if open_tag is not None:
        yield _filled(open_tag, [*parts, _unescape(text[last:])])


def _filled(tag: Tag, parts: list[str]) -> Tag:
    if not tag.opens:
        return tag
    return tag._replace(value=" ".join("".join(parts).split())[:_MAX_VALUE])


def _unescape(text: str) -> str:
    return _ENTITY.sub(lambda found: html.unescape(found[0]), text) if "&" in text else text
