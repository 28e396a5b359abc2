"""Which reader a file of the books gets, and that no file, damaged or hostile, does more than be refused."""

import datetime
import gzip
import io
import sqlite3
import time
from decimal import Decimal
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offing.namespaces.ledger.accounts import gather
from offing.namespaces.ledger.books import BookFile, Format, LedgerFile, Symbol
from offing.namespaces.ledger.formats import format_of, identify, read
from offing.namespaces.ledger.gzipped import unpack
from offing.namespaces.tables.source import Conventions, Source, SourceError
from test_ledger_gnucash import SPLITS, book, database, transaction

TEXTS: dict[Format, str] = {
    "csv": "Journal,Date,Account,Amount\n7,2026-09-14,Bank,25.50\n7,2026-09-14,Sales,-25.50\n",
    "beancount": (
        '2026-01-01 open Assets:Bank\n2026-01-02 pad Assets:Bank Equity:Open\n2026-09-14 * "Shop" "x" #t\n'
        "  Assets:Bank  3 AAPL {1.50 USD} @@ 5.00 USD\n  Equity:Open\n2026-09-15 balance Assets:Bank 2 USD\n"
    ),
    "hledger": (
        "commodity $1,000.00\nD 1,000.00 EUR\nY2026\naccount a:b  ; type:A\n9/14=9/15 * (7) Shop | x ; k: v\n"
        '  a:b  $-1,234.50 @ 2.00 "G A" = $5.00\n  (v)  5.00 EUR\n  [c]  1 {2.00 EUR} [2026-01-01]\n  d\n'
    ),
    "ledger": (
        "apply tag x: y\n= /^inc/\n  (tithe)  0.10\n~ Monthly\n  a  $5.00\n2026/09/14 Shop\n  inc  $-5.00\n"
        "  a\nend tag\nalias q=r\ninclude x.dat\nP 2026/09/14 AAPL $5.00\n"
    ),
    "iif": (
        "!TRNS\tDATE\tACCNT\tAMOUNT\tMEMO\n!SPL\tDATE\tACCNT\tAMOUNT\tMEMO\n!ENDTRNS\n"
        'TRNS\t09/14/2026\tBank\t25.50\t"a ""b"""\nSPL\t09/14/2026\tSales\t-25.50\tx\nENDTRNS\n'
    ),
    "gnucash": book(transaction("0123456789", SPLITS)),
}


def sql() -> bytes:
    with sqlite3.connect(":memory:") as made:
        made.execute("PRAGMA page_size = 512")
        made.execute("CREATE TABLE l(date, account, amount, journal)")
        made.execute(
            "INSERT INTO l VALUES ('2026-09-14', 'Bank', 25.5, 7), ('2026-09-14', 'Sales', -25.5, 7)"
        )
        made.commit()
        data = made.serialize()
    made.close()
    return data


SMALL: dict[str, bytes] = {
    **{name: text.encode() for name, text in TEXTS.items()},
    "gzip": gzip.compress(TEXTS["gnucash"].encode()),
    "sql": sql(),
}


def read_bytes(data: bytes) -> LedgerFile:
    return read(Source("books", data), Conventions(day_first=False))


@pytest.mark.parametrize("written", TEXTS)
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_format_is_known_by_its_content(written: Format, ends: str, encoding: str) -> None:
    source = Source("books", TEXTS[written].replace("\n", ends).encode(encoding))
    assert format_of(source) == written
    done = read(source, Conventions(day_first=False))
    assert (done.format, len(done.lines)) == (written, len(read_bytes(SMALL[written]).lines))


@pytest.mark.parametrize(
    "text",
    [
        "account name;date;amount\nBank;2026-09-14;1.50\n",
        "date;account;amount\n2026-09-14 ;Bank;1.50\n",
        'date,account,amount,text\n2026-09-14,Bank,1.50,"a\n  b"\n',
        "year 2026\nP 1\ndate,account,amount\n2026-09-14,Bank,1.50\n",
        "=,date,account,amount\n=,2026-09-14,Bank,1.50\n",
    ],
)
def test_a_table_is_no_journal(text: str) -> None:
    assert format_of(Source("books", text.encode())) == "csv"


def test_a_decision_is_kept_by_layout_or_format() -> None:
    keys = [found and found.key for found in (identify(Source("x", data)) for data in SMALL.values())]
    assert len(set(keys)) == len(SMALL)
    assert None not in keys


def test_what_is_compressed_is_read_as_what_it_is() -> None:
    plain = read_bytes(SMALL["beancount"])
    assert read_bytes(gzip.compress(SMALL["beancount"])) == plain


def test_each_file_is_told_with_its_format_and_currency() -> None:
    files = [
        read(Source(name, SMALL[name]), Conventions(day_first=False))
        for name in ("iif", "hledger", "gnucash")
    ]
    assert gather(files).files == (
        BookFile("gnucash", "gnucash", None),
        BookFile(
            "hledger",
            "hledger",
            None,
            (
                Symbol("$", "$", first=True, decimal="."),
                Symbol("G A", "G A", first=False, decimal="."),
                Symbol("EUR", "EUR", first=False, decimal="."),
            ),
        ),
        BookFile("iif", "iif", None),
    )


def test_a_small_file_that_unpacks_to_far_too_much_is_refused() -> None:
    bomb = Source("a.gnucash", gzip.compress(b"\0" * 5_000_000))
    assert len(bomb.data) < 10_000
    with pytest.raises(SourceError, match="unpacks to more than 1000000 bytes"):
        unpack(bomb, 1_000_000)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"\x1f\x8b\x08junk", "nothing of it can be unpacked"),
        (b"SQLite format 3\0junk", "is no database that can be read|the database says"),
        (b'2026-09-14 * "x"\n  A:B  1 EUR\0', "NUL bytes"),
        (b"", "no header"),
        (b"<gnc-v2" + b" " * 300_000, "holds no accounts"),
    ],
)
def test_what_is_no_file_of_its_format_is_refused(data: bytes, what: str) -> None:
    with pytest.raises(SourceError, match=what):
        read_bytes(data)


HOSTILE = {
    "spaces": "=" + " " * 90_000 + "\n2026-09-14 x\n  a" + " " * 90_000 + "1 EUR\n",
    "quotes": '2026-09-14 * "' + '"\\' * 45_000 + "\n" + '2026-09-14 * "x\n' * 2000,
    "colons": "2026-09-14 x\n  " + "a:" * 40_000 + "  1 EUR\n  b\n",
    "braces": "2026-09-14 x\n  a  1 X " + "{1 EUR} " * 10_000 + "\n",
    "numbers": "2026-09-14 x\n  a  " + "1," * 45_000 + " EUR\n",
    "names": "2026-09-14 x\n" + "".join(f"  a{n}:b:c:d:e  {n}.5 EUR\n" for n in range(10_000)),
    "assertions": "".join(f"2026-09-14 x\n  a:b{n % 97}  1 EUR = 1 EUR\n  c\n" for n in range(5_000)),
    "aliases": "".join(f"alias a{n}=a{n + 1}\n" for n in range(1000)) + "2026-09-14 x\n  a0  1 EUR\n  b\n",
    "rules": "".join("= /a/\n  a  1\n  b  -1\n" for _ in range(1000)) + "2026-09-14 x\n  a  1 EUR\n  b\n",
    "multiplied": "= /a/\n" + "  (b)  1\n" * 49 + ("2026-09-14 x\n" + "  a  1 EUR\n" * 10_000),
    "comments": "2026-09-14 x\n  a  1 EUR\n" + "  ; key: value\n" * 60_000 + "  b\n",
    "metadata": '2026-09-14 * "x"\n  A:B  1 EUR\n' + "    key: value\n" * 60_000 + "  C:D\n",
    "currencies": "2026-09-14 x\n"
    + "".join(f"  a  1 {'C' * (n % 99)}{n}\n" for n in range(9000))
    + "  b 1\n",
    "currencies opened": "2026-09-14 open A:B " + "A" * 90_000 + "!\n",
    "lot": '2026-09-14 * "x"\n  A:B  1 X {' + "*  " * 30_000 + "x}\n",
    "cost": '2026-09-14 * "x"\n  A:B  1 X {' + " " * 90_000 + "x}\n",
    "amount": '2026-09-14 * "x"\n  A:B  1' + " " * 90_000 + "x\n",
    "balance": "2026-09-14 balance A:B  1" + " " * 90_000 + "x\n",
    "unclosed": '2026-09-14 * "x"\n' + '\\"'.join(["x" * 30] * 30_000).replace("x\\", "x\n\\"),
    "symbol": "2026-09-14 x\n  a  A" + " " * 90_000 + "x\n",
    "applied": "apply account x\n" * 10_000 + "2026-09-14 x\n  a  1 EUR\n  b\n",
    "dates": "2026-09-14 x\n" * 20_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_takes_no_longer_than_its_size(name: str) -> None:
    began = time.process_time()
    try:
        done = gather([read_bytes(HOSTILE[name].encode())])
    except SourceError:
        done = None
    assert time.process_time() - began < 20  # what grows with the square takes minutes
    assert done is None or len(done.findings) <= 300


@given(st.sampled_from(sorted(SMALL)), st.data())
def test_no_change_of_a_file_raises_anything_but_a_refusal(name: str, data: st.DataObject) -> None:
    whole = SMALL[name]
    at = data.draw(st.integers(0, len(whole)))
    to = data.draw(st.integers(at, min(len(whole), at + 40)))
    junk = data.draw(
        st.binary(max_size=12) | st.sampled_from([b"\n", b"  ", b"9" * 50, b"-", b"@", b"=", b"{"])
    )
    try:
        done = gather([read_bytes(whole[:at] + junk + whole[to:])])
    except SourceError:
        return
    assert all(each.line.amount.is_finite() for account in done.accounts for each in account.postings)


def test_a_workbook_is_read_as_a_table() -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    assert sheet is not None
    for row in (["Date", "Account", "Amount"], [datetime.date(2026, 9, 14), "Bank", 1234.5]):
        sheet.append(row)
    kept = io.BytesIO()
    workbook.save(kept)
    done = read_bytes(kept.getvalue())
    assert (done.format, [(str(each.date), each.account, each.amount) for each in done.lines]) == (
        "xlsx",
        [("2026-09-14", "Bank", Decimal("1234.5"))],
    )


def test_the_database_of_gnucash_is_told_from_others(tmp_path: Path) -> None:
    assert read_bytes(database(tmp_path / "a")).format == "gnucash"
    assert read_bytes(SMALL["sql"]).format == "sql"
