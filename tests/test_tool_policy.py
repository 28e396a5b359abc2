"""What the host says of a system's tools holds, whatever the system says of itself."""

import json

import pytest

from offing.engine import Engine, Scripted
from offing.namespaces import Effect, FunctionNamespace, Tool, ToolPolicy
from offing.namespaces.errors import NamespaceError
from offing.namespaces.policy import governed, unmet
from worlds import ANY, async_tool, outside


async def _nothing(arguments: object, context: object) -> None:
    """Is never called here."""


def a_tool(name: str, effect: Effect = Effect.ONCE, *, destructive: bool = True) -> Tool:
    return Tool(name, f"Does {name}.", ANY, _nothing, effect, destructive)  # type: ignore[arg-type]


def shown(tools: list[Tool]) -> list[tuple[str, str, bool, float, bool]]:
    return [(one.name, one.effect.value, one.destructive, one.timeout_s, one.pinned) for one in tools]


def test_without_a_policy_a_tool_is_what_the_system_says() -> None:
    given = [a_tool("pay"), a_tool("list", Effect.READ, destructive=False)]
    assert governed(given, []) == given


def test_each_field_is_what_the_first_fitting_policy_says_of_it() -> None:
    policies = [
        ToolPolicy("list_*", pinned=True),
        ToolPolicy("*_secrets", hidden=True),
        ToolPolicy("list_*", effect=Effect.READ, pinned=False, timeout_s=5),
        ToolPolicy("*", timeout_s=9, destructive=True),
    ]
    given = [a_tool("list_all"), a_tool("list_secrets"), a_tool("pay", destructive=False)]
    assert shown(governed(given, policies)) == [
        ("list_all", "read", True, 5, True),
        ("pay", "once", True, 9, False),
    ]


def test_what_the_host_calls_a_reading_is_not_dangerous_unless_the_host_says_so_too() -> None:
    (plain,) = governed([a_tool("look")], [ToolPolicy("look", effect=Effect.READ)])
    (both,) = governed([a_tool("look")], [ToolPolicy("look", effect=Effect.READ, destructive=True)])
    (again,) = governed([a_tool("look")], [ToolPolicy("look", effect=Effect.REPEATABLE)])
    assert [plain.destructive, both.destructive, again.destructive] == [False, True, True]


def test_a_tool_may_be_shown_that_a_later_policy_hides() -> None:
    policies = [ToolPolicy("read_*", hidden=False), ToolPolicy("*", hidden=True)]
    given = [a_tool("read_mail"), a_tool("send_mail")]
    assert [one.name for one in governed(given, policies)] == ["read_mail"]


def test_patterns_that_fit_nothing_are_told() -> None:
    policies = [ToolPolicy("lisst_*"), ToolPolicy("list_*"), ToolPolicy("Pay")]
    assert unmet([a_tool("list_all"), a_tool("pay")], policies) == ["lisst_*", "Pay"]


def test_a_policy_that_cannot_be_meant_is_refused() -> None:
    with pytest.raises(NamespaceError, match="names no tools"):
        ToolPolicy("")
    with pytest.raises(NamespaceError, match=r"timeout_s of 'pay' has to be more than 0; got 0"):
        ToolPolicy("pay", timeout_s=0)


async def test_a_pinned_tool_is_shown_with_its_schema() -> None:
    async def nothing(arguments: object, context: object) -> None:
        """Is never called here."""

    tools = [async_tool(nothing, name) for name in ("pay", "list_all")]  # type: ignore[arg-type]
    pinned = governed(tools, [ToolPolicy("list_*", pinned=True)])
    model = Scripted(["done"])
    async with Engine(model, [FunctionNamespace("sys", pinned)], outside=outside()) as engine:
        await engine.ask("Go.")
    names = [line.partition(":")[0] for line in json.loads(model.requests[0].segments[0])["tools"]]
    assert [name for name in names if name.startswith("sys")] == [
        "sys__get_tool_schema",
        "sys__invoke_tool",
        "sys__list_all",
    ]
