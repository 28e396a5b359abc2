"""Workbooks for tests: made with openpyxl, or by hand where openpyxl makes no such thing."""

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import openpyxl

Json = Any


def workbook(
    *sheets: Sequence[Sequence[object]],
    names: Sequence[str] = (),
    change: Callable[[Json], None] | None = None,
) -> bytes:
    """A workbook with these rows in its sheets; `change` gets it before it is saved."""
    book: Json = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets):
        sheet = book.create_sheet(names[number] if names else None)
        for row in rows:
            sheet.append(list(row))
    if change is not None:
        change(book)
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def with_parts(data: bytes, parts: Mapping[str, bytes | None]) -> bytes:
    """The same package with parts put in or replaced; None leaves one out."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name not in parts:
                new.writestr(name, old.read(name))
        for name, body in parts.items():
            if body is not None:
                new.writestr(name, body)
    return target.getvalue()


def sheet_part(rows: str, before: str = "") -> bytes:
    """The part of a sheet, its rows as XML."""
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return f'<worksheet xmlns="{space}">{before}<sheetData>{rows}</sheetData></worksheet>'.encode()
