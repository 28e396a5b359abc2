"""GnuCash, as XML and as a database: the same books read the same, damaged and hostile ones stay bounded."""

import datetime
import gzip
import sqlite3
from decimal import Decimal
from pathlib import Path

import pytest

from offing.namespaces.ledger.books import LedgerFile, Weight
from offing.namespaces.ledger.formats import read
from offing.namespaces.tables.source import Conventions, Source, SourceError

HEAD = '<?xml version="1.0" ?>\n<gnc-v2 xmlns:gnc="g" xmlns:act="a" xmlns:trn="t">\n<gnc:book>\n'
ACCOUNTS = (
    ("r", "Root Account", "ROOT", "", "GBP", ""),
    ("a", "Assets", "ASSET", "r", "GBP", ""),
    ("b", "Bank", "BANK", "a", "GBP", "1200"),
    ("s", "Shares", "STOCK", "a", "ACME", ""),
    ("i", "Income", "INCOME", "r", "GBP", ""),
    ("t", "Template", "BANK", "tr", "template", ""),
)
# Sold 3 shares for 10.01 pounds, of which 0.01 is income.
SPLITS = (("b", "1000/100", "1000/100"), ("s", "-1001/100", "-3/1"), ("i", "1/100", "1/100"))


def account(guid: str, name: str, kind: str, parent: str, commodity: str, code: str) -> str:
    space = commodity if commodity == "template" else "CURRENCY"
    coded = f"<act:code>{code}</act:code>" if code else ""
    above = f"<act:parent>{parent}</act:parent>" if parent else ""
    held = f"<act:commodity><space>{space}</space><id>{commodity}</id></act:commodity>"
    return (
        f"<gnc:account><act:name>{name}</act:name><act:id>{guid}</act:id><act:type>{kind}</act:type>"
        f"{held}{coded}{above}</gnc:account>\n"
    )


def transaction(guid: str, splits: tuple[tuple[str, str, str], ...], day: str = "2026-09-14") -> str:
    parts = "".join(
        f"<split><memo>m</memo><value>{value}</value><quantity>{quantity}</quantity><account>{to}</account></split>"
        for to, value, quantity in splits
    )
    return (
        f"<gnc:transaction><trn:id>{guid}</trn:id><trn:currency><id>GBP</id></trn:currency><trn:num>7</trn:num>"
        f"<trn:date-posted><date>{day} 10:59:00 +0000</date></trn:date-posted>"
        f"<trn:description>Sale</trn:description><trn:splits>{parts}</trn:splits></gnc:transaction>\n"
    )


def book(*parts: str) -> str:
    accounts = "".join(account(*each) for each in ACCOUNTS)
    return HEAD + accounts + "".join(parts) + "</gnc:book>\n</gnc-v2>\n"


def read_text(text: str, *, packed: bool = False) -> LedgerFile:
    data = gzip.compress(text.encode()) if packed else text.encode()
    return read(Source("a.gnucash", data), Conventions())


def database(path: Path) -> bytes:
    guid = "0123456789abcdef0123456789abcdef"
    with sqlite3.connect(path) as made:
        made.executescript(
            "CREATE TABLE commodities(guid, namespace, mnemonic);"
            "CREATE TABLE accounts(guid, name, account_type, commodity_guid, parent_guid, code);"
            "CREATE TABLE transactions(guid, currency_guid, num, post_date, description);"
            "CREATE TABLE splits(tx_guid, account_guid, memo, value_num, value_denom, quantity_num,"
            " quantity_denom);"
            "CREATE TABLE slots(obj_guid, name, gdate_val); CREATE TABLE invoices(guid);"
            "INSERT INTO invoices VALUES ('x'); INSERT INTO splits VALUES ('gone', 'b', '', 1, 1, 1, 1);"
        )
        for code in ("GBP", "ACME", "template"):
            made.execute("INSERT INTO commodities VALUES (?, ?, ?)", (code, code, code))
        for each, name, kind, parent, commodity, code in ACCOUNTS:
            row = (each, name, kind, commodity, parent or None, code or None)
            made.execute("INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?)", row)
        made.execute("INSERT INTO transactions VALUES (?, 'GBP', '7', '20260913230000', 'Sale')", (guid,))
        made.execute("INSERT INTO slots VALUES (?, 'date-posted', '20260914')", (guid,))
        for to, value, quantity in SPLITS:
            numbers = [int(part) for each in (value, quantity) for part in each.split("/")]
            made.execute("INSERT INTO splits VALUES (?, ?, 'm', ?, ?, ?, ?)", (guid, to, *numbers))
    made.close()
    return path.read_bytes()


def what(of: LedgerFile) -> list[tuple[str, int | None, str]]:
    return [(each.severity, each.row, each.what) for each in of.findings]


def shown(of: LedgerFile) -> list[tuple[object, ...]]:
    return [
        (each.date, each.account, each.amount, each.currency, each.weight, each.text) for each in of.lines
    ]


SALE = [
    (datetime.date(2026, 9, 14), "1200 Assets:Bank", Decimal("10.00"), "GBP", None, "Sale 7 m"),
    (
        *(datetime.date(2026, 9, 14), "Assets:Shares", Decimal(-3), "ACME"),
        *(Weight(Decimal("-10.01"), "GBP"), "Sale 7 m"),
    ),
    (datetime.date(2026, 9, 14), "Income", Decimal("0.01"), "GBP", None, "Sale 7 m"),
]


@pytest.mark.parametrize("packed", [False, True])
def test_value_balances_and_quantity_is_what_the_account_holds(packed: bool) -> None:  # noqa: FBT001
    done = read_text(book(transaction("0123456789abcdef", SPLITS)), packed=packed)
    assert (done.format, shown(done), what(done)) == ("gnucash", SALE, [])
    assert done.accounts == ("1200 Assets:Bank", "Assets", "Assets:Shares", "Income")
    assert {line.journal for line in done.lines} == {"01234567"}


def test_the_database_reads_as_the_xml_does(tmp_path: Path) -> None:
    done = read(Source("a.gnucash", database(tmp_path / "a")), Conventions())
    assert (done.format, shown(done)) == ("gnucash", SALE)
    assert done.accounts == ("1200 Assets:Bank", "Assets", "Assets:Shares", "Income")
    assert what(done) == [
        ("error", 1, "is left out: its transaction is not in the file"),
        ("info", None, "not read: 1 invoices; what was posted of them is among the transactions"),
    ]


def test_ids_that_begin_alike_are_kept_whole() -> None:
    done = read_text(book(transaction("01234567aa", SPLITS), transaction("01234567bb", SPLITS)))
    assert {line.journal for line in done.lines} == {"01234567aa", "01234567bb"}


def test_scheduled_and_business_objects_are_no_entries() -> None:
    scheduled = "<gnc:template-transactions>" + transaction("x", SPLITS) + "</gnc:template-transactions>"
    business = "<gnc:GncInvoice><id>1</id></gnc:GncInvoice>" * 2
    done = read_text(
        book(transaction("y", SPLITS), scheduled, business, transaction("z", (("t", "1/1", "1/1"),)))
    )
    assert len(done.lines) == 3
    assert [each for _, _, each in what(done)] == [
        "1 scheduled transactions are not read: what came of them is",
        "not read: 2 GncInvoice; what was posted of them is among the transactions",
        "belongs to a scheduled transaction: not read",
    ]


@pytest.mark.parametrize(
    ("splits", "found"),
    [
        ((("b", "5/100", "5/100"),), "the transaction does not balance: its lines sum to 0.05 GBP"),
        ((("gone", "0/1", "0/1"),), "names the account 'gone', which is not in the file"),
        ((("b", "1/0", "1/0"),), "is left out: '1/0' is no amount"),
        ((("b", "1e9/1", "1/1"),), "is left out: '1e9/1' is no amount"),
        ((("b", f"{10**20}/1", "1/1"),), f"is left out: '{10**20}/1' is no amount"),
        (
            (("b", "1/3", "1/3"), ("b", "-1/3", "-1/3")),
            "an amount is a fraction that no decimal number equals",
        ),
        ((("r", "0/1", "0/1"),), "is on the root of all accounts"),
    ],
)
def test_what_is_wrong_with_a_split_is_told(splits: tuple[tuple[str, str, str], ...], found: str) -> None:
    assert found in [
        each.partition(" (")[0] for _, _, each in what(read_text(book(transaction("x", splits))))
    ]


@pytest.mark.parametrize(
    ("posted", "day"),
    [("2026-09-13 23:00:00", 14), ("2026-09-14 05:00:00", 14), ("2026-09-14 23:00:00 +0000", 14)],
)
def test_midnight_elsewhere_is_the_day_it_was_entered_for(posted: str, day: int) -> None:
    text = book(transaction("x", SPLITS)).replace("2026-09-14 10:59:00 +0000", posted)
    assert {line.date.day for line in read_text(text).lines} == {day}


def test_a_day_that_is_none_is_told() -> None:
    done = read_text(book(transaction("x", SPLITS, "2026-02-30")))
    assert [each for _, _, each in what(done)] == [
        "a transaction is left out: '2026-02-30 10:59:00 +0000' is no date"
    ]


def test_accounts_below_themselves_or_far_too_deep_do_not_run_forever() -> None:
    circle = account("x", "X", "BANK", "y", "GBP", "") + account("y", "Y", "BANK", "x", "GBP", "")
    deep = "".join(account(f"d{n}", f"D{n}", "BANK", f"d{n - 1}", "GBP", "") for n in range(2000))
    done = read_text(book(circle, deep, transaction("z", (("x", "0/1", "0/1"),))))
    assert done.lines[0].account == "Y:X"
    assert "is below itself, or more than 50 deep: its name is not the whole one" in what(done)[0][2]


def test_a_file_that_breaks_off_is_read_up_to_there() -> None:
    whole = book(transaction("x", SPLITS), transaction("y", SPLITS))
    done = read_text(whole[: whole.index("</trn:splits>", whole.index("<trn:id>y"))])
    assert len(done.lines) == 3
    assert what(done)[0][0] == "error"
    assert "stops being XML here" in what(done)[0][2]


def test_a_compressed_file_that_is_cut_off_is_told() -> None:
    text = book(*(transaction(f"{n:032x}", SPLITS) for n in range(2000)))
    packed = gzip.compress(text.encode())
    done = read(Source("a.gnucash", packed[: len(packed) // 2]), Conventions())
    assert 0 < len(done.lines) < 6000
    assert "its compressed part is cut off" in what(done)[0][2]


@pytest.mark.parametrize(
    "head",
    [
        '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    ],
)
def test_entities_are_refused(head: str) -> None:
    with pytest.raises(SourceError, match="declares a DOCTYPE"):
        read_text(head + book())


def test_a_million_elements_in_one_another_are_refused() -> None:
    with pytest.raises(SourceError, match="nests more than"):
        read_text(HEAD + "<a>" * 1_000_000)


def test_a_file_without_books_is_refused() -> None:
    with pytest.raises(SourceError, match="holds no accounts and no transactions"):
        read_text("<gnc-v2></gnc-v2>")
