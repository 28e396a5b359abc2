"""What the head of a table's column says of the figures below it: their scale, currency or date."""

import re
from bisect import bisect_right

_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*")


class Tables:
    """The Markdown tables of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: list[int] = []
        self._heads: list[tuple[str, ...]] = []
        """Per line, the cells of the head of its table; none outside of one."""
        above, at = "", 0
        head: tuple[str, ...] = ()
        for line in text.split("\n"):
            if "|" not in line:
                head = ()
            elif _RULE.fullmatch(line):
                head = tuple(cell.strip() for cell in above.strip().strip("|").split("|"))
            self._starts.append(at)
            self._heads.append(head)
            above, at = line, at + len(line) + 1

    def head(self, at: int) -> str:
        """The head of the column in which a place stands; empty when it is in no table."""
        line = bisect_right(self._starts, at) - 1
        before = self._text[self._starts[line] : at].lstrip().removeprefix("|")
        column, cells = before.count("|"), self._heads[line]
        return cells[column] if column < len(cells) else ""
