"""How many tokens a text is likely to be, before a provider has counted it.

Two ways: an encoding (`encodings.py`), and a coarser one that needs nothing and takes microseconds. The
coarse one weighs the bytes of a text by kind; its weights were fitted to o200k over prose, code, JSON, XML,
CSV, identifiers and other scripts, where it is within a quarter (`docs/compaction.md`). Both are brought to a
model's own count by a factor (`gauge.py`).
"""

import string
from collections.abc import Callable, Mapping

from .conversation import Block, Media, Message, Reasoning, Text, ToolCall, ToolResult

Count = Callable[[str], int]
"""Tokens of a text."""

_WEIGHTS: tuple[tuple[bytes, float], ...] = (
    (string.ascii_lowercase.encode(), 0.25),
    (string.ascii_uppercase.encode(), 0.4),
    (string.digits.encode(), 0.75),
    (string.punctuation.encode(), 0.55),
    (b"\t\n\r", 0.5),
    (bytes(range(128, 256)), 0.3),
)
"""Tokens a byte. A blank costs nothing: it goes with the word behind it."""
_OPAQUE = 1 / 1.45
"""Tokens a byte of base64 and the like (WIRE.md, section 7), which have next to nothing but letters."""
_TELLING = string.whitespace.encode() + string.punctuation.encode() + bytes(range(128, 256))
"""Bytes of which a text that says something has more than one in twenty."""
_SHORTEST_OPAQUE = 200
"""Bytes: shorter texts have too few words to tell."""
_IMAGE = 1_600
"""Tokens of an image that is scaled to what models look at."""
_PDF_BYTES = 20
"""Bytes of a PDF that make a token, roughly: some 50 kB a page of 2,500."""
_OVERHEAD = 4
"""Tokens around a message or a block."""
_CALL_OVERHEAD = 30
"""Tokens around a call or a result: its type and its id."""


def coarse(text: str) -> int:
    """Tokens of a text by its bytes alone."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) >= _SHORTEST_OPAQUE and _of(data, _TELLING) < len(data) / 20:
        return round(_OPAQUE * len(data))
    return round(sum(weight * _of(data, kind) for kind, weight in _WEIGHTS))


def size(message: Message, count: Count = coarse) -> int:
    """Tokens of a message, without what its model thought: that is known from usage alone."""
    return _OVERHEAD + sum(block_size(block, count) for block in message.blocks)


def block_size(block: Block, count: Count = coarse) -> int:
    """Tokens of one block."""
    return _OVERHEAD + _BLOCKS[type(block)](block, count)


def _of(data: bytes, kind: bytes) -> int:
    """How many bytes are of a kind."""
    return len(data) - len(data.translate(None, kind))


def _text(block: Text, count: Count) -> int:
    return count(block.text)


def _reasoning(block: Reasoning, count: Count) -> int:
    return 0


def _media(block: Media, count: Count) -> int:
    if block.mime == "application/pdf":
        return _IMAGE + len(block.base64) * 3 // 4 // _PDF_BYTES
    return _IMAGE


def _call(block: ToolCall, count: Count) -> int:
    return _CALL_OVERHEAD + count(block.name) + count(str(block.arguments))


def _result(block: ToolResult, count: Count) -> int:
    return _CALL_OVERHEAD + count(block.content) + sum(_media(media, count) for media in block.media)


_BLOCKS: Mapping[type, Callable[..., int]] = {
    Text: _text,
    Reasoning: _reasoning,
    Media: _media,
    ToolCall: _call,
    ToolResult: _result,
}
