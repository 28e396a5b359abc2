"""Files of one account that overlap: what both have counts once, and what they differ in is told."""

import datetime
from collections.abc import Mapping
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offing.namespaces.bank.accounts import Account, Accounts, gather
from offing.namespaces.bank.formats import read
from offing.namespaces.tables.source import Conventions, Source

HEAD = "Account;Date;Text;Amount;Currency"


def csv(*rows: str) -> str:
    """A statement as CSV, its rows written `14 Rent -9.50`."""
    split = (row.rsplit(" ", 1) for row in rows)
    lines = (f"DE1;2026-09-{head[:2]};{head[3:]};{amount};EUR" for head, amount in split)
    return "\n".join([HEAD, *lines]) + "\n"


def ofx(*rows: str, closing: str = "") -> str:
    """A statement as OFX, its rows written `14 id Rent -9.50`."""
    made = ""
    for row in rows:
        day, name, text, amount = row.split(" ")
        made += f"<STMTTRN><DTPOSTED>202609{day}<TRNAMT>{amount}<FITID>{name}<NAME>{text}</STMTTRN>"
    ends = f"<LEDGERBAL><BALAMT>{closing[3:]}<DTASOF>202609{closing[:2]}</LEDGERBAL>" if closing else ""
    account = "<CURDEF>EUR<BANKACCTFROM><ACCTID>DE1</BANKACCTFROM>"
    return f"<OFX><STMTRS>{account}<BANKTRANLIST>{made}</BANKTRANLIST>{ends}</STMTRS></OFX>"


def camt(tag: str, *rows: str, opening: str = "", closing: str = "") -> str:
    """A statement (Stmt) or notification (Ntfctn) as CAMT, its rows written `14 reference text -9.50`."""

    def signed(amount: str) -> str:
        way = "DBIT" if amount.startswith("-") else "CRDT"
        return f'<Amt Ccy="EUR">{amount.lstrip("-")}</Amt><CdtDbtInd>{way}</CdtDbtInd>'

    def balance(code: str, written: str) -> str:
        head = f"<Bal><Tp><CdOrPrtry><Cd>{code}</Cd></CdOrPrtry></Tp>{signed(written[3:])}"
        return f"{head}<Dt><Dt>2026-09-{written[:2]}</Dt></Dt></Bal>" if written else ""

    made = balance("OPBD", opening) + balance("CLBD", closing)
    for row in rows:
        day, reference, text, amount = row.split(" ")
        named = f"<AcctSvcrRef>{reference}</AcctSvcrRef>" if reference != "-" else ""
        made += f"<Ntry>{signed(amount)}<Sts>BOOK</Sts><BookgDt><Dt>2026-09-{day}</Dt></BookgDt>{named}"
        made += f"<AddtlNtryInf>{text}</AddtlNtryInf></Ntry>"
    of = f"<Acct><Id><Othr><Id>DE1</Id></Othr></Id><Ccy>EUR</Ccy></Acct>{made}"
    return f"<Document><BkToCstmrStmt><{tag}>{of}</{tag}></BkToCstmrStmt></Document>"


def gathered(files: Mapping[str, str]) -> Accounts:
    return gather(read(Source(name, text.encode()), Conventions()) for name, text in files.items())


def account(files: Mapping[str, str]) -> Account:
    (only,) = gathered(files).accounts
    return only


def amounts(files: Mapping[str, str]) -> list[str]:
    return [str(each.entry.amount) for each in account(files).movements]


def told(files: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Findings about several files: those of single ones say nothing of another."""
    found = [(each.severity, each.file, each.what) for each in gathered(files).findings]
    return [each for each in found if any(name in each[2] for name in files) or "notified" in each[2]]


def test_the_days_that_two_files_share_are_one_import() -> None:
    files = {
        "a.csv": csv("01 Rent -900.00", "10 Fee -2.50", "14 Client 250.00"),
        "b.csv": csv("10 Fee -2.50", "14 Client 250.00", "20 Tax -30.00"),
    }
    assert amounts(files) == ["-900.00", "-2.50", "250.00", "-30.00"]
    what = "2 entries of 2026-09-10 to 2026-09-14 are in a.csv as well: counted once"
    assert told(files) == [("info", "b.csv", what)]


def test_an_account_is_the_same_however_its_number_is_grouped() -> None:
    grouped = csv("10 Fee -2.50", "20 Tax -30.00").replace("DE1;", "DE 1;")
    files = {"a.csv": csv("01 Rent -900.00", "10 Fee -2.50"), "b.csv": grouped}
    assert amounts(files) == ["-900.00", "-2.50", "-30.00"]


def test_two_equal_entries_within_one_file_stay_two() -> None:
    assert amounts({"a.csv": csv("14 Fee -2.50", "14 Fee -2.50")}) == ["-2.50", "-2.50"]
    twice = csv("14 Fee -2.50", "14 Fee -2.50", "15 x 1.00")
    assert amounts({"a.csv": twice, "b.csv": f"{twice}\n"}) == ["-2.50", "-2.50", "1.00"]


def test_files_whose_days_meet_and_do_not_overlap_are_not_merged() -> None:
    files = {"a.csv": csv("13 Fee -2.50", "14 Fee -2.50"), "b.csv": csv("15 Fee -2.50", "16 Fee -2.50")}
    assert (amounts(files), told(files)) == (["-2.50"] * 4, [])


def test_a_statement_that_goes_on_where_another_closed_shares_no_entry_with_it() -> None:
    files = {
        "a.xml": camt("Stmt", "14 - fee -2.50", opening="14 100", closing="14 97.50"),
        "b.xml": camt("Stmt", "14 - fee -2.50", opening="14 97.50", closing="15 95.00"),
    }
    assert (amounts(files), told(files)) == (["-2.50", "-2.50"], [])


def test_what_one_of_two_files_lacks_is_counted_and_told_by_name() -> None:
    files = {
        "a.csv": csv("10 Rent -900.00", "12 Coffee -3.20", "14 Client 250.00"),
        "b.csv": csv("10 Rent -900.00", "13 Tax -30.00", "14 Client 250.00", "20 Fee -2.50"),
    }
    assert amounts(files) == ["-900.00", "-3.20", "-30.00", "250.00", "-2.50"]
    (error,) = (each for each in told(files) if each[0] == "error")
    assert error[2] == (
        "covers 2026-09-10 to 2026-09-14 as a.csv does, and differs:"
        " only in a.csv: 2026-09-12 -3.20 'Coffee' (line 3);"
        " only in b.csv: 2026-09-13 -30.00 'Tax' (line 3). All of these are counted"
    )


def test_a_file_made_before_its_last_day_ended_is_no_error() -> None:
    files = {
        "a.csv": csv("10 Rent -900.00", "14 Client 250.00"),
        "b.csv": csv("14 Client 250.00", "14 Fee -2.50", "20 Tax -30.00"),
    }
    assert amounts(files) == ["-900.00", "250.00", "-2.50", "-30.00"]
    assert [severity for severity, _, _ in told(files)] == ["info"]


def test_files_of_the_same_days_with_nothing_in_common_are_counted_and_told() -> None:
    files = {"in.csv": csv("10 x 1.00", "14 y 2.00"), "out.csv": csv("10 z -1.00", "14 w -2.00")}
    assert len(amounts(files)) == 4
    assert [severity for severity, _, _ in told(files)] == ["warning"]


def test_an_import_in_another_format_is_counted_once_though_its_words_differ() -> None:
    files = {
        "a.csv": csv("10 Rent -900.00", "14 Client 250.00"),
        "b.ofx": ofx("10 17 RENT/SEPT -900.00", "14 18 CLIENT 250.00", "20 19 FEE -2.50"),
    }
    assert amounts(files) == ["-900.00", "250.00", "-2.50"]


def test_references_tell_equal_entries_of_two_files_apart() -> None:
    files = {
        "a.ofx": ofx("10 1 Fee -2.50", "14 2 Fee -2.50"),
        "b.ofx": ofx("14 2 Fee -2.50", "14 3 Fee -2.50", "15 4 Fee -2.50"),
    }
    assert [each.entry.id for each in account(files).movements] == ["1", "2", "3", "4"]


def test_references_that_are_new_in_each_download_do_not_double_it() -> None:
    files = {
        "a.ofx": ofx("10 1 Rent -900.00", "14 2 Client 250.00"),
        "b.ofx": ofx("10 7 Rent -900.00", "14 8 Client 250.00", "15 9 Fee -2.50"),
    }
    assert amounts(files) == ["-900.00", "250.00", "-2.50"]


def test_a_notified_entry_is_counted_once_with_the_statement_and_the_balances_tie() -> None:
    files = {
        "054.xml": camt("Ntfctn", "14 R1 notified 250.00", "14 - other -2.50"),
        "053.xml": camt(
            "Stmt", "14 R1 booked 250.00", "14 - fee -2.50", opening="14 100", closing="14 347.50"
        ),
    }
    only = account(files)
    assert [each.entry.text for each in only.movements] == ["booked", "fee"]
    balance = only.balance_on(datetime.date(2026, 9, 14))
    assert balance is not None
    assert (balance.amount, only.gaps) == (Decimal("347.50"), (0,))
    what = "2 entries of 2026-09-14 are in 053.xml as well: counted once"
    assert told(files) == [("info", "054.xml", what)]


def test_a_notified_entry_that_no_statement_covers_counts() -> None:
    files = {
        "053.xml": camt("Stmt", "14 R1 booked 250.00", opening="14 100", closing="14 350"),
        "054.xml": camt("Ntfctn", "15 R2 notified 30.00"),
    }
    assert amounts(files) == ["250.00", "30.00"]


def test_a_notified_entry_that_a_statement_ties_without_is_not_counted_and_told() -> None:
    files = {
        "053.xml": camt("Stmt", "14 R1 booked 250.00", opening="14 100", closing="14 350"),
        "054.xml": camt("Ntfctn", "14 R1 notified 250.00", "14 R9 notified 30.00"),
    }
    assert amounts(files) == ["250.00"]
    assert [each for each in told(files) if each[0] == "error"] == [
        (
            "error",
            "054.xml",
            "2026-09-14 30.00 'notified' (line 1): notified, yet not in the statement of these days,"
            " and that ties without it: not counted",
        )
    ]


def test_a_notified_entry_that_a_statement_without_balances_lacks_is_counted_and_told() -> None:
    files = {
        "053.xml": camt("Stmt", "14 R1 booked 250.00"),
        "054.xml": camt("Ntfctn", "14 R1 notified 250.00", "14 R9 notified 30.00"),
    }
    assert amounts(files) == ["250.00", "30.00"]
    (what,) = (what for severity, _, what in told(files) if severity == "error")
    assert what.endswith("notified, yet not in the statement of these days, counted all the same")


def test_two_notifications_of_a_day_are_two_unless_their_references_are_one() -> None:
    files = {
        "a.xml": camt("Ntfctn", "14 R1 in 30.00", "14 - fee -2.50"),
        "b.xml": camt("Ntfctn", "14 R1 in 30.00", "14 - fee -2.50", "14 R2 in 30.00"),
    }
    assert amounts(files) == ["30.00", "-2.50", "-2.50", "30.00"]


ROWS = st.lists(
    st.tuples(st.integers(1, 28), st.sampled_from(["Fee", "Rent"]), st.integers(1, 3)), min_size=1
)


@given(ROWS, st.integers(1, 28), st.integers(0, 14))
def test_two_downloads_of_one_account_count_as_one_of_all_its_days(
    rows: list[tuple[int, str, int]], cut: int, shared: int
) -> None:
    def text(first: int, last: int) -> str:
        return csv(*(f"{day:02} {word} -{n}.00" for day, word, n in sorted(rows) if first <= day <= last))

    parts = {"a.csv": text(1, cut), "b.csv": text(max(1, cut - shared + 1), 28)}
    files = {name: each for name, each in parts.items() if each.count("\n") > 1}
    assert sorted(amounts(files)) == sorted(amounts({"all.csv": text(1, 28)}))


@pytest.mark.parametrize("names", [("a.csv", "b.csv"), ("b.csv", "a.csv")])
def test_which_file_comes_first_changes_no_sum(names: tuple[str, str]) -> None:
    texts = csv("01 Rent -900.00", "10 Fee -2.50"), csv("10 Fee -2.50", "20 Tax -30.00")
    assert amounts(dict(zip(names, texts, strict=True))) == ["-900.00", "-2.50", "-30.00"]
