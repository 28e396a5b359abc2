"""What a decision about a file is kept under: the account that it names, else how it is laid out.

Never its name: next month's file has another, and any bank's may be called `export.csv`.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .header import Candidate, Columns, find_header, shape_of
from .package import is_package
from .source import Findings, Source, SourceError
from .table import Row, candidates_in, without_declaration
from .text import MAX_LINE, decode, lines_of
from .words import Vocabulary
from .workbook import candidates_of, open_workbook, rows_of

_HEAD = 65_536
"""Bytes looked at."""
_ROWS = 100
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_GROUPS = re.compile(r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,40}\b", re.ASCII)
"""Where an IBAN may begin among other words, in groups or not."""
_NUMBERED = re.compile(r"(?:account|konto|compte|rekening|cuenta)[^:]{0,20}:\s*([0-9][0-9 -]{4,30})", re.I)
_LEAST_DIGITS = 8
"""The shortest IBANs have more."""
_MAX_LABEL = 120


class Identity(NamedTuple):
    """What files have in common that are read the same way."""

    key: str
    """The same for each of them, and for no others."""
    label: str
    """As a person is told: `account DE1`."""


def account_above(rows: Iterable[Row]) -> str | None:
    """The account that is named above a header: an IBAN, else what stands behind such a word."""
    cells = [cell for row in rows for cell in row.cells]
    whole = [re.sub(r"\s", "", cell) for cell in cells]
    ibans = (iban for cell, bare in zip(cells, whole, strict=True) if (iban := _iban_in(cell, bare)))
    numbers = (found[1].strip() for cell in cells if (found := _NUMBERED.search(cell)))
    return next(ibans, None) or next(numbers, None)


def _iban_in(cell: str, bare: str) -> str | None:
    """The IBAN that a cell names, by its check digits; without them only one that is all of the cell."""
    for found in _GROUPS.finditer(cell):
        groups = found[0].split(" ")
        joined = ("".join(groups[:count]) for count in range(len(groups), 0, -1))
        if right := next((each for each in joined if _IBAN.fullmatch(each) and _is_right(each)), None):
            return right
    return bare if _IBAN.fullmatch(bare) else None


def _is_right(iban: str) -> bool:
    """Its check digits by ISO 7064: letters count as 10 to 35. One of 97 texts has them by chance."""
    if sum(map(str.isdigit, iban)) < _LEAST_DIGITS:
        return False
    return int("".join(str(int(each, 36)) for each in iban[4:] + iban[:4])) % 97 == 1


def of_account(account: str) -> Identity:
    """The identity of all files of an account."""
    name = " ".join(account.split())
    return Identity(f"account:{name}", f"account {name}")


def of_layout(kind: str, parts: Sequence[str]) -> Identity:
    """The identity of all files that are laid out alike."""
    digest = hashlib.sha256("\x1f".join([kind, *parts]).encode(errors="replace")).hexdigest()
    shown = ", ".join(part for part in parts if part.strip())
    more = "..." if len(shown) > _MAX_LABEL else ""
    return Identity(f"layout:{digest[:32]}", f"{kind} files with {shown[:_MAX_LABEL]}{more}")


def identify_table(source: Source, vocabulary: Vocabulary) -> Identity | None:
    """The identity of a delimited file or a workbook, by its beginning; None when it is neither."""
    try:
        candidates = _of_workbook(source, vocabulary) if is_package(source) else _of_text(source)
    except SourceError:
        return None
    found = find_header(candidates, vocabulary, {})
    if found is None:
        shape = shape_of(candidates)
        return of_layout("table", shape) if shape else None
    below = [each for each in candidates if each.row > found.row and each.delimiter == found.delimiter]
    above = [Row(each.row, each.cells) for each in candidates if each.row < found.row]
    account = account_above(above) or _account_of(below, found.columns)
    return of_account(account) if account else of_layout("table", found.columns.names)


def _account_of(below: Sequence[Candidate], columns: Columns) -> str | None:
    """The account that all rows name, if it is one."""
    named = {columns.cell(each.cells, "account") for each in below} - {""}
    return named.pop() if len(named) == 1 and "account" in columns.roles else None


def _of_text(source: Source) -> list[Candidate]:
    head = source.data[:_HEAD]
    text = decode(Source(source.file, head), Findings(source.file))
    whole = text[: MAX_LINE - 1] if len(head) == len(source.data) else text[: text.rfind("\n") + 1] or text
    return candidates_in(without_declaration(lines_of(whole, source.file)))


def _of_workbook(source: Source, vocabulary: Vocabulary) -> list[Candidate]:
    workbook = open_workbook(source)
    first: list[Candidate] = []
    for sheet in workbook.sheets:
        rows: list[Row] = []
        for row in rows_of(workbook, sheet, Findings(source.file)):
            rows.append(row)
            if len(rows) >= _ROWS:
                break
        candidates = candidates_of(rows)
        if find_header(candidates, vocabulary, {}) is not None:
            return candidates
        first = max(first, candidates, key=len)
    return first
