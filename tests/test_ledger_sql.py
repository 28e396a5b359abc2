"""Books in a database: found by the names of columns, read and never written, bounded."""

import hashlib
import sqlite3
from decimal import Decimal
from pathlib import Path

import pytest

from offing.namespaces.ledger import Ledger
from offing.namespaces.ledger.books import LedgerFile
from offing.namespaces.ledger.formats import read
from offing.namespaces.tables.source import Conventions, SourceError, read_source

LINES = """
CREATE TABLE "journal lines"(journal, date TEXT, account_code TEXT, account_name TEXT, debit NUMERIC,
    credit NUMERIC, currency TEXT, memo TEXT);
INSERT INTO "journal lines" VALUES (7, '2026-09-14', '1200', 'Bank', 1234.567, NULL, 'GBP', 'Sale'),
    (7, '2026-09-14', '4000', 'Sales', NULL, 1234.567, 'GBP', 'Sale');
CREATE TABLE customers(id, name);
"""


def made(path: Path, script: str = LINES) -> Path:
    with sqlite3.connect(path) as database:
        database.executescript(script)
    database.close()
    return path


def read_file(path: Path, query: str | None = None) -> LedgerFile:
    return read(read_source(path), Conventions(), query)


def test_the_table_with_the_lines_is_found_by_its_columns(tmp_path: Path) -> None:
    done = read_file(made(tmp_path / "a.db"))
    assert [(str(each.date), each.account, each.amount, each.currency) for each in done.lines] == [
        ("2026-09-14", "1200 Bank", Decimal("1234.567"), "GBP"),
        ("2026-09-14", "4000 Sales", Decimal("-1234.567"), "GBP"),
    ]
    assert (done.format, [each.row for each in done.lines], done.lines[0].journal) == ("sql", [1, 2], "7")
    assert [each.what for each in done.findings] == ["the lines are those of 'journal lines'"]


def test_several_tables_that_fit_are_named_and_a_query_decides(tmp_path: Path) -> None:
    two = (
        LINES
        + 'CREATE VIEW gl AS SELECT date, account_name AS account, debit AS amount FROM "journal lines";'
    )
    path = made(tmp_path / "a.db", two)
    with pytest.raises(
        SourceError, match=r"several tables or views .*: 'gl', 'journal lines'; say which with query="
    ):
        read_file(path)
    query = 'SELECT date, account_name AS account, -credit AS amount FROM "journal lines" WHERE credit > 0'
    (line,) = Ledger([path], query=query).contents().find("Sales").postings
    assert line.line.amount == Decimal("-1234.567")


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("DELETE FROM customers", "not authorized"),
        ("CREATE TABLE x(a)", "not authorized"),
        ("ATTACH '/tmp/x.db' AS x", "not authorized"),
        ("PRAGMA writable_schema = 1", "not authorized"),
        ("SELECT load_extension('x')", "not authorized"),
        ("SELECT randomblob(1000000000)", "not authorized"),
        ("SELECT replace(hex(printf('%.*c', 900000, 'x')), '7', '0123456789')", "too big"),
        ("SELECT 1; SELECT 2", "one statement"),
        ("SELECT absent FROM customers", "no such column"),
        ("SELECT id, name FROM customers", "has no date, account and amount among its columns: id, name"),
        ('SELECT * FROM "journal lines" WHERE 0', "gives no rows"),
        (
            "WITH RECURSIVE n(date, account, amount) AS (SELECT 1, 2, 3 UNION ALL SELECT 1, 2, amount + 1"
            " FROM n) SELECT date, account, max(amount) AS amount FROM n",
            "takes too long",
        ),
    ],
)
def test_a_query_reads_and_does_nothing_else(tmp_path: Path, query: str, what: str) -> None:
    path = made(tmp_path / "a.db")
    before = hashlib.sha256(path.read_bytes()).digest()
    with pytest.raises(SourceError, match=what):
        read_file(path, query)
    assert hashlib.sha256(path.read_bytes()).digest() == before
    assert [each.name for each in tmp_path.iterdir()] == ["a.db"]


def test_a_view_without_an_end_is_cut_short(tmp_path: Path) -> None:
    endless = (
        "CREATE VIEW gl AS WITH RECURSIVE n(date, account, amount) AS (SELECT '2026-09-14', 'a', 1 UNION ALL"
        " SELECT date, account, amount + 1 FROM n) SELECT * FROM n ORDER BY amount;"
    )
    with pytest.raises(SourceError, match="takes too long"):
        read_file(made(tmp_path / "a.db", endless))


def test_a_database_without_lines_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"there are 'c'; make a view journal_lines\(date, account, amount"):
        read_file(made(tmp_path / "a.db", "CREATE TABLE c(date, amount);"))


def test_odd_values_are_told_and_not_guessed(tmp_path: Path) -> None:
    script = (
        "CREATE TABLE l(date, account, amount);"
        "INSERT INTO l VALUES ('2026-09-14', 'a', 0.1 + 0.2), ('2026-09-14', 'b', 9e999), (NULL, 'c', 1),"
        " ('2026-09-14', 'd', x'00ff'), ('2026-09-14', 'e', 1e300), (20260914, x'ff41', 5);"
    )
    done = read_file(made(tmp_path / "a.db", script))
    assert [(each.account, each.amount) for each in done.lines] == [
        ("a", Decimal("0.3")),
        ("\ufffdA", Decimal(5)),
    ]
    assert [(each.row, each.what) for each in done.findings if each.severity == "error"] == [
        (2, "is left out: 'inf' is no amount"),
        (3, "is left out: has no date"),
        (4, "is left out: '\\x00\ufffd' is no amount"),
        (5, "is left out: '1e+300' is no amount"),
    ]


def test_what_may_be_in_a_second_file_is_told(tmp_path: Path) -> None:
    path = made(tmp_path / "a.db", "PRAGMA journal_mode = WAL;" + LINES)
    done = read_file(path)
    assert "a second file (-wal), which is not read" in done.findings[0].what
    assert len(done.lines) == 2
