"""Entries as general journal transactions of an IIF file, under the columns that the file declares."""

from collections.abc import Mapping, Sequence

from ...tables.text import lines_of
from ..entry import Entry, EntryLine
from .dates import like
from .writer import Addition, CannotWriteError, Target, Text, described

_KINDS = ("TRNS", "SPL", "ENDTRNS")


def write_iif(entry: Entry, mark: str, target: Target) -> Addition:
    """One TRNS row, an SPL row for each further line, and the row that ends them."""
    if new := next((line.account for line in entry.lines if line.new_account), None):
        raise CannotWriteError(
            f"accounts of an IIF file are made in the program that reads it: make {new!r} there"
        )
    text = Text.of(target.source)
    rows = [line.split("\t") for _, line in lines_of(text.text, target.source.file)]
    headers = {kind: _header(kind, rows) for kind in _KINDS}
    days = [
        row[at] for row in rows if (at := _date_at(row, headers)) is not None and len(row) > at and row[at]
    ]
    date = like(days, entry.date, "month")
    numbered = all("DOCNUM" in headers[kind] for kind in _KINDS[:2])
    lines: list[str] = []
    for number, line in enumerate(entry.lines):
        kind = "SPL" if number else "TRNS"
        fields = _fields(entry, line, date, mark, numbered=numbered)
        lines.append(_row(kind, headers[kind], fields))
    lines.append(_row("ENDTRNS", headers["ENDTRNS"], {}))
    return Addition("\n".join(lines), text.appended(lines))


def _header(kind: str, rows: Sequence[Sequence[str]]) -> list[str]:
    found = [row for row in rows if row[0].strip().upper() == f"!{kind}"]
    if not found:
        raise CannotWriteError(f"the file declares no !{kind}: export it again with its journal entries")
    return [name.strip().upper() for name in found[-1]]


def _date_at(row: Sequence[str], headers: Mapping[str, Sequence[str]]) -> int | None:
    names = headers.get(row[0].strip().upper(), ())
    return names.index("DATE") if "DATE" in names else None


def _fields(entry: Entry, line: EntryLine, date: str, mark: str, *, numbered: bool) -> dict[str, str]:
    own = f" ({line.text})" if line.text else ""
    memo = f"{described(entry)}{own}"
    return {
        "TRNSTYPE": "GENERAL JOURNAL",
        "DATE": date,
        "ACCNT": line.account,
        "AMOUNT": f"{line.amount}",
        "MEMO": memo if numbered else f"{memo} {mark}",
        "DOCNUM": mark,
    }


def _row(kind: str, header: Sequence[str], fields: Mapping[str, str]) -> str:
    return "\t".join([kind, *(fields.get(name, "") for name in header[1:])])
