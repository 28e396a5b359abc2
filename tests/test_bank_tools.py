"""The bank namespace as a session sees it: its tools, their records, and files that cannot be read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from offing.namespaces.bank import Bank
from offing.namespaces.errors import NamespaceError
from offing.namespaces.tool import Effect, Namespace, Tool, ToolContext, ToolOutput

Json = Any
SEPTEMBER = """Account;Date;Text;Amount;Balance;Currency
DE1;2026-09-01;Rent September;-900.00;1100.00;EUR
DE1;2026-09-14;Client A;250.00;1350.00;EUR
DE1;2026-09-14;Client A;250.00;1600.00;EUR
DE1;2026-09-30;Fee;-5.00;1595.00;EUR
"""
OFX = """<OFX><STMTRS><CURDEF>GBP<BANKACCTFROM><ACCTID>20451255</BANKACCTFROM><BANKTRANLIST>
<STMTTRN><DTPOSTED>20260914<TRNAMT>-5.00<FITID>7]] [x<NAME>Courier</STMTTRN>
<STMTTRN><DTPOSTED>20260914<TRNAMT>-5.00<FITID>7]] [x<NAME>Courier</STMTTRN>
</BANKTRANLIST><LEDGERBAL><BALAMT>90.00<DTASOF>20261005</LEDGERBAL></STMTRS></OFX>
"""


async def no_bytes(handle: str) -> bytes:
    raise KeyError(handle)


def ignore(_message: str) -> None:
    pass


CONTEXT = ToolContext("run", "1.1", "key", {}, ignore, no_bytes)
Invoke = Callable[..., ToolOutput]


async def connected(namespace: Namespace) -> Invoke:
    """A function that calls the tools of a namespace by name."""
    async with namespace.connect({}) as tools:
        by_name = {tool.name: tool for tool in tools}

    def invoke(tool: str, **arguments: JsonValue) -> ToolOutput:
        output = by_name[tool].call(arguments, CONTEXT)
        assert isinstance(output, ToolOutput)
        return output

    return invoke


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    (tmp_path / "september.csv").write_text(SEPTEMBER)
    (tmp_path / "gbp.ofx").write_text(OFX)
    return [tmp_path / "september.csv", tmp_path / "gbp.ofx"]


async def tools_of(namespace: Namespace) -> list[Tool]:
    async with namespace.connect({}) as tools:
        return list(tools)


@pytest.mark.anyio
async def test_every_tool_but_the_one_that_keeps_a_decision_only_reads_and_the_guide_is_there(
    files: list[Path],
) -> None:
    bank = Bank(files)
    tools = await tools_of(bank)
    names = ["list_accounts", "list_transactions", "get_transaction", "get_balance"]
    assert [tool.name for tool in tools] == [*names, "read_as"]
    assert [tool.effect for tool in tools] == [*[Effect.READ] * 4, Effect.REPEATABLE]
    assert bank.guide is not None
    assert bank.guide.read_text().startswith("---\nname: bank\n")


@pytest.mark.anyio
async def test_accounts_are_listed_with_sums_and_balances_that_can_be_cited(
    files: list[Path],
) -> None:
    output = (await connected(Bank(files)))("list_accounts")
    content: Json = output.content
    listed = {each["account"]: each for each in content["accounts"]}
    assert listed["DE1"] == {
        "account": "DE1",
        "currency": "EUR",
        "files": ["september.csv"],
        "first": "2026-09-01",
        "last": "2026-09-30",
        "transactions": {"value": "4", "record": "bank:total/DE1/transactions"},
        "credits": {"value": "500.00", "record": "bank:total/DE1/credits"},
        "debits": {"value": "-905.00", "record": "bank:total/DE1/debits"},
        "balances": [
            {
                "kind": "opening",
                "date": "2026-09-01",
                "amount": "2000.00",
                "currency": "EUR",
                "record": "bank:balance/DE1/2026-09-01/opening",
            },
            {
                "kind": "closing",
                "date": "2026-09-30",
                "amount": "1595.00",
                "currency": "EUR",
                "record": "bank:balance/DE1/2026-09-30/closing",
            },
        ],
        "does_not_tie_by": [],
    }
    cited = {each.id: str(each.amount) for each in output.records}
    assert cited["bank:balance/DE1/2026-09-30/closing"] == "1595.00"
    assert cited["bank:total/DE1/debits"] == "-905.00"


@pytest.mark.anyio
async def test_record_ids_are_unique_and_break_no_link(files: list[Path]) -> None:
    output = (await connected(Bank(files)))("list_transactions")
    ids = [record.id for record in output.records]
    assert len(set(ids)) == len(ids) == 6
    assert "bank:txn/2026-09-14/7-x" in ids
    assert "bank:txn/2026-09-14/7-x.2" in ids
    assert [each for each in ids if set(each) & set("[] \n")] == []
    assert {(record.file, record.row) for record in output.records} >= {("september.csv", 2)}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("asked", "rows"),
    [
        ({"account": "DE1"}, [2, 3, 4, 5]),
        ({"account": "1255"}, [2, 3]),
        ({"from": "2026-09-02", "to": "2026-09-14", "account": "de1"}, [3, 4]),
        ({"text": "client"}, [3, 4]),
        ({"min_amount": "250", "max_amount": 250}, [3, 4]),
        ({"direction": "out", "account": "DE1"}, [2, 5]),
        ({"account": "DE1", "limit": 2, "offset": 1}, [3, 4]),
    ],
)
async def test_transactions_are_chosen_by_what_is_asked(
    files: list[Path], asked: dict[str, JsonValue], rows: list[int]
) -> None:
    output = (await connected(Bank(files)))("list_transactions", **asked)
    assert [record.row for record in output.records] == rows


@pytest.mark.anyio
async def test_a_page_says_where_the_next_begins_and_sums_do_not_mix(files: list[Path]) -> None:
    output = (await connected(Bank(files)))("list_transactions", limit=2)
    content: Json = output.content
    assert (content["total"], content["next_offset"]) == (6, 2)
    assert content["sums"] == {"EUR": "-405.00", "GBP": "-10.00"}


@pytest.mark.anyio
async def test_a_balance_is_worked_out_from_the_nearest_stated_one(files: list[Path]) -> None:
    invoke = await connected(Bank(files))
    days = {"2026-08-31": "2000.00", "2026-09-13": "1100.00", "2026-09-30": "1595.00"}
    for day, amount in days.items():
        (record,) = invoke("get_balance", account="DE1", date=day).records
        assert str(record.amount) == amount
    (before,) = invoke("get_balance", account="20451255", date="2026-09-13").records
    assert str(before.amount) == "100.00"


@pytest.mark.anyio
async def test_a_wrong_name_is_answered_with_the_right_ones(files: list[Path]) -> None:
    invoke = await connected(Bank(files))
    with pytest.raises(NamespaceError, match="no one account 'X'; there are: '20451255', 'DE1'"):
        invoke("list_transactions", account="X")
    with pytest.raises(NamespaceError, match="no transaction 'bank:txn/nope'"):
        invoke("get_transaction", record="bank:txn/nope")
    assert invoke("list_transactions", **{"from": "yesterday"}).error


@pytest.mark.anyio
async def test_one_transaction_is_shown_whole(files: list[Path]) -> None:
    output = (await connected(Bank(files)))("get_transaction", record="bank:txn/2026-09-01/L2")
    assert output.content == {
        "account": "DE1",
        "record": "bank:txn/2026-09-01/L2",
        "date": "2026-09-01",
        "amount": "-900.00",
        "currency": "EUR",
        "name": "",
        "text": "Rent September",
        "bank_reference": "",
        "file": "september.csv",
        "row": 2,
    }


@pytest.mark.anyio
async def test_a_bad_file_among_good_ones_is_told_and_the_others_work(files: list[Path]) -> None:
    open_order = files[0].with_name("open.csv")
    open_order.write_text("Date;Amount\n03/04/2026;1.50\n")
    missing = files[0].with_name("missing.ofx")
    output = (await connected(Bank([missing, *files, open_order])))("list_accounts")
    content: Json = output.content
    assert [each["account"] for each in content["accounts"]] == ["20451255", "DE1"]
    errors = [each for each in content["findings"] if each["severity"] == "error"]
    assert [each["where"] for each in errors] == ["missing.ofx", "open.csv line 2"]
    assert "day_first=" in errors[1]["what"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "why"),
    [("missing.ofx", "there is no such file"), (".", "is a folder"), ("nul\0", "cannot be read")],
)
async def test_a_namespace_without_one_good_file_does_not_connect(
    tmp_path: Path, name: str, why: str
) -> None:
    with pytest.raises(NamespaceError, match=why):
        await tools_of(Bank([tmp_path / name]))


@pytest.mark.anyio
async def test_a_namespace_without_files_does_not_connect() -> None:
    with pytest.raises(NamespaceError, match="bank has no files"):
        await tools_of(Bank([]))


@pytest.mark.anyio
async def test_an_entry_that_two_files_share_is_counted_once(files: list[Path]) -> None:
    again = files[1].with_name("gbp_again.ofx")
    again.write_text(OFX.replace("OFX>", "OFX>\n"))
    output = (await connected(Bank([files[1], again])))("list_accounts")
    content: Json = output.content
    assert content["accounts"][0]["transactions"]["value"] == "2"
    told = [each["what"] for each in content["findings"]]
    assert "2 entries of 2026-09-14 are in gbp.ofx as well: counted once" in told


@pytest.mark.anyio
async def test_entries_missing_between_two_files_are_told(tmp_path: Path) -> None:
    later = OFX.replace("20260914", "20261114").replace("20261005", "20261130")
    (tmp_path / "a.ofx").write_text(OFX)
    (tmp_path / "b.ofx").write_text(later.replace("90.00", "60.00").replace("7]]", "8]]"))
    output = (await connected(Bank([tmp_path / "b.ofx", tmp_path / "a.ofx"])))("list_accounts")
    content: Json = output.content
    (error,) = (each for each in content["findings"] if each["severity"] == "error")
    assert "-20.00 is not in any file: entries are missing" in error["what"]


@pytest.mark.anyio
async def test_the_order_of_the_files_changes_nothing(files: list[Path]) -> None:
    one = (await connected(Bank(files)))("list_transactions")
    other = (await connected(Bank(files[::-1])))("list_transactions")
    assert one == other
