"""A file that reads two ways is decided by the user, once for its account or layout."""

import datetime
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from offing.engine.cli.work.systems import Systems
from offing.engine.store.sqlite import SqliteStore
from offing.namespaces.bank import Bank
from offing.namespaces.bank.statement import StatementFile
from offing.namespaces.errors import NamespaceError
from offing.namespaces.ledger import Ledger
from offing.namespaces.tables.readings import MemoryReadings, Readings
from offing.namespaces.tables.source import Conventions, Source
from offing.namespaces.tool import Namespace, ToolContext, ToolOutput
from workbooks import workbook

Json = Any
Invoke = Callable[..., Json]
OPEN = "Account;Date;Text;Amount\nDE1;03/04/2026;Rent;-9.50\nDE1;05/06/2026;Client;2.50\n"
NEXT_MONTH = OPEN.replace("03/04/2026", "07/08/2026").replace("05/06/2026", "09/10/2026")


async def no_bytes(handle: str) -> bytes:
    raise KeyError(handle)


def ignore(_message: str) -> None:
    pass


CONTEXT = ToolContext("run", "1.1", "key", {}, ignore, no_bytes)


async def connected(namespace: Namespace) -> Invoke:
    """A function that calls the tools of a namespace and gives what they say."""
    async with namespace.connect({}) as tools:
        by_name = {tool.name: tool for tool in tools}

    def invoke(tool: str, **arguments: JsonValue) -> Json:
        output = by_name[tool].call(arguments, CONTEXT)
        assert isinstance(output, ToolOutput)
        return output.content

    return invoke


def write(path: Path, text: str) -> None:
    path.write_text(text)


def bank(*files: Path, readings: Readings | None = None) -> Bank:
    return Bank(files, readings=readings, today=lambda: datetime.date(2026, 11, 30))


def days(invoke: Invoke) -> list[str]:
    return [each["date"] for each in invoke("list_transactions")["transactions"]]


def told(invoke: Invoke) -> list[str]:
    return [each["what"] for each in invoke("list_accounts")["findings"]]


@pytest.fixture
def april(tmp_path: Path) -> Path:
    path = tmp_path / "april.csv"
    write(path, OPEN)
    return path


async def test_a_bank_whose_only_file_is_open_connects_and_says_what_decides(april: Path) -> None:
    invoke = await connected(bank(april))
    (what,) = told(invoke)
    assert what == (
        "the file is not read: april.csv line 2: '03/04/2026': reads as 2026-04-03 with day_first=True and"
        " as 2026-03-04 with day_first=False, and no other date of the file decides it; say which with"
        " day_first=; read_as keeps the answer of the user"
    )


async def test_a_decision_is_used_at_once_and_kept_for_the_next_file_of_the_account(april: Path) -> None:
    kept = MemoryReadings()
    invoke = await connected(bank(april, readings=kept))
    said = invoke("read_as", file="april.csv", day_first=True)
    assert said["kept_for"] == "account DE1"
    assert days(invoke) == ["2026-04-03", "2026-06-05"]
    write(april.with_name("other name.csv"), NEXT_MONTH)
    invoke = await connected(bank(april.with_name("other name.csv"), readings=kept))
    assert days(invoke) == ["2026-08-07", "2026-10-09"]
    assert "read day first, as decided for account DE1 on 2026-11-30" in told(invoke)


async def test_a_decision_for_one_account_says_nothing_of_another(april: Path) -> None:
    kept = MemoryReadings()
    (await connected(bank(april, readings=kept)))("read_as", file="april.csv", day_first=True)
    write(april, OPEN.replace("DE1", "DE2"))
    assert days(await connected(bank(april, readings=kept))) == []


async def test_files_that_name_no_account_share_a_decision_by_their_layout(tmp_path: Path) -> None:
    kept = MemoryReadings()
    one, other, third = (tmp_path / name for name in ("one.csv", "two.csv", "three.csv"))
    write(one, "Date;Amount\n03/04/2026;1.50\n")
    write(other, "Date;Amount\n07/08/2026;2.50\n")
    write(third, "Date;Text;Amount\n07/08/2026;x;2.50\n")
    said = (await connected(bank(one, readings=kept)))("read_as", file="one.csv", day_first=False)
    assert said["kept_for"] == "table files with Date, Amount"
    assert days(await connected(bank(other, readings=kept))) == ["2026-07-08"]
    assert days(await connected(bank(third, readings=kept))) == []


async def test_a_decision_can_be_forgotten(april: Path) -> None:
    invoke = await connected(bank(april))
    invoke("read_as", file="april.csv", day_first=True)
    assert invoke("read_as", file="april.csv", forget=True)["forgotten_for"] == "account DE1"
    assert days(invoke) == []


async def test_a_kept_decision_that_a_later_file_contradicts_is_not_used_and_told(april: Path) -> None:
    invoke = await connected(bank(april))
    invoke("read_as", file="april.csv", day_first=True)
    write(april, OPEN.replace("05/06/2026", "05/31/2026"))
    assert days(invoke) == ["2026-03-04", "2026-05-31"]
    assert (
        "its dates show that the month is first, so it is not read day first,"
        " as decided for account DE1 on 2026-11-30" in told(invoke)
    )


async def test_a_decision_that_the_file_contradicts_is_refused_and_not_kept(april: Path) -> None:
    write(april, OPEN.replace("05/06/2026", "05/31/2026"))
    invoke = await connected(bank(april))
    with pytest.raises(NamespaceError, match="'05/31/2026': has the month first, so day_first=True cannot"):
        invoke("read_as", file="april.csv", day_first=True)
    assert not [what for what in told(invoke) if "as decided" in what]


async def test_what_is_decided_later_is_added_to_what_was(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    write(path, "Date;Amount\n03/04/2026;1,234\n")
    invoke = await connected(bank(path))
    (still_open,) = invoke("read_as", file="a.csv", day_first=True)["findings"]
    assert "reads as 1234 with decimal='.' and as 1.234 with decimal=','" in still_open["what"]
    invoke("read_as", file="a.csv", decimal=",")
    invoke("read_as", file="a.csv", currency="PLN")
    (entry,) = invoke("list_transactions")["transactions"]
    assert (entry["date"], entry["amount"], entry["currency"]) == ("2026-04-03", "1.234", "PLN")


async def test_the_systems_of_the_command_line_are_given_what_was_decided(april: Path) -> None:
    kept = SqliteStore(april.with_name("store.db")).scoped("local").readings
    for expected in ([], ["2026-04-03", "2026-06-05"]):
        (namespace,) = Systems(model="demo", bank=(str(april),)).namespaces(kept)
        invoke = await connected(namespace)
        assert days(invoke) == expected
        invoke("read_as", file="april.csv", day_first=True)


async def test_a_currency_for_a_file_that_names_another_is_refused(april: Path) -> None:
    write(april, "Date;Amount;Currency\n2026-09-14;1.50;EUR\n")
    invoke = await connected(bank(april))
    with pytest.raises(NamespaceError, match=r"itself \(EUR\), so currency='PLN' cannot be"):
        invoke("read_as", file="april.csv", currency="PLN")


async def test_the_currency_of_a_bai2_file_without_one_is_decided(tmp_path: Path) -> None:
    head, entry = "01,A,B,260930,0000,1,,,2/\n02,A,B,1,260930,,,2/\n03,77,,,,,/\n", "16,475,250,Z,R,,x/\n"
    write(tmp_path / "a.bai", f"{head}{entry}49,250,3/\n98,250,1,5/\n99,250,1,7/\n")
    invoke = await connected(bank(tmp_path / "a.bai"))
    assert invoke("read_as", file="a.bai", currency="CAD")["kept_for"] == "account 77"
    assert invoke("list_transactions")["sums"] == {"CAD": "-2.50"}
    assert "amounts are taken as CAD, as decided for account 77 on 2026-11-30" in told(invoke)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"file": "x.csv", "day_first": True}, "there is no one file 'x.csv'; there are: 'april.csv'"),
        ({"file": "april.csv"}, "say one of day_first, decimal, currency and columns"),
        ({"file": "april.csv", "forget": True, "decimal": ","}, "or forget=true, and nothing else"),
        ({"file": "april.csv", "columns": {"when": "Date"}}, "there is no role 'when'; the roles are date,"),
        ({"file": "april.csv", "columns": {"date": "Datum"}}, "there is no column 'Datum'"),
    ],
)
async def test_a_call_that_decides_nothing_says_what_would_be_right(
    april: Path, arguments: dict[str, JsonValue], why: str
) -> None:
    invoke = await connected(bank(april))
    with pytest.raises(NamespaceError, match=why):
        invoke("read_as", **arguments)


async def test_a_qif_file_is_decided_and_the_next_one_of_its_account_with_it(tmp_path: Path) -> None:
    kept = MemoryReadings()
    text = "!Account\nNGiro\nTBank\n^\n!Type:Bank\nD03/04/2026\nT-1.50\nPRent\n^\n"
    write(tmp_path / "a.qif", text)
    write(tmp_path / "b.qif", text.replace("03/04", "05/06"))
    invoke = await connected(bank(tmp_path / "a.qif", readings=kept))
    assert invoke("read_as", file="a.qif", day_first=False)["kept_for"] == "account Giro"
    invoke = await connected(bank(tmp_path / "b.qif", readings=kept))
    assert days(invoke) == ["2026-05-06"]
    assert "read month first, as decided for account Giro on 2026-11-30" in told(invoke)


async def test_a_workbook_with_texts_for_dates_is_decided_too(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(workbook([["Date", "Amount"], ["03/04/2026", 1.5]]))
    invoke = await connected(bank(tmp_path / "a.xlsx"))
    invoke("read_as", file="a.xlsx", day_first=True)
    assert days(invoke) == ["2026-04-03"]


async def test_the_books_are_decided_by_the_same_tool(tmp_path: Path) -> None:
    path = tmp_path / "gl.csv"
    write(path, "Date;Account;Debit;Credit\n03/04/2026;1200 Bank;1.50;\n03/04/2026;4000 Sales;;1.50\n")
    invoke = await connected(Ledger([path]))
    invoke("read_as", file="gl.csv", day_first=False)
    (line,) = invoke("get_gl_detail", account="1200")["lines"]
    assert line["date"] == "2026-03-04"


async def test_a_decision_outlives_the_process_and_is_one_tenants(april: Path) -> None:
    path = april.with_name("store.db")
    invoke = await connected(bank(april, readings=SqliteStore(path).scoped("a").readings))
    invoke("read_as", file="april.csv", day_first=True)
    other = SqliteStore(path)
    assert days(await connected(bank(april, readings=other.scoped("a").readings))) == [
        "2026-04-03",
        "2026-06-05",
    ]
    assert days(await connected(bank(april, readings=other.scoped("b").readings))) == []


class Counting(Bank):
    """Counts how often it reads a file."""

    reads = 0

    def read(self, source: Source, conventions: Conventions) -> StatementFile:
        self.reads += 1
        return super().read(source, conventions)


async def test_files_are_read_again_only_when_they_change(april: Path) -> None:
    other = april.with_name("may.csv")
    write(other, OPEN.replace("03/04", "31/05").replace("DE1", "DE2"))
    files = Counting([april, other])
    invoke = await connected(files)
    one = files.contents()
    assert (files.contents() is one, files.reads) == (True, 2)
    write(other, OPEN.replace("03/04", "30/05").replace("DE1", "DE2") + "DE2;31/05/2026;Fee;-1.50\n")
    assert len(days(invoke)) == 3
    assert files.reads == 3


def test_threads_that_ask_at_once_share_one_reading(april: Path) -> None:
    write(april, OPEN.replace("03/04", "31/05"))
    files = Counting([april])
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(files.contents) for _ in range(32)]
    found = [each.result() for each in asked]
    assert ({id(each) for each in found}, files.reads) == ({id(found[0])}, 1)


async def test_the_same_file_under_two_names_counts_once_and_is_told(april: Path) -> None:
    write(april, OPEN.replace("03/04", "31/05"))
    again = april.with_name("april (1).csv")
    write(again, OPEN.replace("03/04", "31/05"))
    for files in ([april, again], [april, april]):
        invoke = await connected(Bank(files))
        assert len(days(invoke)) == 2
        assert any("is the same file as april" in what for what in told(invoke))
