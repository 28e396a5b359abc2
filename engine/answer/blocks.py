"""Where the words that belong together begin and end: a paragraph however it is wrapped, a row, an item."""

import re
from bisect import bisect_left, bisect_right

_BREAK = re.compile(r"\n(?=[ \t]*(?:\n|[-*+|#>]|\d{1,3}[.)]\s))")
_SENTENCE = re.compile(r"[.!?](?=\s+[A-Z\[*(\u00c0-\u00dd])")
_ROW = re.compile(r"\s{0,20}[-*+|]")


class Blocks:
    """The paragraphs, rows and items of one text; looking one up does not read the text again."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._breaks = [found.start() for found in _BREAK.finditer(text)]
        self._sentences = [found.end() for found in _SENTENCE.finditer(text)]

    def start(self, at: int) -> int:
        """Where the block begins in which a place stands."""
        before = bisect_left(self._breaks, at)
        return self._breaks[before - 1] + 1 if before else 0

    def end(self, at: int) -> int:
        """Where that block ends, without its line end."""
        behind = bisect_left(self._breaks, at)
        return self._breaks[behind] if behind < len(self._breaks) else len(self._text)

    def sentence(self, at: int) -> int:
        """Where the sentence begins in which a place stands: not before its block."""
        before = bisect_right(self._sentences, at)
        return max(self.start(at), self._sentences[before - 1] if before else 0)

    def around(self, start: int, end: int) -> str:
        """The whole block, or blocks, of a passage."""
        return self._text[self.start(start) : self.end(end)]

    def is_row(self, at: int) -> bool:
        """Whether a place stands in a table row or a list item."""
        return _ROW.match(self._text, self.start(at)) is not None
