"""What was said of all files is kept for each one that needs it, and for no other."""

import datetime
from pathlib import Path
from typing import Literal, TypedDict, Unpack

import pytest

from offing.engine.cli.work.systems import Systems, bare, keep_said
from offing.engine.store.sqlite import SqliteStore
from offing.namespaces.bank import Bank
from offing.namespaces.tables.readings import MemoryReadings

ODD = "Kiedy;Kwota;Opis\n03/04/2026;1.234;Najem\n05/06/2026;1.500;Czynsz\n"
PLAIN = "Date,Text,Amount,Currency\n2026-04-14,Rent,-9.50,EUR\n"
CARD = "Date,Text,Amount\n2026-04-14,Taxi,23.40\n2026-04-15,Taxi,5.00\n"


class Said(TypedDict, total=False):
    day_first: bool
    decimal: Literal[".", ","]
    currency: str
    columns: dict[str, str]


def bank(*files: Path, readings: MemoryReadings, **said: Unpack[Said]) -> Bank:
    return Bank(files, readings=readings, today=lambda: datetime.date(2026, 11, 30), **said)


def movements(of: Bank) -> list[tuple[str, str, str | None]]:
    read = of.contents().accounts
    return [(str(e.entry.booked), str(e.entry.amount), e.entry.currency) for a in read for e in a.movements]


@pytest.fixture
def kept() -> MemoryReadings:
    return MemoryReadings()


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_all_that_a_file_needs_is_kept_for_the_next_one_of_its_layout(
    tmp_path: Path, kept: MemoryReadings
) -> None:
    april, may = write(tmp_path / "april.csv", ODD), write(tmp_path / "may.csv", ODD.replace("2026", "2027"))
    said = bank(
        april,
        readings=kept,
        columns={"date": "Kiedy", "amount": "Kwota"},
        day_first=True,
        decimal=".",
        currency="PLN",
    )
    assert [(each.file, each.label) for each in said.keep_said()] == [
        ("april.csv", "table files with Kiedy, Kwota, Opis")
    ]
    later = bank(may, readings=kept)
    assert movements(later) == [("2027-04-03", "1.234", "PLN"), ("2027-06-05", "1.500", "PLN")]
    assert [each.what for each in later.as_decided()][:2] == [
        "read with the columns date = 'Kiedy', amount = 'Kwota', as decided for table files with Kiedy,"
        " Kwota, Opis on 2026-11-30",
        "read day first, as decided for table files with Kiedy, Kwota, Opis on 2026-11-30",
    ]
    assert said.keep_said() == []


def test_a_file_that_decides_by_itself_keeps_nothing(tmp_path: Path, kept: MemoryReadings) -> None:
    plain = write(tmp_path / "plain.csv", PLAIN)
    said = bank(plain, readings=kept, day_first=True, decimal=",", currency="USD", columns={"date": "Kiedy"})
    assert said.keep_said() == []
    assert list(bank(plain, readings=kept).as_decided()) == []


def test_what_is_said_anew_counts_before_what_was_kept(tmp_path: Path, kept: MemoryReadings) -> None:
    text = "Date,Text,Amount,Currency\n03/04/2026,Rent,-9.50,EUR\n"
    path = write(tmp_path / "a.csv", text)
    for day_first, day in ((True, "2026-04-03"), (False, "2026-03-04")):
        bank(path, readings=kept, day_first=day_first).keep_said()
        assert movements(bank(path, readings=kept)) == [(day, "-9.50", "EUR")]


def test_one_column_said_anew_leaves_the_others_as_they_were_kept(
    tmp_path: Path, kept: MemoryReadings
) -> None:
    path = write(tmp_path / "a.csv", "Kiedy;Kwota;Ile;Opis\n2026-04-03;1,50;2,50;Najem\n")
    bank(path, readings=kept, columns={"date": "Kiedy", "amount": "Kwota"}).keep_said()
    bank(path, readings=kept, columns={"amount": "Ile"}).keep_said()
    assert movements(bank(path, readings=kept)) == [("2026-04-03", "2.50", None)]


async def test_what_was_said_on_the_command_line_is_there_in_the_next_process(tmp_path: Path) -> None:
    path, store = write(tmp_path / "a.csv", ODD), tmp_path / "store.db"
    columns = {"date": "Kiedy", "amount": "Kwota"}
    said = Systems(model="demo", bank=(str(path),), columns=columns, day_first=True, decimal=".")
    keep_said(said.configured(bare("local")), SqliteStore(store).scoped("a").readings)
    again = Systems(model="demo", bank=(str(path),)).namespaces(SqliteStore(store).scoped("a").readings)
    (found,) = (each for each in again if isinstance(each, Bank))
    assert movements(found) == [("2026-04-03", "1.234", None), ("2026-06-05", "1.500", None)]


def test_the_side_of_a_cards_amounts_is_kept_though_its_header_is_known(
    tmp_path: Path, kept: MemoryReadings
) -> None:
    path = write(tmp_path / "card.csv", CARD)
    bank(path, readings=kept, columns={"debit": "Amount"}).keep_said()
    assert [amount for _, amount, _ in movements(bank(path, readings=kept))] == ["-23.40", "-5.00"]
