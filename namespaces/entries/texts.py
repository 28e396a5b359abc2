"""Which texts may stand in the books.

A text is refused, never changed: what is approved is what is written. Spreadsheets take a cell that
begins with = + - or @ for a formula, whether a CSV file quotes it or not, and split cells at marks
that the file does not use as its delimiter; so neither the text nor a part of it may begin so.
"""

import re
import unicodedata

_FORMULA = re.compile(r"""(?:^|[,;|])[\s"']*[=+@-]""")
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that show a text in another order than it is written."""


def one_line(text: str) -> str:
    """The text with each run of blanks and line ends made one space."""
    return " ".join(text.split())


def fault_of(text: str) -> str | None:
    """Why a text may not stand in the books; None when it may."""
    if _FORMULA.search(text):
        return "a spreadsheet would take it for a formula: let no part of it begin with = + - or @"
    bad = next((each for each in text if each in _TURNS or unicodedata.category(each) in {"Cc", "Cs"}), None)
    if bad is not None:
        return f"it holds the character U+{ord(bad):04X}, which no person sees: leave it out"
    return None
