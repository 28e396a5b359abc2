"""A file as its tables, whether delimited or a workbook, under what a person has said of its columns."""

import re
from collections.abc import Mapping

from .header import check_roles
from .package import is_package
from .source import Conventions, Findings, Source, SourceError, UndecidedError
from .table import Table, read_table
from .words import Vocabulary
from .workbook import read_workbook

_MARKUP = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|head|body|meta|table|\?xml|workbook)\b", re.IGNORECASE
)


def open_tables(
    source: Source, vocabulary: Vocabulary, conventions: Conventions, findings: Findings
) -> tuple[Table, ...]:
    """The tables of a file: one, or each sheet of a workbook that has entries.

    Chosen columns that the file does not have are used only for files that do, unless they were said
    firmly.

    Raises:
        SourceError: it cannot be read, or a column is to play a role that there is not.
        UndecidedError: no line names a date and an amount in words that are known.
    """
    chosen = conventions.columns
    check_roles(source.file, chosen, vocabulary)
    if not chosen:
        return _read(source, vocabulary, findings, {})
    tried = Findings(source.file)
    try:
        tables = _read(source, vocabulary, tried, chosen)
    except UndecidedError as error:
        if "columns" in conventions.firm:
            raise
        return _without(source, vocabulary, conventions, findings, error)
    findings.take(tried)
    if conventions.said:
        named = ", ".join(f"{role} = {name!r}" for role, name in chosen.items())
        findings.add("info", f"read with the columns {named}, {conventions.said}")
    return tables


def _without(
    source: Source,
    vocabulary: Vocabulary,
    conventions: Conventions,
    findings: Findings,
    error: UndecidedError,
) -> tuple[Table, ...]:
    try:
        tables = _read(source, vocabulary, findings, {})
    except UndecidedError:
        raise error from None
    if conventions.said:
        what = f"has not the columns {', '.join(map(repr, conventions.columns.values()))}: read by its own"
        findings.add("warning", f"{what} header, though not {conventions.said}")
    return tables


def _read(
    source: Source, vocabulary: Vocabulary, findings: Findings, chosen: Mapping[str, str]
) -> tuple[Table, ...]:
    if is_package(source):
        return read_workbook(source, vocabulary, findings, chosen)
    if _MARKUP.match(source.data):
        what = "is a web page or XML, which some banks name .xls; open it and save it as .xlsx or CSV"
        raise SourceError(source.file, what)
    return (read_table(source, vocabulary, findings, chosen),)
