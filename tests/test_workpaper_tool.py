"""The tool that makes the statement: several accounts at once, with what the month before left open."""

import datetime
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from inline_snapshot import snapshot

from offing.engine import ApprovalPolicy, ApprovalRule, Call, Engine, Scripted, Step
from offing.engine.cli.demo import ACCOUNTS, OCTOBER, SEPTEMBER, DemoMonth
from offing.engine.store.facts import Settled
from offing.namespaces.bank import Bank
from offing.namespaces.errors import NamespaceError
from offing.namespaces.ledger import Ledger
from offing.namespaces.matching import Matching
from offing.namespaces.tool import ToolOutput
from test_bank_tools import connected
from worlds import outside

Json = Any
DAY = datetime.date(2026, 11, 2)


def matching(month: DemoMonth, carried: Path | None = None) -> Matching:
    return Matching(Bank(month.bank), Ledger(month.ledger), carried=carried, today=lambda: DAY)


def stated(invoke: Callable[..., ToolOutput], month: DemoMonth, *which: int) -> ToolOutput:
    accounts = [
        {"bank_account": each.bank, "ledger_account": each.ledger, "entity": each.entity}
        for each in (ACCOUNTS[number] for number in which)
    ]
    given: Json = {"accounts": accounts, "from": month.start, "to": month.end, "tolerance": "0.05"}
    return invoke("make_statement", **given)


@pytest.mark.anyio
async def test_it_gives_both_files_and_a_record_for_each_figure() -> None:
    made = stated(await connected(matching(SEPTEMBER)), SEPTEMBER, 0, 3)
    content: Json = made.content
    names = [each.name for each in made.attachments]
    assert names == ["statement-2026-09.xlsx", "statement-2026-09.csv"]
    assert f",Made on,{DAY}," in made.attachments[1].data.decode("utf-8-sig")
    told = [(each["difference"]["value"], each["unexplained"]["value"]) for each in content["accounts"]]
    assert told == [("-1134.10", "0.00"), ("-14462.00", "0.00")]
    assert {each.id for each in made.records} == {
        each[name]["record"] for each in content["accounts"] for name in ("difference", "unexplained")
    }
    assert [each["file"] for each in content["inputs"]] == [
        path.name for path in (*SEPTEMBER.bank, *SEPTEMBER.ledger)
    ]
    assert content["approved_by"] is None


@pytest.mark.anyio
async def test_a_statement_that_a_person_has_to_approve_says_who_did_and_when() -> None:
    account = {"bank_account": ACCOUNTS[0].bank, "ledger_account": ACCOUNTS[0].ledger}
    given: Json = {"accounts": [account], "from": "2026-09-01", "to": "2026-09-30", "preparer": "A. Lund"}
    call = Call("matching__invoke_tool", {"tool": "make_statement", "arguments": given})
    bank, ledger = Bank(SEPTEMBER.bank), Ledger(SEPTEMBER.ledger)
    model = Scripted([Step(calls=[call]), "Made."])
    policy = ApprovalPolicy((ApprovalRule("matching__make_statement", "ask"),))
    systems = [bank, ledger, Matching(bank, ledger, today=lambda: DAY)]
    async with Engine(model, systems, approvals=policy, outside=outside()) as engine:
        session = engine.session("s")
        [request] = (await session.ask("Make the statement.")).approvals
        await engine.inbox.approve("s.1", request.call, by="E. Farrow", digest=request.digest)
        assert (await (await session.resume("s.1")).result()).answered
        facts = [row.fact async for row in engine.store.journal.read("s")]
        [settled] = [fact for fact in facts if isinstance(fact, Settled)]
        xlsx, flat = [await engine.store.artifacts.get(each.ref) for each in settled.stored]
    assert request.preview == snapshot("""\
The reconciliation statement:
- 55120944, in the books 1200 Operating account 55120944:
  difference -1134.10, unexplained 0.00; 9 items, 11 carried forward\
""")
    approved = [line for line in flat.decode("utf-8-sig").splitlines() if "Approved by" in line]
    assert approved == [
        "Statement,,,,,Approved by,2026-09-14,,,,E. Farrow,at 2026-09-14 08:00 UTC,,,",
    ]
    summary = openpyxl.load_workbook(io.BytesIO(xlsx))["Summary"].iter_rows(values_only=True)
    assert ("Approved by", "E. Farrow", "2026-09-14 08:00 UTC") in [row[:3] for row in summary]
    assert '"approved_by":"E. Farrow"' in settled.result.content


@pytest.mark.anyio
async def test_what_the_month_before_left_open_takes_part_in_every_reconciliation(tmp_path: Path) -> None:
    september = stated(await connected(matching(SEPTEMBER)), SEPTEMBER, 3)
    before = tmp_path / "statement-2026-09.csv"
    before.write_bytes(september.attachments[1].data)
    invoke = await connected(matching(OCTOBER, before))
    account = {"bank_account": ACCOUNTS[3].bank, "ledger_account": ACCOUNTS[3].ledger}
    october: Json = invoke("reconcile", **account, **{"from": OCTOBER.start, "to": OCTOBER.end}).content
    assert october["carried_forward"]["carried_count"]["value"] == "3"
    assert [each["amount"] for each in october["cleared"]["items"]] == ["1943.75", "-18.25", "12500.00"]
    later: Json = invoke("reconcile", **account, **{"from": "2026-10-15", "to": OCTOBER.end}).content
    assert "carried_forward" not in later or later["carried_forward"]["carried_count"]["value"] != "3"


@pytest.mark.anyio
async def test_an_account_that_is_named_twice_is_refused() -> None:
    invoke = await connected(matching(SEPTEMBER))
    with pytest.raises(NamespaceError, match="'55120944' is there 2 times"):
        stated(invoke, SEPTEMBER, 0, 0)


@pytest.mark.anyio
async def test_a_damaged_statement_of_the_month_before_is_the_reason_it_does_not_connect(
    tmp_path: Path,
) -> None:
    broken = tmp_path / "statement-2026-09.csv"
    broken.write_text("Section,Entity\n")
    with pytest.raises(
        NamespaceError, match=r"statement-2026-09\.csv line 1: 'Section,Entity': is not the header"
    ):
        await connected(matching(OCTOBER, broken))
