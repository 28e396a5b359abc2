"""Entries in CSV files: written as the other rows are, not a byte before them touched, nothing made live."""

import csv
import datetime
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offing.namespaces.entries.currencies import in_units
from offing.namespaces.entries.drafting import draft
from offing.namespaces.entries.entry import Entry, EntryLine, mark_of
from offing.namespaces.entries.formats.writer import CannotWriteError
from offing.namespaces.entries.shelf import Shelf
from offing.namespaces.entries.texts import fault_of, one_line
from offing.namespaces.ledger import Ledger
from offing.namespaces.tables.source import Source

MARK = mark_of("key")
SHELF = Shelf(Ledger([]))
DAY = datetime.date(2026, 9, 5)


def charge(
    debit: str, credit: str, currency: str | None = "EUR", *, amount: str = "1234.50", text: str = "Fee"
) -> Entry:
    lines = (
        EntryLine(account=debit, debit=Decimal(amount), currency=currency),
        EntryLine(account=credit, credit=Decimal(amount), currency=currency),
    )
    return Entry(date=DAY, text=text, reference="R 1", file="gl.csv", lines=lines)


def added(content: str | bytes, entry: Entry) -> bytes:
    """What is appended to a file with that content."""
    data = content if isinstance(content, bytes) else content.encode()
    whole = draft(entry, MARK, Source("gl.csv", data), SHELF).data
    assert whole.startswith(data)
    return whole[len(data) :]


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (
            "Belegnummer;Belegdatum;Konto;Buchungstext;Soll;Haben;Währung\r\n"
            "1;14.09.2026;1200 Bank;Miete;1.900,00;;EUR\r\n1;14.09.2026;4210 Miete;Miete;;1.900,00;EUR\r\n",
            f"{MARK};05.09.2026;4210 Miete;Fee R 1;1.234,50;;EUR\r\n"
            f"{MARK};05.09.2026;1200 Bank;Fee R 1;;1.234,50;EUR\r\n",
        ),
        (
            "Journal,Date,Account,Memo,Reference,Amount,Currency\n"
            '"1",9/14/2026,"1200 Bank","Rent","","900.00",EUR\n'
            '"1",9/4/2026,"4210 Miete","Rent","","(900.00)",EUR',
            f'\n"{MARK}",9/5/2026,"4210 Miete","Fee","R 1","1234.50",EUR'
            f'\n"{MARK}",9/5/2026,"1200 Bank","Fee","R 1","(1234.50)",EUR',
        ),
        (
            "EcritureNum\tEcritureDate\tCompteNum\tCompteLib\tEcritureLib\tPieceRef\tDebit\tCredit\n"
            "1\t20260914\t1200\tBank\tLoyer\tF1\t900,00\t0,00\n1\t20260914\t4210\tMiete\tLoyer\tF1\t0,00\t900,00\n",
            f"{MARK}\t20260905\t4210\tMiete\tFee\tR 1\t1234,50\t0,00\n"
            f"{MARK}\t20260905\t1200\tBank\tFee\tR 1\t0,00\t1234,50\n",
        ),
        (
            "Date,Account,Text,Amount,Dr/Cr,Note\n14-Sep-26,1200 Bank,Rent,€900.00,DR,x\n"
            "14-Sep-26,4210 Miete,Rent,€900.00,CR,x\n",
            f"05-Sep-26,4210 Miete,Fee R 1 {MARK},€1234.50,DR,\n"
            f"05-Sep-26,1200 Bank,Fee R 1 {MARK},€1234.50,CR,\n",
        ),
        (
            "Date,Account,Text,Debit,Credit\n"
            "14/9/2026,1200 Bank,Rent,-900.00,\n14/9/2026,4210 Miete,Rent,,900.00\n",
            f"5/9/2026,4210 Miete,Fee R 1 {MARK},-1234.50,\n5/9/2026,1200 Bank,Fee R 1 {MARK},,1234.50\n",
        ),
        (
            "Date,Account,Text,Amount,\n"
            "2026-09-14,1200 Bank,Rent,900 CR,\n2026-09-14,4210 Miete,Rent,900 DR,\n",
            f"2026-09-05,4210 Miete,Fee R 1 {MARK},1234.50 DR,\n"
            f"2026-09-05,1200 Bank,Fee R 1 {MARK},1234.50 CR,\n",
        ),
    ],
)
def test_rows_are_written_as_the_others_of_the_file(content: str, rows: str) -> None:
    header, *_ = content.splitlines()
    currency = "EUR" if "€" in content or "Currency" in header or "Währung" in header else None
    assert added(content, charge("4210 Miete", "1200 Bank", currency)).decode() == rows


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_the_encoding_of_the_file_is_kept(encoding: str) -> None:
    rows = "1;14.09.2026;Bank für x;Gebühr;2,50\n1;14.09.2026;Kosten;Gebühr;-2,50\n"
    content = f"Journal;Date;Account;Text;Amount\n{rows}"
    data = content.encode(encoding)
    appended = added(data, charge("Kosten", "Bank für x", None, amount="2.50", text="Übertrag"))
    assert (data + appended).decode(encoding).endswith(f"{MARK};05.09.2026;Bank für x;Übertrag R 1;-2,50\n")


def test_a_character_that_the_encoding_of_the_file_has_not_is_refused() -> None:
    data = "Journal;Date;Account;Text;Amount\n1;14.09.2026;Bänk;x;2,50\n1;14.09.2026;K;x;-2,50\n".encode(
        "cp1252"
    )
    with pytest.raises(CannotWriteError, match="the file is in cp1252, which has no '日'"):
        added(data, charge("K", "Bänk", None, text="日本"))


def test_a_text_that_would_read_back_otherwise_is_refused() -> None:
    content = "Journal,Date,Account,Text,Amount\n1,2026-09-14,B,x,2.50\n1,2026-09-14,K,x,-2.50\n"
    with pytest.raises(CannotWriteError, match="would read back as"):
        added(content, charge("K", "B", None, text='"Fee'))


FILES = [
    "Journal,Date,Account,Text,Reference,Debit,Credit,Currency\n"
    "1,2026-09-14,B,x,,2.50,,EUR\n1,2026-09-14,K,x,,,2.50,EUR\n",
    "Journal;Date;Account;Text;Amount;Currency\r\n1;14.09.2026;B;x;2,50;EUR\r\n1;14.09.2026;K;x;-2,50;EUR",
    '"Date"\t"Account"\t"Text"\t"Amount"\t"Dr/Cr"\t"Currency"\n'
    '"2026-09-14"\t"B"\t"x"\t"2.50"\t"D"\t"EUR"\n"2026-09-14"\t"K"\t"x"\t"2.50"\t"C"\t"EUR"\n',
]
TEXTS = st.text(
    st.sampled_from(list("ab é€日'\"\\,;|\t=+-@()#:1\n")) | st.characters(), min_size=1, max_size=30
)
AMOUNTS = st.decimals("0.01", "99999999.99", places=2)
NUMBER = re.compile(r"-?[\d.,]+")


@given(
    st.sampled_from(FILES),
    TEXTS,
    TEXTS,
    AMOUNTS,
    st.dates(datetime.date(1950, 1, 1), datetime.date(2100, 1, 1)),
)
def test_a_file_reads_back_as_its_old_lines_and_just_the_entry(
    content: str, text: str, reference: str, amount: Decimal, day: datetime.date
) -> None:
    text, reference = one_line(text), one_line(reference)
    if not text or fault_of(text) or fault_of(reference):
        return
    lines = (
        EntryLine(account="K", debit=in_units(amount, "EUR"), currency="EUR"),
        EntryLine(account="B", credit=in_units(amount, "EUR"), currency="EUR"),
    )
    entry = Entry(date=day, text=text, reference=reference, file="gl.csv", lines=lines)
    source = Source("gl.csv", content.encode())
    try:
        done = draft(entry, MARK, source, SHELF)
    except CannotWriteError:  # a quote at an end of the text, which the reader takes away
        return
    old, new = SHELF.read(source).lines, SHELF.read(Source("gl.csv", done.data)).lines
    assert done.data.startswith(source.data)
    assert new[: len(old)] == old
    read = [(each.date, each.account, each.amount, each.currency) for each in new[len(old) :]]
    assert read == [(day, "K", amount, "EUR"), (day, "B", -amount, "EUR")]
    assert all(text in one_line(each.text) for each in new[len(old) :])
    for delimiter in ",;\t|":
        for row in csv.reader(done.data[len(source.data) :].decode().splitlines(), delimiter=delimiter):
            live = [cell for cell in row if cell.strip("\"' ")[:1] in tuple("=+-@")]
            assert all(NUMBER.fullmatch(cell) for cell in live), row
