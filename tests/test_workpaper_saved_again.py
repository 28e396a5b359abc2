"""A statement that a spreadsheet program opened and saved: read where its meaning is still the same."""

import csv
import datetime
import io
from decimal import Decimal

import pytest

from offing.namespaces.matching.carried import Carried
from offing.namespaces.matching.workpaper import OpenItems, read_open_items, write_csv
from offing.namespaces.tables.source import SourceError
from test_workpaper import CHEQUE, DAY, FEE, paper, rows, source

WHOLE = (OpenItems("55120944", "1200 Bank", DAY, Carried((FEE,), (CHEQUE,))),)


def saved(
    separator: str, dates: str, *, comma: bool = False, mark: bytes = b"", line_end: str = "\n"
) -> bytes:
    """The statement as a program of some country writes it; its dates are of September and October."""
    table = rows(write_csv(paper()))
    for row in table[1:]:
        if row[6]:
            row[6] = datetime.date.fromisoformat(row[6]).strftime(dates)
        for column in (7, 8):
            # A program drops the zeros at an amount's end, as it takes it for a number.
            plain = f"{Decimal(row[column]).normalize():f}" if row[column] else ""
            row[column] = plain.replace(".", ",") if comma else plain
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=separator, lineterminator=line_end).writerows(table)
    return mark + written.getvalue().encode()


@pytest.mark.parametrize(
    "data",
    [
        saved(",", "%Y-%m-%d"),
        saved(",", "%d/%m/%Y", mark=b"\xef\xbb\xbf", line_end="\r\n"),
        saved(",", "%m/%d/%Y"),
        saved(";", "%d.%m.%Y", comma=True, mark=b"\xef\xbb\xbf", line_end="\r\n"),
        saved(";", "%d/%m/%Y", comma=True),
        saved("\t", "%d.%m.%Y", comma=True),
    ],
)
def test_its_open_items_are_those_that_were_written(data: bytes) -> None:
    assert read_open_items(source(data)) == WHOLE


def test_dates_of_both_orders_in_one_file_are_refused() -> None:
    # The period's end says that the day is first, the fee's date that the month is.
    mixed = saved(",", "%d/%m/%Y").replace(b"bank,30/09/2026,-28.5", b"bank,09/30/2026,-28.5")
    with pytest.raises(SourceError, match="Date is no date; it would be 2026-09-30"):
        read_open_items(source(mixed))


def test_a_decimal_comma_where_commas_part_the_cells_is_refused() -> None:
    with pytest.raises(SourceError, match="'-28,5': Amount is no amount"):
        read_open_items(source(saved(",", "%Y-%m-%d", comma=True)))
