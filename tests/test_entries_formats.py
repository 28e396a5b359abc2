"""Entries in books of other formats: each file reads back as its old lines and just the entry."""

import csv
import datetime
import io
import zipfile
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook

from entries_books import GL
from offing.namespaces.entries.drafting import Draft, draft
from offing.namespaces.entries.entry import Entry, EntryLine, mark_of
from offing.namespaces.entries.formats import WRITERS
from offing.namespaces.entries.formats.writer import CannotWriteError
from offing.namespaces.entries.shelf import Shelf
from offing.namespaces.entries.texts import fault_of, one_line
from offing.namespaces.ledger import Ledger
from offing.namespaces.tables.source import Source

MARK = mark_of("key")
SHELF = Shelf(Ledger([]))
EURO = Shelf(Ledger([], currency="EUR"))
DAY = datetime.date(2026, 9, 30)
BEANCOUNT = """option "operating_currency" "EUR"
2026-01-01 open Assets:Bank EUR
2026-01-01 open Expenses:Bank:Charges EUR

2026-09-14 * "Landlord" "Rent"
  Assets:Bank              -900.00 EUR
  Expenses:Bank:Charges
"""
HLEDGER = """account assets:bank
account expenses:charges

2026/09/14 Rent
    assets:bank        €-900,00
    expenses:charges    €900,00
"""
LEDGER = """; -*- ledger -*-
2026-09-14 Rent
  Assets:Bank        -900.00 EUR
  Expenses:Charges    900.00 EUR
"""
IIF = """!TRNS\tTRNSID\tTRNSTYPE\tDATE\tACCNT\tAMOUNT\tDOCNUM\tMEMO
!SPL\tSPLID\tTRNSTYPE\tDATE\tACCNT\tAMOUNT\tDOCNUM\tMEMO
!ENDTRNS
TRNS\t\tGENERAL JOURNAL\t9/14/2026\tBank\t-900.00\t12\tRent
SPL\t\tGENERAL JOURNAL\t9/14/2026\tRent\t900.00\t12\tRent
ENDTRNS
"""


def workbook() -> bytes:
    """The books as a program saves them: days, numbers and texts each as what they are."""
    book = Workbook()
    sheet = book.worksheets[0]
    header, *rows = csv.reader(io.StringIO(GL))
    sheet.append(header)
    for journal, day, code, name, text, reference, debit, credit, currency in rows:
        when = datetime.datetime.strptime(day, "%d/%m/%Y")  # noqa: DTZ007  a cell has no zone
        money = [float(each) if each else None for each in (debit, credit)]
        sheet.append([journal, when, int(code), name, text, reference or None, *money, currency])
    kept = io.BytesIO()
    book.save(kept)
    return kept.getvalue()


def entry(debit: str, credit: str, text: str = "Charges", amount: str = "28.50", **more: object) -> Entry:
    lines = (
        EntryLine(
            account=debit, debit=Decimal(amount), currency="EUR", evidence=("bank:txn/1", "bank:txn/2")
        ),
        EntryLine(account=credit, credit=Decimal(amount), currency="EUR"),
    )
    return Entry.model_validate({"date": DAY, "text": text, "lines": lines, "file": "books", **more})


def drafted(content: str | bytes, made: Entry, shelf: Shelf = SHELF) -> Draft:
    data = content if isinstance(content, bytes) else content.encode()
    return draft(made, MARK, Source("books", data), shelf)


@pytest.mark.parametrize(
    ("content", "made", "written"),
    [
        (
            BEANCOUNT,
            entry("Expenses:Bank:Charges", "Assets:Bank", reference="STMT 9"),
            f'\n2026-09-30 * "Charges STMT 9" ^{MARK}\n'
            "  Expenses:Bank:Charges  28.50 EUR\n"
            '    evidence: "bank:txn/1 bank:txn/2"\n'
            "  Assets:Bank  -28.50 EUR\n",
        ),
        (
            HLEDGER,
            entry("expenses:charges", "assets:bank"),
            f"\n2026/09/30 * ({MARK}) Charges\n"
            "    expenses:charges  €28,50\n"
            "    ; evidence: bank:txn/1 bank:txn/2\n"
            "    assets:bank  €-28,50\n",
        ),
        (
            LEDGER.replace("\n", "\r\n").removesuffix("\r\n"),
            entry("Expenses:Charges", "Assets:Bank"),
            f"\r\n\r\n2026-09-30 * ({MARK}) Charges\r\n"
            "    Expenses:Charges  28.50 EUR\r\n"
            "    ; evidence: bank:txn/1 bank:txn/2\r\n"
            "    Assets:Bank  -28.50 EUR",
        ),
        (
            IIF,
            entry("Rent", "Bank", reference="STMT 9"),
            f"TRNS\t\tGENERAL JOURNAL\t9/30/2026\tRent\t28.50\t{MARK}\tCharges STMT 9\n"
            f"SPL\t\tGENERAL JOURNAL\t9/30/2026\tBank\t-28.50\t{MARK}\tCharges STMT 9\n"
            "ENDTRNS\n",
        ),
    ],
)
def test_an_entry_is_appended_in_the_format_of_the_books(content: str, made: Entry, written: str) -> None:
    done = drafted(content, made, EURO)
    assert done.data.decode() == content + written
    assert done.findings == ()


def test_a_new_account_is_declared_where_accounts_are() -> None:
    new = EntryLine(account="Expenses:Fees", debit=Decimal("1.00"), currency="EUR", new_account=True)
    old = EntryLine(account="Assets:Bank", credit=Decimal("1.00"), currency="EUR")
    made = Entry(date=DAY, text="Fee", file="books", lines=(new, old))
    assert "\n2026-09-30 open Expenses:Fees EUR\n" in drafted(BEANCOUNT, made).data.decode()
    dollars = new.model_copy(update={"account": "Assets:Bank", "currency": "USD"})
    lines = (dollars, dollars.model_copy(update={"debit": None, "credit": Decimal("1.00")}))
    known = drafted(BEANCOUNT, made.model_copy(update={"lines": lines}))
    assert "2026-09-30 open" not in known.data.decode()
    assert [each for each in known.findings if "USD" in each]
    lower = made.model_copy(update={"lines": (new, old.model_copy(update={"account": "assets:bank"}))})
    assert "\naccount Expenses:Fees\n" in drafted(HLEDGER, lower).data.decode()
    with pytest.raises(CannotWriteError, match="make 'Expenses:Fees' there"):
        drafted(IIF, made, EURO)


def test_an_assertion_that_would_fail_is_told_before() -> None:
    told = drafted(
        f"{BEANCOUNT}\n2026-10-01 balance Assets:Bank -900.00 EUR\n",
        entry("Expenses:Bank:Charges", "Assets:Bank"),
    ).findings
    assert len(told) == 1
    assert "Assets:Bank" in told[0]


@pytest.mark.parametrize("text", ["Fee; Q3", "to date:2020-01-01", "see [=2020-01-01]"])
def test_a_text_with_a_meaning_in_a_journal_is_refused(text: str) -> None:
    with pytest.raises(CannotWriteError, match="has a meaning in a journal"):
        drafted(LEDGER, entry("Expenses:Charges", "Assets:Bank", text))


LETTERS = st.sampled_from(list("ab é€日'\"\\,;|=+-@()[]{}#^*!~%:1")) | st.characters()
BOOKS = [
    (BEANCOUNT, "Expenses:Bank:Charges", "Assets:Bank"),
    (HLEDGER, "expenses:charges", "assets:bank"),
    (LEDGER, "Expenses:Charges", "Assets:Bank"),
    (IIF, "Rent", "Bank"),
]


@given(st.sampled_from(BOOKS), st.text(LETTERS, max_size=30), st.decimals("0.01", "99999999.99", places=2))
def test_a_file_reads_back_as_its_old_lines_and_just_the_entry(
    books: tuple[str, str, str], text: str, amount: Decimal
) -> None:
    content, debit, credit = books
    text = one_line(text)
    if not text or fault_of(text):
        return
    source = Source("books", content.encode())
    try:
        done = drafted(source.data, entry(debit, credit, text, str(amount)), EURO)
    except CannotWriteError:  # a text that means something else in this format
        return
    assert done.data.startswith(source.data)
    old, new = EURO.read(source).lines, EURO.read(Source("books", done.data)).lines
    assert set(old) < set(new)
    added = sorted(set(new) - set(old), key=lambda each: each.row)
    assert [(each.date, each.account, each.amount, each.currency) for each in added] == [
        (DAY, debit, amount, "EUR"),
        (DAY, credit, -amount, "EUR"),
    ]
    assert all(text in one_line(each.text) for each in added)
    assert EURO.holds(MARK, Source("books", done.data))


def test_a_workbook_gets_rows_with_days_numbers_and_texts_like_those_above() -> None:
    made = entry("7000 Bank charges", "1200 Bank", reference="0042")
    lines = tuple(each.model_copy(update={"currency": "GBP"}) for each in made.lines)
    data = workbook()
    done = drafted(data, made.model_copy(update={"lines": lines}))
    old, new = (load_workbook(io.BytesIO(each)).worksheets[0] for each in (data, done.data))
    rows = [[cell.value for cell in row] for row in new.iter_rows()]
    day = datetime.datetime.combine(DAY, datetime.time())
    assert rows[:-2] == [[cell.value for cell in row] for row in old.iter_rows()]
    assert rows[-2:] == [
        [MARK, day, 7000, "Bank charges", "Charges", "0042", 28.5, None, "GBP"],
        [MARK, day, 1200, "Bank", "Charges", "0042", None, 28.5, "GBP"],
    ]
    assert new.cell(new.max_row, 2).number_format == old.cell(old.max_row, 2).number_format
    assert SHELF.holds(MARK, Source("books", done.data))
    assert not SHELF.holds(MARK, Source("books", data))


def test_a_text_is_never_a_formula_in_a_workbook_whatever_let_it_through() -> None:
    made = entry("7000 Bank charges", "1200 Bank", "=1+1")
    lines = tuple(each.model_copy(update={"currency": "GBP"}) for each in made.lines)
    done = drafted(workbook(), made.model_copy(update={"lines": lines}))
    cell = load_workbook(io.BytesIO(done.data)).worksheets[0].cell(9, 5)
    assert (cell.value, cell.data_type) == ("=1+1", "s")


def test_a_workbook_that_would_lose_something_is_refused() -> None:
    made = entry("7000 Bank charges", "1200 Bank")
    lines = tuple(each.model_copy(update={"currency": "GBP"}) for each in made.lines)
    british = made.model_copy(update={"lines": lines})
    with_chart = io.BytesIO(workbook())
    with zipfile.ZipFile(with_chart, "a") as package:
        package.writestr("xl/charts/chart1.xml", "<chart/>")
    with pytest.raises(CannotWriteError, match=r"part 'xl/charts/chart1.xml' would be lost"):
        drafted(with_chart.getvalue(), british)


def test_each_format_that_can_be_posted_to_has_a_writer() -> None:
    assert set(WRITERS) == {"csv", "xlsx", "beancount", "hledger", "ledger", "iif"}
