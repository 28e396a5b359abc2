"""The public fake model: it follows its script, over real tools, also after a kill."""

import json

import pytest

from offing.engine import Call, Engine, MemoryStore, Playbook, Scripted, Step
from offing.engine.errors import PlaybookError
from offing.engine.models.scripted import CallResult
from offing.namespaces import FunctionNamespace, ToolContext, ToolOutput
from offing.tracing import Usage
from worlds import Given, async_tool, invoke, outside


async def _count(arguments: Given, context: ToolContext) -> ToolOutput:
    if arguments.get("n") == 13:
        raise ValueError("unlucky")
    return ToolOutput({"twice": 2 * arguments["n"]})


SYS = FunctionNamespace("sys", [async_tool(_count, "count")])


async def test_steps_are_replies_in_order_with_their_words_reasoning_usage_and_stop() -> None:
    script = [
        Step("Look.", [invoke("count", n=1)], reasoning="Hm.", usage=Usage(input=3, output=1)),
        Step("Half an ", stop="length"),
        "answer.",
    ]
    model = Scripted(script)
    async with Engine(model, [SYS], outside=outside()) as engine:
        result = await engine.ask("Go.")
    model.check_finished()
    assert (result.answer, result.usage, len(model.requests)) == (
        "Half an answer.",
        Usage(input=3, output=1),
        3,
    )
    assert [message.role for message in model.requests[-1].view] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "note",
    ]


async def test_a_step_that_was_not_used_fails_the_test() -> None:
    model = Scripted(["answer.", "never."])
    async with Engine(model, outside=outside()) as engine:
        await engine.ask("Go.")
    with pytest.raises(PlaybookError) as caught:
        model.check_finished()
    assert str(caught.value) == "step 2 of the script was not used: 'never.'"


async def test_a_script_that_is_too_short_stops_the_run_and_says_so() -> None:
    async with Engine(Scripted([Step(calls=[invoke("count", n=1)])]), [SYS], outside=outside()) as engine:
        result = await engine.ask("Go.")
    assert (result.why, result.detail) == (
        "fault",
        "the model could not be asked: (invalid) PlaybookError: the script has 1 steps, "
        "and one more was asked for",
    )


async def _doubling(book: Playbook, text: str) -> str:
    n = int(text)
    while n < 10:
        n = (await book.call("sys__count", n=n)).json["twice"]
    pair = await book.calls(invoke("count", n=n), invoke("count", n=13), say="Both.")
    assert pair[1] == CallResult("ValueError: unlucky", error=True)
    return f"{pair[0].json['twice']}"


async def test_a_playbook_decides_by_the_results_of_real_tools() -> None:
    model = Scripted(_doubling)
    async with Engine(model, [SYS], outside=outside()) as engine:
        session = engine.session("s")
        answers = [(await session.ask(text)).answer for text in ("1", "3", "12")]
    assert answers == ["32", "24", "24"]
    model.check_finished()


async def test_a_playbook_goes_on_after_a_kill_where_it_was() -> None:
    store = MemoryStore()

    async def _slow(arguments: Given, context: ToolContext) -> ToolOutput:
        if context.call == "2.1" and not resumed:
            await engine.session("s").close()
        return await _count(arguments, context)

    resumed: list[bool] = []
    slow = FunctionNamespace("sys", [async_tool(_slow, "count")])
    engine = Engine(Scripted(_doubling), [slow], store=store, outside=outside())
    async with engine.session("s").run("1") as run:
        async for event in run:
            if type(event).__name__ == "CallFinished":
                break
    await engine.close()
    resumed.append(True)
    model = Scripted(_doubling)
    async with Engine(model, [SYS], store=store, outside=outside()) as other:
        result = await (await other.resume("s.1")).result()
    assert result.answer == "32"


async def test_a_playbook_that_takes_another_path_is_told_so() -> None:
    turns: list[int] = []

    async def fickle(book: Playbook, text: str) -> str:
        turns.append(1)
        await book.call("sys__count", n=len(turns))
        await book.call("sys__count", n=0)
        return "done"

    async with Engine(Scripted(fickle), [SYS], outside=outside()) as engine:
        result = await engine.ask("Go.")
    assert result.why == "fault"
    assert "the playbook took another path: it calls [('sys__count', {'n': 2})] where" in result.detail


async def test_a_playbook_that_raises_or_reads_no_json_stops_the_run() -> None:
    async def raises(book: Playbook, text: str) -> str:
        raise KeyError("x")

    async def no_json(book: Playbook, text: str) -> str:
        return str((await book.call("sys__count", n=13)).json)

    for playbook, told in (
        (raises, "KeyError: 'x'"),
        (no_json, "the tool's answer is no JSON: 'ValueError: unl"),
    ):
        async with Engine(Scripted(playbook), [SYS], outside=outside()) as engine:
            result = await engine.ask("Go.")
        assert result.why == "fault"
        assert told in result.detail


async def test_what_a_scripted_model_is_sent_can_be_read() -> None:
    model = Scripted([Step(calls=[Call("sys__count", {"n": 2})]), "done"])
    async with Engine(model, [SYS], outside=outside()) as engine:
        await engine.ask("Go.")
    segments = [json.loads(segment) for segment in model.requests[-1].segments]
    assert segments[2:] == [
        {"role": "user", "content": [{"text": "Go."}]},
        {"role": "assistant", "content": [{"call": "1.1", "name": "sys__count", "arguments": {"n": 2}}]},
        {"role": "tool", "content": [{"result": "1.1", "content": '{"twice":4}', "error": False}]},
    ]
