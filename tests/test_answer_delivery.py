"""An answer before it is delivered: sent back once with what is wrong, then given with its figures marked."""

from decimal import Decimal
from typing import Any

import pytest
from inline_snapshot import snapshot
from pydantic import BaseModel

from loopback import Answer, Loopback, Text, ToolUse, in_order
from offing.engine import Engine, Limits, Result, Scripted, Step
from offing.engine.errors import ConfigurationError
from offing.engine.store.facts import CheckMode, Figure
from offing.namespaces import Effect, FunctionNamespace, Record, ToolContext, ToolOutput
from worlds import Claude, Given, async_tool, invoke, outside

FEE = Record("bank:txn/1", Decimal("-12.50"), "GBP", text="CHARGE *SEPT*", file="sept.ofx", row=7)
RIGHT = "The fee was 12.50 GBP [[bank:txn/1]]."
WRONG = "The fee was 15.20 GBP [[bank:txn/1]], 3.00 GBP more than [[bank:txn/9]]."
PROBLEM = "bank:txn/1 says -12.50 GBP"


async def _look(arguments: Given, context: ToolContext) -> ToolOutput:
    return ToolOutput("one charge", (FEE,))


BANK = FunctionNamespace("bank", [async_tool(_look, "look", effect=Effect.READ)])
LOOK = Step(calls=[invoke("look", ns="bank")])


async def ask(*steps: Step | str, check: CheckMode = "auto", limits: Limits | None = None) -> Result:
    async with Engine(Scripted(steps), [BANK], check=check, limits=limits, outside=outside()) as engine:
        return await engine.ask("What was charged?")


async def test_an_answer_whose_figures_agree_is_delivered_at_once() -> None:
    result = await ask(LOOK, RIGHT)
    assert (result.iterations, result.figures) == (2, (Figure("12.50 GBP", 12, 21, ("bank:txn/1",)),))
    assert result.unlinked == ()


async def test_a_wrong_figure_is_sent_back_and_the_corrected_answer_delivered() -> None:
    result = await ask(LOOK, WRONG, RIGHT)
    assert (result.iterations, result.answer, result.unlinked) == (3, RIGHT, ())


async def test_one_that_stays_wrong_is_delivered_with_its_figures_marked() -> None:
    result = await ask(LOOK, RIGHT.replace("12.50", "15.20"), RIGHT.replace("12.50", "15.20"))
    assert result.answered
    assert result.unlinked == (Figure("15.20 GBP", 12, 21, ("bank:txn/1",), PROBLEM),)
    assert result.text() == snapshot("""\
The fee was 15.20 GBP [not linked] [1].

Not linked to a record that says the same:
- 15.20 GBP: bank:txn/1 says -12.50 GBP

Sources
[1] bank:txn/1: CHARGE *SEPT* | -12.50 GBP | sept.ofx:7\
""")
    assert result.markdown() == snapshot("""\
The fee was 15.20 GBP **[not linked]** [^1].

Not linked to a record that says the same:
- 15.20 GBP: bank:txn/1 says -12.50 GBP

[^1]: bank:txn/1: CHARGE \\*SEPT\\* \\| -12.50 GBP \\| sept.ofx:7\
""")
    shown: Any = result.to_json()
    assert shown["figures"] == [
        {
            "text": "15.20 GBP",
            "start": 12,
            "end": 21,
            "records": ["bank:txn/1"],
            "linked": False,
            "problem": PROBLEM,
        }
    ]
    assert shown["citations"][0]["record"]["file"] == "sept.ofx"


async def test_what_the_model_is_told_of_its_answer_is_appended() -> None:
    look = ToolUse("bank__invoke_tool", {"tool": "look", "arguments": {}})
    answers = [Answer([look]), Answer([Text(WRONG)]), Answer([Text(RIGHT)])]
    with Loopback(in_order(answers)) as server:
        async with Engine(Claude(server), [BANK], outside=outside()) as engine:
            await engine.ask("What was charged?")
        sent = server.requests[-1].json
    roles = [message["role"] for message in sent["messages"]]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    assert sent["messages"][-1]["content"][0]["text"] == snapshot("""\
<note>Your answer was checked before delivery. Not right yet:
- 15.20 GBP: bank:txn/1 says -12.50 GBP
- 3.00 GBP: has no source
- [[bank:txn/9]]: there is no record bank:txn/9; did you mean bank:txn/1?
Give the whole answer again, corrected. Behind each figure cite a record that says just this, with its sign and currency, of that time. Look up or `calculate` what has no record yet; leave out a figure that you cannot source, or say that it is not established.</note>\
""")  # noqa: E501


REPORT = (
    "Fees of September, from the statement of the operating account:\n\n"
    "- the charge was 12.50 GBP [[bank:txn/1]]\n- what was paid back: 4.00 GBP [[bank:txn/2]]\n"
    "- the charge for transfers: 19.00 GBP [[bank:txn/3]]\n"
)
THREE = (
    FEE,
    Record("bank:txn/2", Decimal("4.00"), "GBP", text="REFUND"),
    Record("bank:txn/3", Decimal("-9.00"), "GBP", text="TRANSFERS"),
)


async def ask_of_three(second: str) -> Result:
    async def _look_at_all(arguments: Given, context: ToolContext) -> ToolOutput:
        return ToolOutput("three lines", THREE)

    bank = FunctionNamespace("bank", [async_tool(_look_at_all, "look", effect=Effect.READ)])
    async with Engine(Scripted([LOOK, REPORT, second]), [bank], outside=outside()) as engine:
        return await engine.ask("What was charged?")


async def test_a_reply_that_is_but_the_corrected_figure_stands_behind_the_answer_that_it_corrects() -> None:
    second = "Sorry: it was 9.00 GBP [[bank:txn/3]]."
    result = await ask_of_three(second)
    assert result.answer == f"{REPORT}\n\n---\n\n{second}"
    assert [(result.answer[each.start : each.end], each.problem) for each in result.figures] == [
        ("12.50 GBP", ""),
        ("4.00 GBP", ""),
        ("19.00 GBP", "bank:txn/3 says -9.00 GBP"),
        ("9.00 GBP", ""),
    ]


async def test_a_whole_answer_takes_the_place_of_the_one_that_it_corrects() -> None:
    result = await ask_of_three(REPORT.replace("19.00", "9.00"))
    assert (result.answer, result.unlinked) == (REPORT.replace("19.00", "9.00"), ())


async def test_a_short_answer_with_most_of_the_sources_is_a_whole_one() -> None:
    second = "Charged 12.50 [[bank:txn/1]], back 4.00 [[bank:txn/2]], the rest is not established."
    assert (await ask_of_three(second)).answer == second


@pytest.mark.parametrize(
    ("check", "steps", "unlinked"),
    [
        ("off", [LOOK, WRONG], 0),
        ("auto", [WRONG], 0),
        ("required", [WRONG, WRONG], 3),
    ],
)
async def test_the_check_runs_when_it_is_wanted(
    check: CheckMode, steps: list[Step | str], unlinked: int
) -> None:
    result = await ask(*steps, check=check)
    assert (result.iterations, len(result.unlinked)) == (len(steps), unlinked)


async def test_an_answer_at_the_limit_is_delivered_marked_rather_than_lost() -> None:
    result = await ask(LOOK, WRONG, limits=Limits(iterations=2))
    assert (result.why, result.answer, len(result.unlinked)) == ("answered", WRONG, 3)


async def test_an_answer_of_a_type_is_checked_for_its_type_alone() -> None:
    class Fee(BaseModel):
        fee: Decimal

    async with Engine(Scripted([LOOK, '{"fee": "15.20"}']), [BANK], outside=outside()) as engine:
        assert await engine.ask("What was charged?", output=Fee) == Fee(fee=Decimal("15.20"))


def test_a_mode_that_does_not_exist_is_refused() -> None:
    with pytest.raises(
        ConfigurationError, match="check cannot be 'on': it is one of 'auto', 'required', 'off'"
    ):
        Engine(Scripted([]), check="on")  # type: ignore[arg-type]
