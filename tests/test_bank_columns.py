"""Files of banks that no vocabulary knows: their columns are shown, said by the user, and kept."""

from decimal import Decimal
from pathlib import Path

import pytest

from offing.namespaces.bank import Bank
from offing.namespaces.bank.formats import read
from offing.namespaces.bank.statement import Statement
from offing.namespaces.tables.source import Conventions, Source, SourceError, UndecidedError
from offing.namespaces.tool import ToolContext, ToolOutput

POLISH = """Zestawienie operacji;;;;
Rachunek;PL61 1090 1014 0000 0712 1981 2874;;;
;;;;
Data operacji;Data księgowania;Opis transakcji;Kwota;Saldo po operacji
2026-09-14;2026-09-15;PRZELEW "KOWALSKI";-1 234,50 PLN;8 765,50 PLN
2026-09-16;2026-09-16;WPŁATA;250,00 PLN;9 015,50 PLN
"""
CZECH = """Číslo účtu;Datum zaúčtování;Protistrana;Odepsáno;Připsáno;Měna;Zpráva
19-2000145399/0800;14.09.2026;ČEZ a.s.;1 234,50;;CZK;elektřina
19-2000145399/0800;16.09.2026;Novák;;250,00;CZK;nájem
"""
NO_HEADER = """2026-09-14,"CARD 1234 COFFEE","-3.20","996.80"
2026-09-15,"SALARY","250.00","1246.80"
"""
CYRILLIC = "Дата;Описание;Сумма\n14.09.2026;Аренда;-900,00\n"
OF_POLISH = {
    "date": "Data operacji",
    "amount": "Kwota",
    "text": "Opis transakcji",
    "balance": "Saldo po operacji",
}
OF_CZECH = {
    "date": "Datum zaúčtování",
    "debit": "Odepsáno",
    "credit": "Připsáno",
    "currency": "Měna",
    "text": "Zpráva",
    "name": "Protistrana",
    "account": "Číslo účtu",
}


def read_csv(text: str, columns: dict[str, str] | None = None) -> Statement:
    (statement,) = read(Source("export.csv", text.encode()), Conventions(columns=columns or {})).statements
    return statement


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            POLISH,
            "export.csv line 4: no header that is known: the columns are 'Data operacji', 'Data księgowania',"
            " 'Opis transakcji', 'Kwota', 'Saldo po operacji'; say by name which is which:"
            " columns={'date': 'Data operacji', 'amount': ...}; it needs at least a date and an amount,",
        ),
        (
            CZECH,
            "'Číslo účtu', 'Datum zaúčtování', 'Protistrana', 'Odepsáno', 'Připsáno', 'Měna', 'Zpráva'; say",
        ),
        (CYRILLIC, "the columns are 'Дата', 'Описание', 'Сумма'; say by name which is which"),
        ("Datum;Kwota\n2026-09-14;1,50\n", "the columns are 'Datum' (known as date), 'Kwota'; say by name"),
        (
            NO_HEADER,
            "export.csv line 1: no line names the columns, which begin with 1 = '2026-09-14',"
            " 2 = 'CARD 1234 COFFEE', 3 = '-3.20', 4 = '996.80'; say by number which is which:"
            " columns={'date': '1', 'amount': '2'}",
        ),
    ],
)
def test_a_header_that_is_not_known_is_shown_with_the_argument_that_decides(text: str, why: str) -> None:
    with pytest.raises(UndecidedError) as refused:
        read_csv(text)
    assert why in str(refused.value)
    assert (refused.value.argument, "The roles are date, amount," in str(refused.value)) == ("columns", True)


def test_a_polish_statement_is_read_once_its_columns_are_said() -> None:
    statement = read_csv(POLISH, OF_POLISH)
    assert [(str(e.booked), e.amount, e.text, e.row) for e in statement.entries] == [
        ("2026-09-14", Decimal("-1234.50"), 'PRZELEW "KOWALSKI"', 5),
        ("2026-09-16", Decimal("250.00"), "WPŁATA", 6),
    ]
    assert statement.account == "PL61109010140000071219812874"
    assert statement.opening is not None
    assert (statement.opening.amount, statement.gap) == (Decimal("10000.00"), 0)


def test_debit_and_credit_columns_with_odd_names_are_read_once_they_are_said() -> None:
    statement = read_csv(CZECH, OF_CZECH)
    assert (statement.account, statement.currency) == ("19-2000145399/0800", "CZK")
    assert [(e.amount, e.name, e.text) for e in statement.entries] == [
        (Decimal("-1234.50"), "ČEZ a.s.", "elektřina"),
        (Decimal("250.00"), "Novák", "nájem"),
    ]


def test_a_file_without_a_header_is_read_by_the_numbers_of_its_columns() -> None:
    columns = {"date": "1", "text": "2", "amount": "3", "balance": "4"}
    for text in (NO_HEADER, f"My bank,,,\n{NO_HEADER}"):
        statement = read_csv(text, columns)
        assert [(e.amount, e.text) for e in statement.entries] == [
            (Decimal("-3.20"), "CARD 1234 COFFEE"),
            (Decimal("250.00"), "SALARY"),
        ]
        assert statement.gap == 0
    assert read_csv(NO_HEADER, columns).entries[0].row == 1


def test_letters_of_other_alphabets_name_columns_too() -> None:
    statement = read_csv(CYRILLIC, {"date": "дата", "amount": " Сумма ", "text": "Описание"})
    assert [(e.amount, e.text) for e in statement.entries] == [(Decimal("-900.00"), "Аренда")]


def test_a_column_that_is_said_goes_before_the_one_whose_word_is_known() -> None:
    text = "Date;Value date;Amount;Net\n2026-09-14;2026-09-15;1.50;1.00\n"
    assert [e.amount for e in read_csv(text).entries] == [Decimal("1.00")]
    assert [e.amount for e in read_csv(text, {"amount": "Amount"}).entries] == [Decimal("1.50")]


def test_columns_for_all_files_are_used_for_those_that_have_them(tmp_path: Path) -> None:
    (tmp_path / "pl.csv").write_text(POLISH)
    (tmp_path / "en.csv").write_text("Date;Amount;Currency\n2026-09-14;1.50;EUR\n")
    accounts = Bank([tmp_path / "pl.csv", tmp_path / "en.csv"], columns=OF_POLISH).contents()
    assert [(each.name, len(each.movements)) for each in accounts.accounts] == [
        ("en", 1),
        ("PL61109010140000071219812874", 2),
    ]


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"date": "1", "amount": "9"}, "there is no column '9'"),
        ({"date": "0", "amount": "3"}, "there is no column '0'"),
        ({"date": "2", "amount": "3"}, "say by number"),
        ({"amount": "3"}, "say by number"),
        ({"date": "1", "amount": "9" * 5000}, "there is no column '999"),
        ({"sum": "3"}, "there is no role 'sum'; the roles are date, amount,"),
    ],
)
def test_columns_that_cannot_be_are_refused_with_those_there_are(columns: dict[str, str], why: str) -> None:
    with pytest.raises(SourceError, match=why):
        read_csv(NO_HEADER, columns)


async def test_said_columns_are_kept_for_the_next_file_of_that_layout(tmp_path: Path) -> None:
    (tmp_path / "export.csv").write_text(CZECH)
    (tmp_path / "export (1).csv").write_text(CZECH.replace("2026", "2027"))
    bank = Bank([tmp_path / "export.csv", tmp_path / "export (1).csv"])
    async with bank.connect({}) as tools:
        (read_as,) = (tool for tool in tools if tool.name == "read_as")
        context = ToolContext("run", "1.1", "key", {}, lambda _: None, lambda _: _nothing())
        output = read_as.call({"file": "export.csv", "columns": dict(OF_CZECH)}, context)
    assert isinstance(output, ToolOutput)
    (account,) = bank.contents().accounts
    assert (account.name, account.currency, len(account.movements)) == ("19-2000145399/0800", "CZK", 4)


async def _nothing() -> bytes:
    return b""


CARD = "Date,Description,Amount,Balance\n09/28/2026,Taxi,23.40,123.40\n09/14/2026,Payment,-500.00,100.00\n"


def test_a_card_whose_charges_are_positive_is_turned_once_its_amounts_are_said_to_be_debits() -> None:
    (statement,) = [read_csv(CARD, columns={"debit": "Amount"})]
    assert [entry.amount for entry in statement.entries] == [Decimal("-23.40"), Decimal("500.00")]
    assert statement.closing is not None
    assert (statement.closing.amount, statement.gap) == (Decimal("-123.40"), 0)


def test_one_of_debit_and_credit_is_no_header_by_its_word_alone() -> None:
    with pytest.raises(UndecidedError, match=r"'Debit' \(known as debit\)"):
        read_csv("Date,Description,Debit\n09/28/2026,Taxi,23.40\n")


@pytest.mark.parametrize(
    ("above", "account"),
    [
        ("Konto: DE89 3704 0044 0532 0130 00", "DE89370400440532013000"),
        ("DE89370400440532013000 EUR", "DE89370400440532013000"),
        ("IBAN GB82 WEST 1234 5698 7654 32 CURRENT ACCOUNT", "GB82WEST12345698765432"),
        ("DE70000000000000000000", "DE70000000000000000000"),
        ("Ref AB12 THIS IS NO ACCOUNT AT ALL", "export"),
    ],
)
def test_an_account_is_known_by_the_iban_above_the_header_whatever_stands_around_it(
    above: str, account: str
) -> None:
    assert read_csv(f"{above}\nDate;Text;Amount\n2026-09-14;Rent;-9.50\n").account == account


def test_a_dated_row_without_an_amount_may_call_its_balance_in_many_words() -> None:
    rows = "2026-09-01,Beginning balance as of 09/01/2026,,500.00\n2026-09-03,Rent,-9.50,490.50\n"
    statement = read_csv(f"Date,Description,Amount,Balance\n{rows}")
    assert [str(entry.amount) for entry in statement.entries] == ["-9.50"]
    assert (statement.opening and statement.opening.amount, statement.gap) == (Decimal("500.00"), 0)


def test_a_payment_that_only_speaks_of_a_balance_stays_an_entry() -> None:
    rows = "2026-09-01,Opening balance correction by branch,-1.00,499.00\n"
    statement = read_csv(f"Date,Description,Amount,Balance\n{rows}")
    assert [str(entry.amount) for entry in statement.entries] == ["-1.00"]
