"""Workbooks read as the same statement in a CSV is, and hostile ones refused."""

import datetime
import io
import zipfile
from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from offing.namespaces.bank.formats import read
from offing.namespaces.bank.statement import Statement, StatementFile
from offing.namespaces.ledger.general_ledger import read_general_ledger
from offing.namespaces.tables.source import Conventions, Source, SourceError, UndecidedError
from workbooks import Json, sheet_part, with_parts, workbook

HEADER = ["Date", "Text", "Amount", "Currency"]
DAY = datetime.date(2026, 9, 14)
SHEET = "xl/worksheets/sheet1.xml"


def read_book(data: bytes, conventions: Conventions | None = None) -> StatementFile:
    return read(Source("book.xlsx", data), conventions or Conventions())


def only(data: bytes) -> Statement:
    (statement,) = read_book(data).statements
    return statement


def amounts(data: bytes) -> list[str]:
    return [str(entry.amount) for entry in only(data).entries]


def days(data: bytes) -> list[str]:
    return [str(entry.booked) for entry in only(data).entries]


def told(data: bytes) -> list[tuple[str, int | None, str]]:
    return [(each.severity, each.row, each.what) for each in read_book(data).findings]


def with_format(value: object, code: str) -> bytes:
    def change(book: Json) -> None:
        book.worksheets[0]["C2"].number_format = code

    return workbook([HEADER, [DAY, "x", value, "EUR"]], change=change)


def with_cell(cell: str) -> bytes:
    """A sheet of one entry, whose amount is the given cell."""
    row = '<row r="1"><c r="A1" t="str"><v>Date</v></c><c r="B1" t="str"><v>Amount</v></c></row>'
    entry = f'<row r="2"><c r="A2" t="d"><v>2026-09-14</v></c>{cell}</row>'
    more = '<row r="3"><c r="A3" t="d"><v>2026-09-15</v></c><c r="B3"><v>1</v></c></row>'
    return with_parts(workbook([HEADER]), {SHEET: sheet_part(row + entry + more)})


def test_a_statement_reads_the_same_from_a_workbook_and_from_a_csv() -> None:
    rows = [["2026-09-01", "Rent", "-900.00", "1100.00"], ["2026-09-14", "Client", "250.50", "1350.50"]]
    typed = [[datetime.date.fromisoformat(d), t, float(a), float(b)] for d, t, a, b in rows]

    def change(book: Json) -> None:
        for row in book.worksheets[0]["C2:D3"]:
            for cell in row:
                cell.number_format = "#,##0.00"

    header = ["Date", "Text", "Amount (EUR)", "Balance"]
    book = workbook([["Bank of Somewhere"], ["Account: 20451255"], [], header, *typed], change=change)
    lines = [
        "Bank of Somewhere;",
        "Account: 20451255;",
        "",
        ";".join(header),
        *(";".join(row) for row in rows),
    ]
    delimited = read(Source("book.csv", "\n".join(lines).encode()), Conventions())
    (one,), (other,) = read_book(book).statements, delimited.statements
    assert [(e.booked, e.amount, e.text, e.row) for e in one.entries] == [
        (e.booked, e.amount, e.text, e.row) for e in other.entries
    ]
    assert (one.account, one.currency, one.opening, one.closing, one.gap) == (
        other.account,
        other.currency,
        other.opening,
        other.closing,
        Decimal("0.00"),
    )


def test_the_general_ledger_is_read_from_a_workbook_too() -> None:
    header = ["Date", "Account", "Journal", "Debit", "Credit", "Currency"]
    data = workbook(
        [header, [DAY, "1200 Bank", "7", 100.5, None, "EUR"], [DAY, "4000 Sales", "7", None, 100.5, "EUR"]]
    )
    done = read_general_ledger(Source("gl.xlsx", data), Conventions())
    assert [(line.account, str(line.amount), line.journal, line.row) for line in done.lines] == [
        ("1200 Bank", "100.5", "7", 2),
        ("4000 Sales", "-100.5", "7", 3),
    ]


@pytest.mark.parametrize(
    ("value", "code", "amount"),
    [
        (0.1 + 0.2, "General", "0.3"),
        (1234.5, "#,##0.00", "1234.50"),
        (-12.5, "#,##0.00;[Red]#,##0.00", "-12.50"),
        (-12.5, "#,##0.00_);(#,##0.00)", "-12.50"),
        (-12.5, '"EUR" #,##0.00', "-12.50"),
        (1.234, "General", "1.234"),
        (1234567890123, "0", "1234567890123"),
        (1e15, "General", "1000000000000000"),
        (12.345, "0.00", "12.345"),
        ("-12.50", "General", "-12.50"),
        ("'-12.50", "General", "-12.50"),
    ],
)
def test_a_number_is_what_the_file_holds_to_fifteen_digits(value: object, code: str, amount: str) -> None:
    assert amounts(with_format(value, code)) == [amount]


@given(
    st.lists(
        st.tuples(
            st.dates(datetime.date(1901, 1, 1), datetime.date(2199, 12, 31)),
            st.decimals(-(10**9), 10**9, places=2),
        ),
        min_size=1,
        max_size=10,
    )
)
def test_days_and_amounts_that_a_program_wrote_are_read_back(
    rows: list[tuple[datetime.date, Decimal]],
) -> None:
    statement = only(workbook([HEADER, *([day, "x", float(amount), "EUR"] for day, amount in rows)]))
    assert [(entry.booked, entry.amount) for entry in statement.entries] == rows


def test_decimals_that_the_format_hides_count_and_are_told() -> None:
    (what,) = (what for severity, _, what in told(with_format(12.345, "0.00")) if severity == "warning")
    assert what == "1 numbers, first C2, have more decimals than they show: all of them count"


def test_a_percentage_is_no_amount() -> None:
    with pytest.raises(SourceError, match="no row below the header could be read"):
        read_book(with_format(0.05, "0%"))


@pytest.mark.parametrize("since_1904", [False, True])
@pytest.mark.parametrize(
    "code", ["yyyy-mm-dd", "dd/mm/yy", "d. mmmm yyyy", "[$-407]dd.mm.yyyy", "m/d/yy h:mm"]
)
def test_a_day_is_the_stored_one_whatever_its_format_and_first_day(code: str, since_1904: bool) -> None:  # noqa: FBT001
    def change(book: Json) -> None:
        if since_1904:
            book.epoch = CALENDAR_MAC_1904
        book.worksheets[0]["A2"].number_format = code

    assert days(workbook([HEADER, [DAY, "x", 1.5, "EUR"]], change=change)) == ["2026-09-14"]


def test_days_as_texts_are_decided_like_those_of_a_csv() -> None:
    assert days(workbook([HEADER, ["31/12/2026", "x", 1.5, "EUR"]])) == ["2026-12-31"]
    with pytest.raises(UndecidedError, match=r"2026-04-03 with day_first=True and as 2026-03-04"):
        read_book(workbook([HEADER, ["03/04/2026", "x", 1.5, "EUR"]]))


def test_a_formula_counts_with_the_value_that_was_saved_and_is_never_evaluated() -> None:
    assert amounts(with_cell('<c r="B2"><f>1+1</f><v>7.5</v></c>')) == ["7.5", "1"]
    texts = with_parts(
        workbook([HEADER, [DAY, "x", 1.5, "EUR"]]),
        {
            SHEET: sheet_part(
                '<row r="1"><c t="str"><v>Date</v></c><c t="str"><v>Text</v></c>'
                '<c t="str"><v>Amount</v></c></row>'
                '<row r="2"><c t="d"><v>2026-09-14</v></c>'
                '<c t="str"><f>HYPERLINK("http://x","pay")</f><v>pay</v></c><c><v>1</v></c></row>'
                '<row r="3"><c t="d"><v>2026-09-14</v></c>'
                '<c t="inlineStr"><is><t>=HYPERLINK("http://x")</t></is></c><c><v>2</v></c></row>'
            )
        },
    )
    assert [entry.text for entry in only(texts).entries] == ["pay", '=HYPERLINK("http://x")']


def test_a_formula_without_a_value_is_told_with_its_cell() -> None:
    data = with_cell('<c r="B2"><f>SUM(B3:B9)</f></c>')
    assert amounts(data) == ["1"]
    errors = [(row, what) for severity, row, what in told(data) if severity == "error"]
    assert errors == [
        (2, "cell B2 holds a formula and no value: open the file, save it, give it again"),
        (2, "is left out: has no amount"),
    ]


def test_an_error_in_a_cell_is_no_amount_and_told() -> None:
    data = with_cell('<c r="B2" t="e"><v>#REF!</v></c>')
    assert amounts(data) == ["1"]
    assert [what for _, row, what in told(data) if row == 2] == [
        "cell B2 holds the error '#REF!'",
        "is left out: '#REF!' is no amount",
    ]


def test_hidden_rows_and_sheets_are_read_and_told() -> None:
    def change(book: Json) -> None:
        book.worksheets[1].row_dimensions[3].hidden = True
        book.worksheets[1].sheet_state = "hidden"

    rows = [HEADER, [DAY, "x", 1.5, "EUR"], [DAY, "y", 2.5, "EUR"]]
    data = workbook([["Notes"]], rows, names=["Cover", "Data"], change=change)
    assert amounts(data) == ["1.5", "2.5"]
    assert [what for _, _, what in told(data)] == [
        "rows 3 are hidden, and read all the same",
        "sheet 'Data' is hidden, and read all the same",
        "sheet 'Cover' has no header with a date and an amount: it is not read",
    ]


def test_each_sheet_with_entries_is_read_and_named() -> None:
    one = [HEADER, [DAY, "x", 1.5, "EUR"]]
    other = [["Datum", "Betrag"], [DAY, 2.5]]
    done = read_book(workbook(one, other, names=["Sep", "Okt"]))
    read_as = [(each.account, [(e.amount, e.text) for e in each.entries]) for each in done.statements]
    assert read_as == [
        ("book", [(Decimal("1.5"), "x [sheet Sep]")]),
        ("book", [(Decimal("2.5"), "[sheet Okt]")]),
    ]
    assert "has entries in 2 sheets, and all are read: 'Sep', 'Okt'" in [each.what for each in done.findings]


def test_merged_cells_above_the_header_do_no_harm() -> None:
    def change(book: Json) -> None:
        book.worksheets[0].merge_cells("A1:D1")

    assert amounts(workbook([["Statement"], HEADER, [DAY, "x", 1.5, "EUR"]], change=change)) == ["1.5"]


def test_macros_and_links_are_ignored_and_told() -> None:
    book = workbook([HEADER, [DAY, "x", 1.5, "EUR"]])
    data = with_parts(book, {"xl/vbaProject.bin": b"\0", "xl/externalLinks/externalLink1.xml": b"<x/>"})
    assert [what for severity, _, what in told(data) if severity == "info"] == [
        "holds macros: they are ignored",
        "refers to other workbooks: the values that were saved count",
    ]


def bomb() -> bytes:
    """A part that unpacks to a thousand times its size."""
    return with_parts(workbook([HEADER]), {"xl/worksheets/sheet1.xml": b"<a>" + b" " * 40_000_000})


def lying_bomb() -> bytes:
    """A directory that says nothing of the size of a part."""
    data = bytearray(bomb())
    size = (40_000_003).to_bytes(4, "little")
    while (at := data.find(size)) >= 0:
        data[at : at + 4] = (1000).to_bytes(4, "little")
    return bytes(data)


def encrypted() -> bytes:
    data = bytearray(workbook([HEADER]))
    at = data.find(b"PK\x01\x02")
    data[at + 8] |= 1
    return bytes(data)


DOCTYPE = b'<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d "&b;&b;&b;">]><worksheet>&d;</worksheet>'


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda: b"PK\x03\x04 no workbook", "is a damaged workbook"),
        (
            lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
            "is an old workbook",
        ),
        (bomb, "would unpack to more than"),
        (lying_bomb, "is damaged|is no XML"),
        (encrypted, "is protected with a password"),
        pytest.param(
            lambda: with_parts(workbook([HEADER]), {SHEET: DOCTYPE}), "declares a DOCTYPE", id="sheet"
        ),
        pytest.param(
            lambda: with_parts(workbook([HEADER]), {SHEET: DOCTYPE.decode().encode("utf-16")}),
            "declares a DOCTYPE",
            id="sheet in UTF-16",
        ),
        pytest.param(
            lambda: with_parts(workbook([HEADER]), {"xl/workbook.xml": DOCTYPE}),
            "declares a DOCTYPE",
            id="workbook",
        ),
        (lambda: with_parts(workbook([HEADER]), {"../../evil": b"x"}), "holds a part named '../../evil'"),
        (lambda: with_parts(workbook([HEADER]), {"/etc/passwd": b"x"}), "holds a part named '/etc/passwd'"),
        (lambda: with_parts(workbook([HEADER]), {"xl\\evil": b"x"}), "holds a part named"),
        (lambda: with_parts(workbook([HEADER]), {SHEET: None}), "has no part 'xl/worksheets/sheet1.xml'"),
        (lambda: with_parts(workbook([HEADER]), {SHEET: b"<a" * 9}), "is no XML"),
        (lambda: with_parts(workbook([HEADER]), {SHEET: b"<a>" * 99}), "nests more than 64 elements"),
        (lambda: with_parts(workbook([HEADER]), {"xl/workbook.bin": b""}), "is a binary workbook"),
        (
            lambda: with_parts(workbook([HEADER]), {SHEET: sheet_part('<row r="99999999"/>')}),
            "has a row 99999999",
        ),
        (lambda: workbook([["Notes"]]), "no header"),
        (lambda: workbook([HEADER]), "has no rows below its header"),
    ],
)
def test_what_is_no_workbook_to_read_is_refused_with_the_reason(made: Callable[[], bytes], why: str) -> None:
    data = made()
    with pytest.raises(SourceError, match=why):
        read_book(data)


def test_a_sheet_that_claims_to_be_huge_costs_what_it_holds() -> None:
    rows = (
        '<row r="1"><c r="A1" t="str"><v>Date</v></c><c r="B1" t="str"><v>Amount</v></c></row>'
        '<row r="2"><c r="A2" t="d"><v>2026-09-14</v></c><c r="B2"><v>1.5</v></c></row>'
        '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    )
    data = with_parts(workbook([HEADER]), {SHEET: sheet_part(rows, '<dimension ref="A1:XFD1048576"/>')})
    assert amounts(data) == ["1.5"]
    assert ("error", 1048576, "16384 cells are no row: left out") in told(data)


def test_a_zip_that_is_no_workbook_is_refused() -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        made.writestr("a.txt", "x")
    with pytest.raises(SourceError, match=r"has no part 'xl/workbook\.xml'"):
        read_book(target.getvalue())
