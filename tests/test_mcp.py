"""MCP servers as namespaces: real processes, over stdio and HTTP, well behaved and not."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from pydantic import JsonValue, SecretStr

from offing.compaction.conversation import ToolResult
from offing.engine import Call, Engine, MemoryStore, Scripted, Session, Step
from offing.engine.approvals import ApprovalPolicy, ApprovalRule
from offing.engine.events import CallFinished, Progress, QuestionAsked
from offing.engine.store.journal import Store
from offing.namespaces import Effect, ToolPolicy
from offing.namespaces.errors import NamespaceError
from offing.namespaces.mcp import McpNamespace
from worlds import outside

HERE = Path(__file__).parent
ALLOWED = ApprovalPolicy((ApprovalRule("*__*", "allow"),))


@dataclass(frozen=True)
class Raw:
    """The server without an SDK, and what it was asked."""

    log: Path

    def __call__(self, plan: Mapping[str, JsonValue] | None = None, **fields: Any) -> McpNamespace:  # noqa: ANN401
        told = json.dumps({"log": str(self.log), **(plan or {})})
        command = [sys.executable, "-I", "-S", str(HERE / "raw_mcp_server.py"), told]
        return McpNamespace("raw", command=command, **fields)

    @property
    def lines(self) -> list[str]:
        return self.log.read_text().splitlines()


@pytest.fixture
def raw(tmp_path: Path) -> Raw:
    return Raw(tmp_path / "calls.txt")


def call(tool: str, /, *, ns: str = "raw", **arguments: JsonValue) -> Call:
    return Call(f"{ns}__invoke_tool", {"tool": tool, "arguments": arguments})


@asynccontextmanager
async def at_work(
    namespace: McpNamespace,
    *steps: Step | str,
    store: Store | None = None,
    credentials: Mapping[str, str] | None = None,
) -> AsyncGenerator[Session]:
    """A session over the server, whose model does these steps."""
    secrets = {name: SecretStr(value) for name, value in (credentials or {}).items()}
    engine = Engine(
        Scripted(steps), [namespace], store=store or MemoryStore(), approvals=ALLOWED, outside=outside()
    )
    async with engine:
        yield engine.session("s", credentials={namespace.name: secrets})


async def results(namespace: McpNamespace, *calls: Call, **given: Any) -> list[ToolResult]:  # noqa: ANN401
    """What the model reads of calls, made one after another."""
    async with at_work(namespace, *(Step(calls=[one]) for one in calls), "done", **given) as session:
        assert (await session.ask("Go.")).answered
        events = [event async for event in until_stopped(session)]
    finished = [event for event in events if isinstance(event, CallFinished)]
    return [ToolResult(one.call, one.content, one.error) for one in finished]


async def until_stopped(session: Session) -> AsyncGenerator[Any]:
    async for event in session.events():
        yield event
        if type(event).__name__ == "RunStopped":
            return


async def told(namespace: McpNamespace, *calls: Call, **given: Any) -> list[str]:  # noqa: ANN401
    return [one.content for one in await results(namespace, *calls, **given)]


async def reason(namespace: McpNamespace, **given: Any) -> str:  # noqa: ANN401
    """Why it is not connected; the session works all the same."""
    async with at_work(namespace, "done", **given) as session:
        assert (await session.ask("Go.")).answered
        ((name, why),) = [(one.name, one.reason) for one in session.disconnected]
        assert name == namespace.name
        return why


# What a server is told, and what it says of itself.


async def test_a_server_of_the_older_protocol_is_a_namespace(raw: Raw) -> None:
    assert await told(raw(), call("look", word="a"), call("raw__put", word="b")) == ["look a", "put b"]
    assert raw.lines == ["started", "look a", "put b"]


@pytest.mark.parametrize("protocol", ["2024-11-05", "2025-03-26", "2025-11-25"])
async def test_each_older_version_is_spoken(raw: Raw, protocol: str) -> None:
    namespace = raw({"protocol": protocol}, protocol="legacy")
    assert await told(namespace, call("look", word="a")) == ["look a"]


async def test_policies_of_the_host_have_the_last_word(raw: Raw) -> None:
    policies = [
        ToolPolicy("pay", destructive=False, timeout_s=3),
        ToolPolicy("look", effect=Effect.ONCE),
        ToolPolicy("[!pl]*", hidden=True),
    ]
    async with raw(policies=policies).connect({}) as tools:
        shown = [(one.name, one.effect.value, one.destructive, one.timeout_s) for one in tools]
    assert shown == [
        ("look", "once", False, 60),
        ("put", "repeatable", False, 60),
        ("pay", "once", False, 3),
        ("page", "read", False, 60),
    ]


async def test_a_child_gets_a_minimal_environment_and_what_it_was_given(
    raw: Raw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not for children")
    namespace = raw(env={"TOKEN": "Bearer {token}", "LEVEL": "info"})
    (shown,) = await told(namespace, call("env"), credentials={"token": "hush-hush-secret"})
    got = json.loads(shown)
    assert (got.pop("TOKEN"), got.pop("LEVEL")) == ("Bearer [secret]", "info")
    assert got.keys() <= {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LC_CTYPE"}


async def test_a_credential_stands_nowhere_in_what_is_kept_or_told(raw: Raw) -> None:
    store = MemoryStore()
    namespace = raw(env={"TOKEN": "{token}"})
    await told(namespace, call("env"), store=store, credentials={"token": "hush-hush-secret"})
    kept = [str(row) async for row in store.scoped("local").journal.read("s")]
    assert kept
    assert not any("hush" in row for row in kept)


async def test_a_credential_that_the_session_lacks_is_named(raw: Raw) -> None:
    namespace = raw(env={"TOKEN": "{token}"})
    assert await reason(namespace) == "it needs the credential 'token'; the session has: none"
    assert not raw.log.exists()


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({}, "'x' needs either a command or a url"),
        ({"command": ["a"], "url": "http://b"}, "'x' needs either a command or a url"),
        ({"command": "a b"}, "the command of 'x' is a list: program, then arguments"),
        ({"url": "ftp://b"}, "the url of 'x' begins with http:// or https://; got 'ftp://b'"),
        ({"url": "http://b", "env": {"A": "1"}}, "env of 'x' means nothing with a url"),
        ({"command": ["a"], "headers": {"A": "1"}}, "headers of 'x' means nothing with a command"),
        (
            {"command": ["a"], "protocol": "2025-06-18"},
            "the protocol of 'x' is one of 'auto', 'legacy', '2026-07-28'; got '2025-06-18'",
        ),
        ({"command": ["a"], "timeout_s": 0}, "timeout_s of 'x' has to be more than 0; got 0"),
        ({"command": ["a"], "reconnects": -1}, "reconnects of 'x' cannot be -1; 0 is for never"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: Mapping[str, Any], wrong: str) -> None:
    with pytest.raises(NamespaceError) as caught:
        McpNamespace("x", **given)
    assert str(caught.value) == wrong


# Results and errors.


async def test_a_result_that_breaks_its_own_schema_is_shown_all_the_same(raw: Raw) -> None:
    assert await told(raw(), call("odd")) == ['all of it\n\n{"total":7}']


async def test_stray_lines_on_standard_output_are_passed_over_and_not_logged(
    raw: Raw, caplog: pytest.LogCaptureFixture
) -> None:
    assert await told(raw({"at_start": "junk"}), call("junk", word="a")) == ["junk a"]
    assert caplog.records == []


async def test_a_thousand_tools_on_twenty_pages_are_all_there_and_in_order(raw: Raw) -> None:
    async with raw({"per_page": 50, "pages": 20}).connect({}) as tools:
        assert [one.name for one in tools] == [f"tool_{place:05}" for place in range(1_000)]


async def test_a_list_without_an_end_is_cut_and_told(raw: Raw, caplog: pytest.LogCaptureFixture) -> None:
    async with raw({"per_page": 1_000, "pages": None}).connect({}) as tools:
        assert len(tools) == 5_000
    assert [one.message for one in caplog.records] == [
        "a server's list of tools does not end: the first 5000 are used"
    ]


# Servers that die, hang or are not there.


@pytest.mark.parametrize(
    ("plan", "fields", "why"),
    [
        (
            {"at_start": "die"},
            {},
            "MCPError: Connection closed; it wrote: no licence: KEY=[secret]",
        ),
        ({"at_start": "silent"}, {"connect_s": 0.5}, "no answer within 0.5 s"),
    ],
)
async def test_a_server_that_does_not_start_is_reported_with_what_it_wrote(
    raw: Raw, plan: Mapping[str, JsonValue], fields: Mapping[str, Any], why: str
) -> None:
    assert await reason(raw(plan, **fields), credentials={"key": "hush-hush-secret"}) == why


async def test_a_program_that_is_not_there_is_reported() -> None:
    why = await reason(McpNamespace("x", command=["/no/such/program"]))
    assert why == "FileNotFoundError: [Errno 2] No such file or directory: '/no/such/program'"


async def test_a_call_that_may_be_repeated_survives_the_death_of_its_server(raw: Raw) -> None:
    namespace = raw({"dies": {"look": 1, "put": 1}})
    assert await told(namespace, call("look"), call("put"), call("look")) == ["look", "put", "look"]
    assert raw.lines.count("started") == 3


async def test_a_call_that_must_not_be_repeated_is_of_unknown_outcome_and_the_next_one_works(
    raw: Raw,
) -> None:
    namespace = raw({"dies": {"pay": 1}})
    first, second = await results(namespace, call("pay", word="10"), call("pay", word="20"))
    assert first == ToolResult(
        "1.1",
        snapshot(),
        error=True,
    )
    assert second == ToolResult("2.1", "pay 20")
    assert raw.lines == ["started", "pay 10", "started", "pay 20"]


async def test_a_server_that_dies_at_each_call_is_connected_a_bounded_number_of_times(raw: Raw) -> None:
    namespace = raw({"dies": {"look": 99}}, reconnects=3)
    *_, last = await told(namespace, *[call("look")] * 4)
    assert last == snapshot()
    assert raw.lines.count("started") == 4


async def test_a_call_is_given_up_at_its_timeout_and_the_server_is_told(raw: Raw) -> None:
    namespace = raw(policies=[ToolPolicy("hang", timeout_s=0.3)])
    first, second = await told(namespace, call("hang"), call("look"))
    assert first.startswith("Outcome unknown: raw__hang was started and did not end within 0.3 s.")
    assert second == "look"
    assert raw.lines == ["started", "hang ", "cancelled", "look "]


async def test_a_run_that_is_cancelled_tells_the_server_and_progress_is_an_event(raw: Raw) -> None:
    async with at_work(raw(), Step(calls=[call("hang")])) as session:
        async with session.run("Go.") as run:
            async for event in run:
                if isinstance(event, Progress):
                    assert (event.call, event.text) == ("1.1", "at work (1 of 4)")
                    await run.cancel(at_once=True)
            result = await run.result()
        assert result.stopped.why == "cancelled"
    assert raw.lines == ["started", "hang ", "cancelled"]


async def test_an_idempotency_key_goes_with_calls_that_must_not_be_repeated(raw: Raw) -> None:
    await told(raw({"keys": True}), call("look"), call("put"), call("pay"), call("pay"))
    _, look, put, *pays = raw.lines
    assert (look, put) == ("look ", "put ")
    keys = [line.removeprefix("pay  ") for line in pays]
    assert [len(key) for key in keys] == [64, 64]
    assert keys[0] != keys[1]


# Questions.


async def test_a_question_in_the_middle_of_a_call_is_put_to_the_user_and_answered_days_later(
    raw: Raw,
) -> None:
    store = MemoryStore()
    async with at_work(raw(), Step(calls=[call("book", word="a")]), "done", store=store) as session:
        result = await session.ask("Go.")
        assert result.stopped.why == "waiting"
        (asked,) = [event async for event in until_stopped(session) if isinstance(event, QuestionAsked)]
        assert asked.question == snapshot()
        assert asked.schema == {
            "type": "object",
            "properties": {"day": {"type": "string"}},
            "required": ["day"],
        }
    async with at_work(raw(), Step(calls=[call("book", word="a")]), "done", store=store) as later:
        await later.answer(asked.call, "Monday")
        run = await later.resume(result.run)
        assert (await run.result()).answered
        events = [event async for event in later.events() if isinstance(event, CallFinished)]
    assert [event.content for event in events] == ["booked Monday"]
    assert raw.lines == snapshot()
