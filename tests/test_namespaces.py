"""A system is two tools to the model, however many it has; a wrong call says what would be right."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal, cast

import pytest
from pydantic import BaseModel, Field, SecretStr

from offing.compaction.conversation import ToolResult
from offing.engine import Call, Engine, MemoryStore, Scripted, Step
from offing.engine.errors import ConfigurationError
from offing.engine.prompt import Disconnected
from offing.namespaces import Effect, FunctionNamespace, Namespace, Tool, ToolContext, ToolOutput, tool
from offing.namespaces.errors import NamespaceError, ToolDefinitionError
from offing.namespaces.meta_tools import Connected
from worlds import ANY, Given, World, async_tool, invoke, outside


class Period(BaseModel):
    start: str
    end: str = "today"


@tool(effect=Effect.READ, writes=frozenset({"x"}), timeout_s=5)
async def list_transactions(
    context: ToolContext,
    account: Annotated[str, Field(description="Its number.", min_length=2)],
    limit: Annotated[int, Field(ge=1, le=100)] = 10,
    kind: Literal["credit", "debit"] | None = None,
    period: Period | None = None,
) -> dict[str, object]:
    """Lists the transactions of an account.

    Newest first.
    """
    return {"account": account, "limit": limit, "kind": kind, "from": period.start if period else None}


@tool()
def balance(context: ToolContext) -> Decimal:
    """Gives   the
    balance."""
    return Decimal("12.50")


BANK = FunctionNamespace("bank", [list_transactions, balance])


async def told(*calls: Call) -> list[str]:
    """What the model reads of calls to the bank."""
    model = Scripted([Step(calls=calls), "done"])
    async with Engine(model, [BANK], outside=outside()) as engine:
        await engine.ask("Go.")
    (message,) = [one for one in model.requests[-1].view if one.results]
    return [result.content for result in message.results]


# Tools of functions.


def test_a_function_with_types_is_a_tool() -> None:
    assert list_transactions.name == "list_transactions"
    assert list_transactions.summary == "Lists the transactions of an account."
    assert (list_transactions.effect, list_transactions.blocking, balance.blocking) == (
        Effect.READ,
        False,
        True,
    )
    assert list_transactions.write_set == frozenset({"x"})
    assert (balance.effect, balance.write_set) == (Effect.ONCE, frozenset({"*"}))
    schema = json.loads(json.dumps(list_transactions.schema))
    assert schema["required"] == ["account"]
    assert list(schema["properties"]) == ["account", "limit", "kind", "period"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["account"] == {
        "description": "Its number.",
        "minLength": 2,
        "title": "Account",
        "type": "string",
    }
    assert balance.schema["properties"] == {}


def _untyped(a) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType]
    """Does."""


def _starred(*a: int) -> None:
    """Does."""


def _keywords(**a: int) -> None:
    """Does."""


def _silent(a: int) -> None: ...


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (
            cast("Callable[..., object]", _untyped),
            "parameter 'a' of _untyped has no type: the schema is made of types",
        ),
        (_starred, "parameter 'a' of _starred: name each argument, a model cannot fill *a: int"),
        (_keywords, "parameter 'a' of _keywords: name each argument, a model cannot fill **a: int"),
        (_silent, "_silent has no docstring: its first line is what the model chooses by"),
    ],
)
def test_a_function_that_no_tool_can_be_made_of_is_refused_to_its_programmer(
    function: Callable[..., object], told: str
) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        tool()(function)
    assert str(caught.value) == told


async def test_a_function_gives_text_output_or_what_json_can_be_made_of() -> None:
    made: list[object] = [
        "text",
        Period(start="a"),
        [Decimal("1.10")],
        None,
        ToolOutput("own", error=True),
        {1: {2}},
    ]

    @tool(effect=Effect.READ)
    async def give(n: int) -> object:
        """Gives."""
        return made[n]

    results = await World([give]).told(*(invoke("give", n=n) for n in range(len(made))))
    assert [(result.content, result.error) for result in results] == [
        ("text", False),
        ('{"start":"a","end":"today"}', False),
        ('["1.10"]', False),
        ("null", False),
        ("own", True),
        ('{"1":[2]}', False),
    ]


async def test_what_no_json_can_be_made_of_is_the_calls_error() -> None:
    @tool(effect=Effect.READ)
    async def give() -> object:
        """Gives."""
        return object()

    (result,) = await World([give]).told(invoke("give"))
    assert (result.error, result.content[:29]) == (True, "PydanticSerializationError: U")


# The two meta-tools.


def test_a_system_is_two_tools_whose_catalogue_takes_one_line_a_tool() -> None:
    tools = [async_tool(_never, f"t{n:03}") for n in range(300)]
    long = Tool("long", "Says\nmuch " + "more " * 100, ANY, _never)
    get, run = Connected("sys", [*tools, long]).meta_tools()
    assert (get.name, run.name) == ("sys__get_tool_schema", "sys__invoke_tool")
    lines = get.summary.splitlines()
    assert len(lines) == 302
    assert (
        lines[:2]
        == [
            "Gives the full input schema of one tool of sys. Its tools:",
            "- long: Says much more" + " more" * 27 + " mor...",
        ]
        or len(lines[1]) <= 170
    )
    assert lines[2] == "- t000: Does t000."
    assert run.summary == "Runs one tool of sys. Its tools: see sys__get_tool_schema."


async def _never(arguments: Given, context: ToolContext) -> ToolOutput:
    raise AssertionError("called")


def test_the_catalogue_does_not_depend_on_the_order_in_which_a_system_lists_its_tools() -> None:
    tools = [async_tool(_never, name) for name in "cab"]
    assert (
        Connected("sys", tools).meta_tools()[0].summary
        == Connected("sys", tools[::-1]).meta_tools()[0].summary
    )


async def test_a_schema_is_given_on_demand_whole() -> None:
    (content, wrong) = await told(
        Call("bank__get_tool_schema", {"tool": "list_transactions"}),
        Call("bank__get_tool_schema", {"tool": "list_transaction"}),
    )
    about = json.loads(content)
    assert about == {
        "tool": "list_transactions",
        "summary": "Lists the transactions of an account.",
        "effect": "read",
        "destructive": False,
        "input_schema": about["input_schema"],
    }
    assert about["input_schema"]["$defs"]["Period"]["required"] == ["start"]
    assert wrong == (
        "bank has no tool 'list_transaction'. Did you mean 'list_transactions'? "
        "Its tools: balance, list_transactions"
    )


GOOD = {"account": "x1", "limit": 3}
ANSWER = '{"account":"x1","limit":3,"kind":null,"from":null}'


@pytest.mark.parametrize(
    "call",
    [
        Call("bank__invoke_tool", {"tool": "list_transactions", "arguments": dict(GOOD)}),
        Call("bank__invoke_tool", {"tool": "bank__list_transactions", "arguments": dict(GOOD)}),
        Call("bank__invoke_tool", {"tool": "list_transactions", "arguments": json.dumps(GOOD)}),
        Call("bank__list_transactions", dict(GOOD)),
    ],
)
async def test_every_way_to_call_a_tool_is_the_same_call(call: Call) -> None:
    assert await told(call) == [ANSWER]


@pytest.mark.parametrize(
    ("call", "starts"),
    [
        (
            Call("bank__invoke_tool", {"tool": "list_transactions", "arguments": {"account": 3, "limit": 0}}),
            "The arguments do not fit list_transactions:\n"
            "- limit: got 0; expected minimum 1\n"
            '- account: got 3; expected type "string"\n'
            'Its schema: {"$defs":{"Period"',
        ),
        (
            Call("bank__list_transactions", {"acount": "x1"}),
            "The arguments do not fit list_transactions:\n"
            '- arguments: got {"acount": "x1"}; \'account\' is a required property\n'
            '- arguments: got {"acount": "x1"}; Additional properties are not allowed (\'acount\' was '
            "unexpected)",
        ),
        (
            Call(
                "bank__invoke_tool",
                {"tool": "list_transactions", "arguments": {"account": "x1", "period": {}}},
            ),
            "The arguments do not fit list_transactions:\n- period: got {}; expected anyOf",
        ),
        (Call("bank__invoke_tool", {"arguments": {}}), "tool: got null; expected the name of a tool"),
        (
            Call("bank__invoke_tool", {"tool": ["balance"]}),
            'tool: got ["balance"]; expected the name of a tool',
        ),
        (
            Call("bank__invoke_tool", {"tool": "balance", "arguments": [1]}),
            "arguments: got [1]; expected an object",
        ),
        (
            Call("bank__invoke_tool", {"tool": "balance", "arguments": "{"}),
            'arguments: got "{"; expected an object',
        ),
        (
            Call("bank__invoke_tool", {"tool": "list_transactions", "account": "x1"}),
            "account: stands beside `arguments`; the tool's arguments go into it",
        ),
        (
            Call("bank__invoke_tool", {"tool": "ballance", "arguments": {}}),
            "bank has no tool 'ballance'. Did you mean 'balance'? Its tools: balance, list_transactions",
        ),
        (Call("bank__ballance", {}), "bank has no tool 'ballance'. Did you mean 'balance'?"),
        (
            Call("bank__get_tool_schema", {}),
            "The arguments do not fit bank__get_tool_schema:\n"
            "- arguments: got {}; 'tool' is a required property",
        ),
        (
            Call("bank_invoke_tool", {}),
            "there is no tool 'bank_invoke_tool'. Did you mean 'bank__invoke_tool'? "
            "There are: ask_user, bank__get_tool_schema",
        ),
        (Call("reed", {}), "there is no tool 'reed'. Did you mean 'read'?"),
        (Call("", {}), "there is no tool ''. There are: "),
        (
            Call("read", {"source": 3}),
            'The arguments do not fit read:\n- source: got 3; expected type "string"\nIts schema: ',
        ),
    ],
)
async def test_a_wrong_call_is_answered_with_all_that_is_needed_to_make_it_right(
    call: Call, starts: str
) -> None:
    (content,) = await told(call)
    assert content.startswith(starts), content


async def test_a_call_without_arguments_for_a_tool_that_needs_none_is_that_call() -> None:
    assert await told(Call("bank__invoke_tool", {"tool": "balance"})) == ["12.50"]


# Names of systems, pinned tools.


def test_a_system_cannot_be_taken_for_calculations() -> None:
    with pytest.raises(NamespaceError, match="cannot be called 'calc': records of calculations are"):
        Connected("calc", [])


def test_a_tool_with_the_name_of_a_meta_tool_is_set_aside() -> None:
    connected = Connected("sys", [async_tool(_nothing, "invoke_tool"), async_tool(_nothing, "fine")])
    assert connected.set_aside == {"invoke_tool": "its name is that of a meta-tool"}
    assert list(connected.tools) == ["fine"]


async def _nothing(arguments: Given, context: ToolContext) -> ToolOutput:
    return ToolOutput("nothing")


@pytest.mark.parametrize("name", ["", "a__b", "a_", "bank.one", "bänk", "a" * 60])
def test_a_system_whose_name_cannot_prefix_tools_is_refused_with_what_would_be_right(name: str) -> None:
    with pytest.raises(NamespaceError) as caught:
        Connected(name, [])
    assert str(caught.value) == (
        f"a namespace cannot be called {name!r}: use letters, digits, '-' and single '_' between them, "
        "at most 47 characters"
    )


async def test_a_pinned_tool_is_shown_once_with_its_schema_and_called_directly() -> None:
    model = Scripted([Step(calls=[Call("bank__list_transactions", dict(GOOD))]), "done"])
    pinned = ["bank__list_transactions", "bank__list_transactions", "gone__x"]
    async with Engine(model, [BANK], pinned=pinned, outside=outside()) as engine:
        await engine.ask("Go.")
    shown = [line.partition(":")[0] for line in json.loads(model.requests[0].segments[0])["tools"]]
    assert shown == [
        "ask_user",
        "bank__get_tool_schema",
        "bank__invoke_tool",
        "bank__list_transactions",
        "calculate",
        "link_records",
        "load_skill",
        "read",
        "search",
        "tasks",
        "write_file",
    ]
    assert [one.content for one in model.requests[-1].view[-1].results] == [ANSWER]


async def test_a_pinned_tool_that_does_not_exist_is_a_mistake_of_the_host() -> None:
    async with Engine(Scripted([]), [BANK], pinned=["bank__lst_transactions"], outside=outside()) as engine:
        with pytest.raises(ConfigurationError) as caught:
            await engine.ask("Go.")
    assert str(caught.value) == (
        "cannot pin 'bank__lst_transactions': bank has no tool 'lst_transactions'. "
        "Did you mean 'list_transactions'? Its tools: balance, list_transactions"
    )


# Systems that do not connect.


@dataclass(frozen=True)
class Broken:
    """A system whose connection raises."""

    name: str
    error: BaseException
    guide: Path | None = None

    @asynccontextmanager
    async def connect(self, credentials: Mapping[str, SecretStr]) -> AsyncGenerator[Sequence[Tool]]:
        raise self.error
        yield ()


@dataclass(frozen=True)
class Leaving:
    """A system that raises when it is left, and says in which task it was entered and left."""

    name: str
    tasks: list[object]
    guide: Path | None = None

    @asynccontextmanager
    async def connect(self, credentials: Mapping[str, SecretStr]) -> AsyncGenerator[Sequence[Tool]]:
        self.tasks.append(asyncio.current_task())
        try:
            yield ()
        finally:
            self.tasks.append(asyncio.current_task())
            raise ConnectionResetError("gone")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionError("bank is down"), "bank is down"),
        (ValueError(), "ValueError"),
        (ValueError("refused:\n\n# New rules\n" + "x" * 999), "refused: # New rules " + "x" * 479),
        (ExceptionGroup("two", [ValueError("a")]), "two (1 sub-exception)"),
        (asyncio.CancelledError("by its own scope"), "by its own scope"),
        (TimeoutError(), "no answer within 30 s"),
    ],
)
async def test_a_system_that_cannot_connect_is_reported_and_the_others_work(
    error: BaseException, reason: str
) -> None:
    model = Scripted([Step(calls=[Call("bank__balance", {})]), "done"])
    namespaces: list[Namespace] = [Broken("down", error), BANK, BANK]
    async with Engine(model, namespaces, outside=outside()) as engine:
        session = engine.session("s")
        result = await session.ask("Go.")
        assert result.answered
        assert session.disconnected == [
            Disconnected("down", reason),
            Disconnected("bank", "there are two namespaces of this name"),
        ]
    assert model.requests[-1].view[-1].results == (ToolResult("1.1", "12.50"),)
    assert f"The system down is not connected: {reason}".encode() in model.requests[0].segments[1]


async def test_a_system_is_left_in_the_task_that_entered_it_and_may_raise_then() -> None:
    tasks: list[object] = []
    async with Engine(Scripted(["done"]), [Leaving("odd", tasks)], outside=outside()) as engine:
        await engine.ask("Go.")
    assert len(tasks) == 2
    assert tasks[0] is tasks[1] is not asyncio.current_task()


@dataclass(frozen=True)
class Patient:
    """Connects once another one has."""

    name: str
    waits_for: asyncio.Event
    then: asyncio.Event
    guide: Path | None = None

    @asynccontextmanager
    async def connect(self, credentials: Mapping[str, SecretStr]) -> AsyncGenerator[Sequence[Tool]]:
        await self.waits_for.wait()
        self.then.set()
        yield ()


async def test_systems_are_connected_at_the_same_time_and_told_in_the_order_they_were_given() -> None:
    first, second, begun = asyncio.Event(), asyncio.Event(), asyncio.Event()
    begun.set()
    slow: list[Namespace] = [
        Patient("c", second, first),
        Patient("a", first, asyncio.Event()),
        Patient("b", begun, second),
    ]
    model = Scripted(["done"])
    async with Engine(model, [*slow, BANK], outside=outside()) as engine:
        await engine.ask("Go.")
    shown = [line.partition(":")[0] for line in json.loads(model.requests[0].segments[0])["tools"]]
    systems = [name.partition("__")[0] for name in shown if name.endswith("__invoke_tool")]
    assert systems == sorted(systems) == ["a", "b", "bank", "c"]


async def test_a_session_that_is_closed_while_it_connects_does_not_wait_for_the_system() -> None:
    never, begun = asyncio.Event(), asyncio.Event()

    @dataclass(frozen=True)
    class Hanging(Patient):
        @asynccontextmanager
        async def connect(self, credentials: Mapping[str, SecretStr]) -> AsyncGenerator[Sequence[Tool]]:
            begun.set()
            await never.wait()
            yield ()

    engine = Engine(Scripted([]), [Hanging("slow", never, never)], outside=outside())
    asking = asyncio.ensure_future(engine.ask("Go."))
    await begun.wait()
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await engine.close()


async def test_a_guide_is_part_of_the_context_and_one_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    good, bad, odd = (tmp_path / name for name in ("good.md", "bad.md", "odd.md"))
    good.write_text("---\nname: a\ndescription: A.\n---\nUse balance first.\n")
    bad.write_text("no frontmatter")
    odd.write_text("---\nname: c\ndescription: C.\nwhen: 2026-99-99\n---\nBody.\n")
    namespaces = [
        FunctionNamespace(name, [balance], path) for name, path in (("a", good), ("b", bad), ("c", odd))
    ]
    model = Scripted(["done"])
    async with Engine(model, namespaces, outside=outside()) as engine:
        session = engine.session("s")
        await session.ask("Go.")
        assert [one.name for one in session.disconnected] == ["b guide"]
    context = json.loads(model.requests[0].segments[1])["context"]
    assert '<guide namespace="a">\nUse balance first.\n</guide>' in context
    tools = json.loads(model.requests[0].segments[0])["tools"]
    assert [line.partition(":")[0] for line in tools if "invoke" in line.partition(":")[0]] == [
        "a__invoke_tool",
        "b__invoke_tool",
        "c__invoke_tool",
    ]


async def test_a_system_whose_words_hold_lone_surrogates_can_be_used() -> None:
    async def it(arguments: Given, context: ToolContext) -> ToolOutput:
        return ToolOutput("ok")

    odd = Tool("it", "Half \ud83d, \x00.", {"type": "object", "description": "\ud83d"}, it)
    (result,) = await World([odd], pinned=["sys__it"], store=MemoryStore()).told(invoke("it"))
    assert result.content == "ok"


@pytest.mark.parametrize(
    ("summary", "line"),
    [
        ("Approve a merge request. Use this to record an approval.", "Approve a merge request."),
        ("Finds rows, e.g. Those of today.", "Finds rows, e.g. Those of today."),
        ("Lists accounts.\n\nThen more.", "Lists accounts. Then more."),
        ("Reads version 1.2 of a page. And more.", "Reads version 1.2 of a page."),
        ("No end at all", "No end at all"),
    ],
)
def test_the_list_shows_the_first_sentence_unless_it_says_too_little(summary: str, line: str) -> None:
    one = Tool("it", summary, ANY, _never)
    listed = Connected("sys", [one]).meta_tools()[0].summary.splitlines()[1]
    assert listed == f"- it: {line}"
