"""MCP servers as namespaces: real processes, over stdio and HTTP, well behaved and not."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from pydantic import JsonValue, SecretStr

from offing.compaction.conversation import ToolResult
from offing.engine import Budget, Call, Engine, Limits, MemoryStore, Playbook, Scripted, Session, Step
from offing.engine.approvals import ApprovalPolicy, ApprovalRule
from offing.engine.events import Progress
from offing.engine.store import Store
from offing.engine.store.people import Questioned
from offing.namespaces import Effect, ToolOutput, ToolPolicy
from offing.namespaces.errors import NamespaceError
from offing.namespaces.mcp import McpNamespace
from worlds import outside, state_of

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


@dataclass
class Work:
    """An engine over one server, whose model does some steps in session `s`."""

    engine: Engine
    session: Session

    @property
    async def results(self) -> list[ToolResult]:
        state = await state_of(self.engine, "s")
        return [one for message in state.conversation.messages for one in message.results]


@asynccontextmanager
async def at_work(
    namespace: McpNamespace,
    *steps: Step | str,
    store: Store | None = None,
    credentials: Mapping[str, str] | None = None,
) -> AsyncGenerator[Work]:
    secrets = {name: SecretStr(value) for name, value in (credentials or {}).items()}
    model = Scripted(steps)
    async with Engine(
        model, [namespace], store=store or MemoryStore(), approvals=ALLOWED, outside=outside()
    ) as engine:
        yield Work(engine, engine.session("s", credentials={namespace.name: secrets}))


async def results(namespace: McpNamespace, *calls: Call, **given: Any) -> list[ToolResult]:  # noqa: ANN401
    """What the model reads of calls, made one after another."""
    async with at_work(namespace, *(Step(calls=[one]) for one in calls), "done", **given) as work:
        assert (await work.session.ask("Go.")).answered
        return await work.results


async def told(namespace: McpNamespace, *calls: Call, **given: Any) -> list[str]:  # noqa: ANN401
    return [one.content for one in await results(namespace, *calls, **given)]


async def reason(namespace: McpNamespace, **given: Any) -> str:  # noqa: ANN401
    """Why it is not connected; the session works all the same."""
    async with at_work(namespace, "done", **given) as work:
        assert (await work.session.ask("Go.")).answered
        ((name, why),) = [(one.name, one.reason) for one in work.session.disconnected]
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


async def test_a_policy_that_fits_no_tool_is_told(raw: Raw, caplog: pytest.LogCaptureFixture) -> None:
    async with raw(policies=[ToolPolicy("Look", hidden=True)]).connect({}):
        pass
    assert [one.getMessage() for one in caplog.records] == ["a policy of raw fits none of its tools: 'Look'"]


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
    assert await told(raw({"at_start": "junk"}), call("junk", word="a")) == ["junk"]
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
    first, second = await results(namespace, call("pay", word="10"), call("add", word="20"))
    assert first.error
    assert first.content == snapshot("""\
Outcome unknown: raw__pay was started and did not come to an end (the connection to raw was lost: the \
server has ended; it wrote: out of memory). It may have taken effect. Inspect before repeating.\
""")
    assert second == ToolResult("2.1", "add 20")
    assert raw.lines == ["started", "pay 10", "started", "add 20"]


async def test_a_server_that_dies_at_each_call_is_connected_a_bounded_number_of_times(raw: Raw) -> None:
    namespace = raw({"dies": {"look": 99}}, reconnects=3)
    *_, last = await told(namespace, *[call("look")] * 4)
    assert last == snapshot(
        "raw is not connected: it was lost 4 times in a row: the server has ended; it wrote: out of memory"
    )
    assert raw.lines.count("started") == 4


async def test_an_answer_that_is_none_leaves_what_must_not_be_repeated_unknown(raw: Raw) -> None:
    (result,) = await told(raw(), call("wrong"))
    assert result.startswith("Outcome unknown: raw__wrong was started and did not come to an end (what raw")


async def test_a_list_of_tools_that_changes_holds_from_the_next_session_on(raw: Raw) -> None:
    namespace = raw({"grows": True, "dies": {"look": 1}})
    looked, new = await results(namespace, call("look"), call("new"))
    assert looked.content == "look"  # by the second process, which lists the new tool
    assert new.content.startswith("raw has no tool 'new'.")
    assert await told(namespace, call("new")) == ["new"]


async def test_a_call_is_given_up_at_its_timeout_and_the_server_is_told(raw: Raw) -> None:
    namespace = raw(policies=[ToolPolicy("hang", timeout_s=0.3)])
    first, second = await told(namespace, call("hang"), call("look"))
    assert first.startswith("Outcome unknown: raw__hang was started and did not end within 0.3 s.")
    assert second == "look"
    assert raw.lines == ["started", "hang", "cancelled", "look"]


async def test_a_run_that_is_cancelled_tells_the_server_and_progress_is_an_event(raw: Raw) -> None:
    async with at_work(raw(), Step(calls=[call("hang")])) as work:
        async with work.session.run("Go.") as run:
            progress = [event async for event in until(run, Progress)][-1]
            assert progress == Progress("1.1", "at work (1 of 4)")
            result = await run.cancel(at_once=True)
        assert result.why == "cancelled"
    assert raw.lines == ["started", "hang", "cancelled"]


async def until(events: AsyncIterable[Any], kind: type) -> AsyncGenerator[Any]:
    async for event in events:
        yield event
        if isinstance(event, kind):
            return


async def test_an_idempotency_key_goes_with_calls_that_must_not_be_repeated(raw: Raw) -> None:
    await told(raw({"keys": True}), call("look"), call("put"), call("pay"), call("pay"))
    _, look, put, *pays = raw.lines
    assert (look, put) == ("look", "put")
    keys = [line.removeprefix("pay ") for line in pays]
    assert [len(key) for key in keys] == [64, 64]
    assert keys[0] != keys[1]


# Questions.


async def asks(namespace: McpNamespace, store: Store, *calls: Call) -> Questioned:
    """What a person is asked in the end, when the engine is closed."""
    async with at_work(namespace, Step(calls=calls), store=store) as work:
        result = await work.session.ask("Go.")
        assert result.why == "waiting"
        (question,) = result.questions
        return question


async def goes_on(
    namespace: McpNamespace, store: Store, question: Questioned, text: str
) -> list[ToolResult] | Questioned:
    """What becomes of it with an answer, in an engine and a server process of their own."""
    steps = (Step(calls=[call("never")]), "done")
    async with at_work(namespace, *steps, store=store) as work:
        await work.engine.inbox.answer("s.1", question.call, text)
        run = await work.engine.resume("s.1")
        result = await run.result()
        return await work.results if result.answered else result.questions[0]


async def test_a_question_in_the_middle_of_a_call_is_put_to_the_user_and_answered_in_another_process(
    raw: Raw,
) -> None:
    store = MemoryStore()
    question = await asks(raw(), store, call("book", word="a"))
    assert question.question == snapshot("""\
book of raw asked something in its middle, was told that nobody had answered, and came to this:
nothing is booked
With an answer it is called once more; decline leaves it at that.
raw, called for book, asks: Which day?
- day (string)
Answer with the value, or with decline.\
""")
    assert (question.options, question.schema) == (
        (),
        {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]},
    )
    assert await goes_on(raw(), store, question, "Monday") == [ToolResult("1.1", "booked Monday")]
    assert raw.lines == snapshot(
        [
            "started",
            "book a",
            'answered {"action": "cancel"}',
            "started",
            "book a",
            'answered {"action": "accept", "content": {"day": "Monday"}}',
        ]
    )


async def test_who_declines_leaves_a_call_at_what_it_came_to(raw: Raw) -> None:
    store = MemoryStore()
    question = await asks(raw(), store, call("book"))
    assert await goes_on(raw(), store, question, "decline") == [ToolResult("1.1", "nothing is booked")]
    assert raw.lines.count("book") == 1


async def test_a_page_that_a_server_wants_opened_is_a_question_and_the_call_is_made_again(raw: Raw) -> None:
    store = MemoryStore()
    question = await asks(raw({"protocol": "2025-11-25"}), store, call("page"))
    assert question.options == ("accept", "decline")
    assert question.question.endswith(
        "raw, called for page, asks: Sign in.\n"
        "It wants you to open https://example.com/in. Answer accept once you have, or decline."
    )
    again = await goes_on(raw({"protocol": "2025-11-25"}), store, question, "what?")
    assert isinstance(again, Questioned)
    assert again.question.startswith("That could not be used: the answer is accept or decline\n")
    assert await goes_on(raw({"protocol": "2025-11-25"}), store, again, "accept") == [
        ToolResult("1.1", "the page was opened")
    ]


async def test_with_no_questions_left_in_the_budget_nobody_is_asked_and_the_model_is_told(raw: Raw) -> None:
    limits = Limits(budget=Budget(questions=0))
    async with Engine(
        Scripted([Step(calls=[call("book")]), "done"]), [raw()], limits=limits, outside=outside()
    ) as engine:
        assert (await engine.session("s").ask("Go.")).answered
        (result,) = await Work(engine, engine.session("s")).results
    assert result.error
    assert result.content == snapshot("""\
The call needs an answer of a person to go on.
Nobody was asked: no further questions can be put to people. Decide yourself, or say in your answer what \
is open.\
""")


@pytest.mark.parametrize(
    ("texts", "structured", "shown"),
    [
        (["all"], None, "all"),
        (["a", "b"], None, "a\n\nb"),
        ([], {"sum": 7}, {"sum": 7}),
        (['{\n  "sum": 7\n}'], {"sum": 7}, {"sum": 7}),
        (["seven"], {"sum": 7}, 'seven\n\n{"sum":7}'),
        (["7"], {"sum": 7}, '7\n\n{"sum":7}'),
        (["all"], {"result": "all"}, "all"),
        (["[1, 2]"], {"items": [1, 2]}, "[1, 2]"),
        (["[1, 2]"], [1, 2], [1, 2]),
    ],
)
def test_what_a_result_says_twice_is_shown_once(texts: list[str], structured: object, shown: object) -> None:
    from mcp.types import CallToolResult, TextContent

    from offing.namespaces.mcp.output import output_of

    result = CallToolResult(content=[TextContent(text=text) for text in texts], structured_content=structured)
    assert output_of(result) == ToolOutput(shown)  # type: ignore[arg-type]


# Today's protocol, spoken by the SDK's own server.


@dataclass(frozen=True)
class Shop:
    """A server over HTTP, and what it noted."""

    process: "subprocess.Popen[str]"
    url: str
    log: Path


@contextmanager
def shop_at(folder: Path) -> Generator[Shop]:
    command = [sys.executable, str(HERE / "mcp_server.py"), str(folder / "log"), "http"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        yield Shop(process, f"http://127.0.0.1:{port}/mcp", folder / "log")
        process.kill()


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with shop_at(tmp_path_factory.mktemp("shop")) as shop:
        yield shop


async def test_all_that_a_result_can_hold_comes_through(shop: Shop) -> None:
    calls = [
        call("look", ns="shop", word="a"),
        call("shown", ns="shop"),
        call("read_resource", ns="shop", uri="note://1"),
        call("boom", ns="shop", word=None),
    ]
    looked, shown, read, failed = await results(McpNamespace("shop", url=shop.url), *calls)
    assert looked == ToolResult("1.1", '{"word":"a","found":2}')
    assert shown.content == snapshot("""\
here

[link to a resource: the note, note://1, text/plain, 8 bytes]

[resource note://1]
the note

[resource file:///a/b.bin, attached]

[image: image/png, whose data is no base64 and cannot be shown]

{"total":7}
[result/2.1/image.png: image/png, 9 bytes]
[result/2.1/audio: audio/wav, 4 bytes]
[result/2.1/b.bin: application/octet-stream, 2 bytes]\
""")
    assert [(one.mime, one.name) for one in shown.media] == [("image/png", "image.png")]
    assert read == ToolResult("3.1", "[resource note://1]\nthe whole note")
    assert failed == ToolResult("4.1", "Error executing tool boom", error=True)


async def test_a_question_of_todays_protocol_waits_and_the_call_goes_on_with_the_answer(shop: Shop) -> None:
    namespace, store = McpNamespace("shop", url=shop.url), MemoryStore()
    question = await asks(namespace, store, call("book", ns="shop", word="a"))
    assert question.question == snapshot("""\
shop, called for book, asks: Which day for a?
- day (string) Day
- people (integer) People
Answer with one `name: value` a line, with a JSON object, or with decline.\
""")
    unfit = await goes_on(namespace, store, question, "day: Monday\npeople: many")
    assert isinstance(unfit, Questioned)
    assert unfit.question.startswith('That could not be used: people: got "many"; expected type "integer"\n')
    done = await goes_on(namespace, store, unfit, '{"day": "Monday", "people": 3}')
    assert done == [ToolResult("1.1", "booked a on Monday for 3")]
    assert shop.log.read_text() == "book a Monday 3\n"


async def test_a_call_is_made_from_the_beginning_when_the_state_of_its_question_died_with_the_server(
    raw: Raw,
) -> None:
    store, modern = MemoryStore(), raw({"protocol": "2026-07-28"})
    question = await asks(modern, store, call("book", word="b"))
    done = await goes_on(modern, store, question, "Friday")
    assert done == [ToolResult("1.1", "booked Friday")]
    assert raw.lines == [
        "started",
        "book b",
        "started",
        "book b",
        "unknown state",
        "book b",
        "book b",
        'answered {"action": "accept", "content": {"day": "Friday"}}',
    ]


async def test_a_server_that_wants_to_use_the_hosts_model_is_refused(raw: Raw) -> None:
    (refused,) = await results(raw({"protocol": "2026-07-28"}), call("model"))
    assert refused.error
    assert refused.content == "The server asks for sampling/createMessage, which is not offered to servers."


async def test_a_server_over_http_gets_the_sessions_credentials_and_its_death_is_told(tmp_path: Path) -> None:
    async def play(book: Playbook, text: str) -> str:
        await book.calls(Call("new__who", {}), Call("old__who", {}))
        shop.process.kill()
        await book.call("new__who")
        await book.call("new__boom")
        await book.call("old__boom")
        return "done"

    with shop_at(tmp_path) as shop:
        headers = {"Authorization": "Bearer {token}"}
        new = McpNamespace("new", url=shop.url, headers=headers)
        old = McpNamespace("old", url=shop.url, headers=headers, protocol="legacy")
        token = {"token": SecretStr("hush-hush-secret")}
        async with Engine(Scripted(play), [new, old], approvals=ALLOWED, outside=outside()) as engine:
            session = engine.session("s", credentials={"new": token, "old": token})
            assert (await session.ask("Go.")).answered
            who, whom, *failed = await Work(engine, session).results
    assert (who.content, whom.content) == ("Bearer [secret]", "Bearer [secret]")
    assert len(failed) == 3
    for one in failed:  # nothing was sent, so that no outcome is unknown
        assert one.error
        assert re.search("is not connected: .*ConnectError: All connection attempts failed", one.content)


async def test_an_address_that_refuses_is_reported_with_its_status(loopback_status: str) -> None:
    why = await reason(McpNamespace("x", url=loopback_status))
    assert why.endswith("its last error was HTTP 401")


@pytest.fixture
def loopback_status() -> Iterator[str]:
    """An address that answers 401 to everything."""

    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(401)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()
        thread.join()
