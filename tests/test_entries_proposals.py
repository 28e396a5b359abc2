"""What a proposed entry is checked for, its canonical form, and the records that an answer may cite."""

import datetime
from pathlib import Path

import pytest
from pydantic import JsonValue

from entries_books import GL, SHOWN, Desk, Json, desk, desk_over, entry, line
from offing.namespaces.records import by_tool
from offing.namespaces.tool import Effect

pytestmark = pytest.mark.anyio
Given = dict[str, JsonValue]


async def problems(books: Desk, given: Given) -> list[str]:
    output = books.call("propose_entry", entry=given)
    content: Json = output.content
    assert output.error, content
    assert output.records == ()
    return content["refused"]


async def notices(books: Desk, given: Given) -> list[str]:
    return [each["what"] for each in books.propose(given)["notices"]]


async def test_only_posting_changes_anything_and_a_person_has_to_approve_it(tmp_path: Path) -> None:
    tools = (await desk_over(tmp_path, GL)).tools
    assert {
        name: (each.effect, each.destructive, each.write_set, each.inspect is not None)
        for name, each in tools.items()
    } == {
        "propose_entry": (Effect.READ, False, frozenset(), False),
        "reverse_entry": (Effect.READ, False, frozenset(), False),
        "post_entry": (Effect.ONCE, True, frozenset({"books"}), True),
    }


async def test_a_proposal_is_the_whole_entry_with_a_record_for_each_figure(tmp_path: Path) -> None:
    books = await desk_over(tmp_path, GL)
    given = entry(line("7000", "28.5"), line("1200", "-28.5", evidence=[]), reference=" STMT  9 ")
    output = books.call("propose_entry", entry=given)
    content: Json = output.content
    name = content["proposal"]
    own = f"entries:proposal/{name}"
    assert content == {
        "proposal": name,
        "entry": {
            "date": "2026-09-30",
            "text": "Charges September",
            "reference": "STMT 9",
            "file": "gl.csv",
            "lines": [
                {"account": "7000 Bank charges", "debit": "28.50", "currency": "GBP", "evidence": SHOWN},
                {"account": "1200 Bank", "credit": "28.50", "currency": "GBP"},
            ],
        },
        "line_records": [f"{own}/1", f"{own}/2"],
        "total": [{"value": "28.50", "record": f"{own}/total", "currency": "GBP"}],
        "balances": {
            "date": "2026-09-30",
            "accounts": [
                {
                    "account": "7000 Bank charges",
                    "before": {
                        "value": "3.00",
                        "record": "ledger:balance/7000-Bank-charges/2026-09-30/computed",
                    },
                    "after": {"value": "31.50", "record": f"{own}/after/7000-Bank-charges"},
                },
                {
                    "account": "1200 Bank",
                    "before": {"value": "82.00", "record": "ledger:balance/1200-Bank/2026-09-30/computed"},
                    "after": {"value": "53.50", "record": f"{own}/after/1200-Bank"},
                },
            ],
        },
        "as_written": (
            "offing-...,30/09/2026,7000,Bank charges,Charges September,STMT 9,28.50,,GBP\n"
            "offing-...,30/09/2026,1200,Bank,Charges September,STMT 9,,28.50,GBP"
        ),
        "format": "csv",
        "notices": [
            {"what": "line 1: '7000' is taken for '7000 Bank charges'"},
            {"what": "line 2: '1200' is taken for '1200 Bank'"},
        ],
    }
    cited = {each.id: (str(each.amount), each.currency, each.derivation) for each in output.records}
    assert cited[f"{own}/2"] == ("-28.50", "GBP", None)
    before = "ledger:balance/1200-Bank/2026-09-30/computed"
    assert cited[before][2] == by_tool("ledger__get_balance", {"account": "1200 Bank", "date": "2026-09-30"})
    assert cited[f"{own}/after/1200-Bank"] == (
        "53.50",
        "GBP",
        f'{{"expression": "sum(plus)", "inputs": {{"plus": ["{before}", "{own}/2"]}}}}',
    )
    assert (tmp_path / "gl.csv").read_text() == GL


async def test_the_same_content_is_the_same_proposal_however_it_is_worded(tmp_path: Path) -> None:
    books = await desk_over(tmp_path, GL)
    loose = books.propose(entry(line("7000", "28.5"), line("1200", "-28.500")))
    again = books.propose(loose["entry"])
    assert (again["proposal"], again["entry"], again["notices"]) == (loose["proposal"], loose["entry"], [])
    other = books.propose(entry(text="Charges for September"))
    assert other["proposal"] != loose["proposal"]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            [line("7000", "28.50"), line("1200", "-28.05")],
            "GBP does not balance: debits 28.50, credits 28.05; line 2 with a credit of 28.50,"
            " or another line with a credit of 0.45, would balance it",
        ),
        (
            [line("7000", "1"), line("1200", "2")],
            "GBP does not balance: debits 3.00, credits 0.00; it needs another line with a credit of 3.00",
        ),
        (
            [line("7000", "1.005"), line("1200", "-1.005")],
            "line 1: 1.005 has more than the 2 decimals of GBP",
        ),
        (
            [{"account": "1200"}, line("7000", "1")],
            "line 1: '1200' needs either a debit or a credit",
        ),
        (
            [{"account": "1200", "debit": "1", "credit": "1"}, line("7000", "1")],
            "line 1: '1200' needs either a debit or a credit",
        ),
        (
            [line("7000 Bnk charges", "1"), line("1200", "-1")],
            "line 1: there is no one account '7000 Bnk charges' in the books; the nearest are"
            " '7000 Bank charges'; for a new one set new_account",
        ),
        (
            [line("7900", "1"), line("1200", "-1")],
            "line 1: there is no one account '7900' in the books; the nearest are '7000 Bank charges';"
            " for a new one set new_account",
        ),
        (
            [line("7000", "1", currency="EUR"), line("1200", "-1")],
            "line 1: '7000 Bank charges' is kept in GBP, not in EUR; if it is to hold that too,"
            " set new_account",
        ),
        (
            [line("7000", "1", evidence=["txn 8123"]), line("1200", "-1")],
            "line 1: 'txn 8123' is no record id, such as bank:txn/2026-09-14/8123",
        ),
        (
            [line("7000", "1", evidence=["ledger:line/2026-09-30/12-1"]), line("1200", "-1")],
            "line 1: the books have no line 'ledger:line/2026-09-30/12-1'",
        ),
        (
            [line("=HYPERLINK(A1)", "1", new_account=True), line("1200", "-1")],
            "line 1: '=HYPERLINK(A1)': a spreadsheet would take it for a formula: let no part of it begin"
            " with = + - or @",
        ),
    ],
)
async def test_what_is_wrong_is_told_with_what_would_be_right(
    tmp_path: Path, lines: list[Given], told: str
) -> None:
    assert (await problems(await desk_over(tmp_path, GL), entry(*lines)))[0] == told


@pytest.mark.parametrize("amount", ["0", "-1", "NaN", "Infinity", "1e40", "1.2.3"])
async def test_an_amount_that_is_none_is_told_and_nothing_raises(tmp_path: Path, amount: str) -> None:
    books = await desk_over(tmp_path, GL)
    bad: Given = {"account": "1200", "debit": amount}
    assert books.call("propose_entry", entry=entry(bad, line("7000", "1"))).error


@pytest.mark.parametrize(
    "text",
    ["=cmd|' /C calc'!A0", "+441", "-5", "@SUM(A1)", 'a;"=1+1"', "x,  =2", "' =1", "a\u202eb", "a\x07b"],
)
async def test_a_text_that_would_run_or_mislead_is_refused(tmp_path: Path, text: str) -> None:
    books = await desk_over(tmp_path, GL)
    for where in ({"text": text}, {"reference": text}):
        assert await problems(books, entry(**where))
    assert await problems(books, entry(line("7000", "1", text=text), line("1200", "-1")))


async def test_digits_of_a_currency_are_its_own(tmp_path: Path) -> None:
    gl = "Date,Account,Text,Amount,Currency\n2026-09-14,Cash,x,{0},{1}\n2026-09-14,Sales,x,-{0},{1}\n"
    yen = await desk_over(tmp_path, gl.format("500", "JPY"), "yen.csv")
    dinar = await desk_over(tmp_path, gl.format("0.125", "KWD"), "dinar.csv")
    for books, good, bad in ((yen, "7", "7.5"), (dinar, "7.125", "7.1255")):
        assert (
            books.canonical(entry(line("Cash", good), line("Sales", f"-{good}")))["lines"][0]["debit"] == good
        )
        assert "decimals" in (await problems(books, entry(line("Cash", bad), line("Sales", f"-{bad}"))))[0]


async def test_a_day_in_a_closed_period_is_refused_and_one_outside_the_books_is_told(tmp_path: Path) -> None:
    books = await desk_over(tmp_path, GL, closed_until=datetime.date(2026, 8, 31))
    told = "date: 2026-08-31 is in a closed period: the books are closed until 2026-08-31"
    assert await problems(books, entry(date="2026-08-31")) == [told]
    outside = "2026-10-01 is outside the days of the books, 2026-09-14 to 2026-09-30"
    assert await notices(books, entry(date="2026-10-01")) == [outside]


async def test_an_entry_that_is_there_already_is_told_with_its_record(tmp_path: Path) -> None:
    books = await desk_over(tmp_path, GL)
    sale = entry(line("1200 Bank", "25.00"), line("4000 Sales", "-25.00"), date="2026-09-14")
    other_day = {**sale, "date": "2026-09-15"}
    same_reference = {**other_day, "reference": "INV 9"}
    for given, expected in ((sale, True), (other_day, False), (same_reference, True)):
        found = [each["record"] for each in books.propose(given)["notices"] if "record" in each]
        assert found == (["ledger:line/2026-09-14/7-1"] if expected else [])


async def test_an_entry_that_nothing_shows_is_told(tmp_path: Path) -> None:
    bare = entry(line("7000 Bank charges", "1", evidence=[]), line("1200 Bank", "-1", evidence=[]))
    assert await notices(await desk_over(tmp_path, GL), bare) == [
        "no line names evidence: say by which records the entry is shown"
    ]


async def test_a_new_account_is_only_made_when_it_is_asked_for(tmp_path: Path) -> None:
    books = await desk_over(tmp_path, GL)
    given = entry(line("7010 FX differences", "1", new_account=True), line("1200 Bank", "-1"))
    proposed = books.propose(given)
    assert proposed["entry"]["lines"][0] == {
        "account": "7010 FX differences",
        "debit": "1.00",
        "currency": "GBP",
        "new_account": True,
        "evidence": SHOWN,
    }
    assert proposed["notices"] == [{"what": "'7010 FX differences' GBP is a new account"}]
    assert "7010,FX differences," in proposed["as_written"]
    known = books.propose(entry(line("7000 Bank charges", "1", new_account=True), line("1200 Bank", "-1")))
    assert "new_account" not in known["entry"]["lines"][0]


async def test_of_several_files_one_has_to_be_named(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(GL.replace("7,14", f"{name[0]}7,14"))
    books = await desk([tmp_path / "a.csv", tmp_path / "b.csv"])
    told = "the books are several files: say with `file` which it is for, one of 'a.csv', 'b.csv'"
    assert await problems(books, entry()) == [told]
    assert books.propose(entry(file="b.csv"))["entry"]["file"] == "b.csv"
    (tmp_path / "b.csv").write_text(GL.replace("7000,Bank charges", "7001,Fees"))
    assert await notices(books, entry(file="b.csv")) == [
        "b.csv has no line of '7000 Bank charges'; a.csv has"
    ]
    unknown = "there is no file 'c.csv' among the books; there are: 'a.csv', 'b.csv'"
    assert await problems(books, entry(file="c.csv")) == [unknown]


async def test_a_reversal_takes_each_line_back_with_that_line_as_its_evidence(tmp_path: Path) -> None:
    books = await desk_over(tmp_path, GL)
    output = books.call("reverse_entry", journal="8", date="2026-09-30", text="Rent was entered twice")
    content: Json = output.content
    assert content["entry"] == {
        "date": "2026-09-30",
        "text": "Rent was entered twice",
        "reference": "reverses 8",
        "file": "gl.csv",
        "lines": [
            {
                "account": "5000 Rent",
                "credit": "40.00",
                "currency": "GBP",
                "evidence": ["ledger:line/2026-09-30/8-1"],
            },
            {
                "account": "1200 Bank",
                "debit": "40.00",
                "currency": "GBP",
                "evidence": ["ledger:line/2026-09-30/8-2"],
            },
        ],
    }
    books.call("post_entry", entry=content["entry"])
    again: Json = books.call("reverse_entry", journal="8", date="2026-10-02", text="Again").content
    assert "is it to be entered twice?" in str(again["notices"])
