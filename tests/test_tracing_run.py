"""Real runs as traces: over a provider's wire, with failures and credentials, alone or in a host's trace."""

import logging
from collections.abc import Sequence

import pytest
from opentelemetry import trace as api
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from pydantic import SecretStr

from failing_run import BOOKS, KEPT, OVERLOADED, SECRET, SILENT, STEPS, WRONG, Kept, dollars, fail, said_in
from offing.engine import Call, Engine, MemoryStore, Result, Scripted, Step
from offing.engine.events import RunResumed
from offing.engine.notify import LogNotifier
from offing.engine.traced.recalled import recalled
from offing.namespaces import FunctionNamespace, ToolContext, tool
from offing.tracing import MetricsSink, OtlpSink, ProviderSink, Tracing
from offing.tracing.span import Span
from offing.tracing.troubles import troubles
from worlds import invoke, outside

pytestmark = pytest.mark.anyio


def root_of(spans: Sequence[Span]) -> Span:
    ids = {span.id for span in spans}
    (root,) = (span for span in spans if span.parent not in ids)
    return root


@pytest.fixture(scope="module")
async def failed() -> tuple[Result, list[Span]]:
    kept = Kept()
    KEPT.contexts.clear()
    return await fail(Tracing([kept], content=True)), kept.spans


async def test_a_failing_run_of_40_steps_is_one_tree_that_says_what_went_wrong(
    failed: tuple[Result, list[Span]],
) -> None:
    result, spans = failed
    assert (result.why, {span.trace for span in spans}) == ("limit", {result.trace})
    assert root_of(spans).error.startswith("limit: ")
    assert [(each.iteration, each.span.name) for each in troubles(spans)] == [
        (OVERLOADED, "chat claude-opus-5-5"),
        (SILENT, "execute_tool books__page"),
        (WRONG, "execute_tool books__page"),
    ]
    (wrong,) = (span for span in spans if span.error.startswith("LookupError"))
    assert '"number": 31' in str(wrong.attributes["gen_ai.tool.call.arguments"])


async def test_its_tokens_and_costs_add_up_to_the_results(failed: tuple[Result, list[Span]]) -> None:
    result, spans = failed
    chats = [span.attributes for span in spans if span.name.startswith("chat")]
    assert len(chats) == STEPS + 1
    assert sum(int(str(told["gen_ai.usage.input_tokens"])) for told in chats) == result.usage.prompt
    assert (
        sum(int(str(told["gen_ai.usage.cache_read.input_tokens"])) for told in chats)
        == result.usage.cache_read
    )
    assert dollars(spans) == result.cost
    assert root_of(spans).attributes["offing.sum.input_tokens"] == result.usage.prompt
    assert {told["offing.cache_outcome"] for told in chats if "offing.cache_outcome" in told} == {
        "first",
        "hit",
    }


async def test_no_span_has_a_credential_though_tools_say_it_aloud(failed: tuple[Result, list[Span]]) -> None:
    _, spans = failed
    said = "".join(map(said_in, spans))
    assert "asked for with [secret]" in said
    assert SECRET not in said


async def test_each_tool_is_given_the_context_of_its_own_span(failed: tuple[Result, list[Span]]) -> None:
    result, spans = failed
    calls = [span for span in spans if span.name.startswith("execute_tool")]
    assert KEPT.contexts == [f"00-{result.trace}-{span.id}-01" for span in calls]


async def test_without_content_nothing_that_was_said_is_in_a_span() -> None:
    kept = Kept()
    await fail(Tracing([kept], content=False))
    said = "".join(map(said_in, kept.spans))
    assert [
        word for word in ("GBP", "September", "I look at", "locked", "LookupError", SECRET) if word in said
    ] == []


async def test_the_journal_alone_gives_the_same_tree() -> None:
    kept, store = Kept(), MemoryStore()
    script = [Step("I look.", [invoke("page", ns="books", number=1)]), "Done."]
    async with Engine(
        Scripted(script), [BOOKS], store=store, tracing=Tracing([kept]), outside=outside()
    ) as engine:
        session = engine.session("s", credentials={"books": {"token": SecretStr(SECRET)}})
        result = await session.ask("Why?")
        found = await recalled(engine.store.journal, result.run, None, content=False)
    assert found.trace == result.trace
    assert {span.id: (span.parent, span.name) for span in found.spans} == {
        span.id: (span.parent, span.name) for span in kept.spans
    }


async def test_a_run_that_is_at_work_can_be_looked_at() -> None:
    store = MemoryStore()
    async with Engine(Scripted(["Done.", "Done."]), store=store, tracing=Tracing([Kept()])) as engine:
        result = await engine.session("s").ask("Why?")
        rows = [row async for row in store.scoped("local").journal.read("s")][:-1]
        other = MemoryStore().scoped("local").journal
        lease = await other.acquire("s")
        await other.append(lease, rows)
        found = await recalled(other, result.run, None, content=True)
    (root,) = (span for span in found.spans if not span.parent)
    assert (root.attributes["offing.why"], root.error) == ("open", "")


@tool(destructive=True)
async def close(context: ToolContext) -> str:
    """Closes the books."""
    return context.traceparent


async def test_a_run_is_one_trace_over_its_resumes_and_events_and_handles_say_which() -> None:
    kept, store = Kept(), MemoryStore()
    script = Scripted([Step(calls=[Call("books__close", {})]), "Done."])
    systems = [FunctionNamespace("books", [close])]
    async with Engine(script, systems, store=store, tracing=Tracing([kept])) as engine:
        session = engine.session("s")
        async with session.run("Close them.") as run:
            events = [event async for event in run]
        waiting = await run.result()
        await session.approve(waiting.approvals[0].call, by="ann")
        again = await session.resume(run.id)
        result = await again.result()
    (resumed,) = (event for event in events if isinstance(event, RunResumed))
    assert result.answered
    assert {resumed.trace, run.trace, again.trace, waiting.trace, result.trace} == {result.trace}
    assert {span.trace for span in kept.spans} == {result.trace}
    assert len(result.trace) == 32


async def test_a_run_that_nothing_traces_has_no_trace_and_its_tools_no_context() -> None:
    script = Scripted([Step(calls=[invoke("page", ns="books", number=1)]), "Done."])
    KEPT.contexts.clear()
    async with Engine(script, [BOOKS], tracing=Tracing()) as engine:
        result = await engine.session("s", credentials={"books": {"token": SecretStr(SECRET)}}).ask("Why?")
    assert (result.trace, KEPT.contexts) == ("", [""])


class _Broken:
    def take(self, span: Span) -> None:
        raise RuntimeError("no")

    def close(self, wait_s: float) -> None:
        pass


async def test_a_sink_that_breaks_its_promise_ends_the_tracing_and_not_the_run(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with Engine(Scripted(["Done."]), tracing=Tracing([_Broken()])) as engine:
        result = await engine.session("s").ask("Why?")
    assert result.answered
    assert "tracing is off for the rest of the session" in caplog.text


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> TracerProvider:
    """The process's own provider, for one test."""
    made = TracerProvider()
    monkeypatch.setattr(api, "_TRACER_PROVIDER", made)
    return made


async def test_a_run_begun_in_a_hosts_span_is_part_of_its_trace(provider: TracerProvider) -> None:
    kept = Kept()
    async with Engine(Scripted(["Done."]), tracing=Tracing([kept])) as engine:
        with provider.get_tracer("host").start_as_current_span("a request") as host:
            context = host.get_span_context()
            result = await engine.session("s").ask("Why?")
    root = root_of(kept.spans)
    assert result.trace == f"{context.trace_id:032x}" == root.trace
    assert root.parent == f"{context.span_id:016x}"


def parent_of(span: api.Span) -> str:
    assert isinstance(span, ReadableSpan)
    assert span.parent is not None
    return f"{span.parent.trace_id:032x} {span.parent.span_id:016x}"


@tool()
async def nested() -> str:
    """Traces something itself."""
    with api.get_tracer("client library").start_as_current_span("a query") as span:
        return parent_of(span)


@tool()
def threaded() -> str:
    """Traces something itself."""
    with api.get_tracer("client library").start_as_current_span("a query") as span:
        return parent_of(span)


async def test_what_a_tool_traces_by_itself_hangs_below_its_call(provider: TracerProvider) -> None:
    kept = Kept()
    calls = [Call("own__nested", {}), Call("own__threaded", {})]
    async with Engine(
        Scripted([Step(calls=calls), "Done."]),
        [FunctionNamespace("own", [nested, threaded])],
        tracing=Tracing([kept], content=True),
    ) as engine:
        await engine.session("s").ask("Why?")
    spans = [span for span in kept.spans if span.name.startswith("execute_tool")]
    assert [span.attributes["output.value"] for span in spans] == [
        f"{span.trace} {span.id}" for span in spans
    ]
    provider.shutdown()


def kinds(tracing: Tracing) -> list[type]:
    return [type(sink) for sink in tracing.sinks]


def test_a_hosts_own_provider_is_joined(provider: TracerProvider) -> None:
    assert kinds(Tracing.of_environment({})) == [ProviderSink, MetricsSink]
    assert kinds(Tracing.of_environment({"OTEL_SDK_DISABLED": "true"})) == []
    assert kinds(Tracing.of_environment({"OTEL_TRACES_EXPORTER": "none"})) == []


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, []),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, [OtlpSink]),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, [OtlpSink]),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, [OtlpSink]),
        ({"OTEL_TRACES_EXPORTER": "console"}, []),
        ({"OTEL_TRACES_EXPORTER": "console", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, []),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318", "OTEL_SDK_DISABLED": "TRUE"}, []),
    ],
    ids=str,
)
def test_without_one_the_standards_variables_say_where_spans_go(
    environment: dict[str, str], expected: list[type]
) -> None:
    assert kinds(Tracing.of_environment(environment)) == expected


async def test_log_records_of_a_run_say_which_trace_it_is_in(caplog: pytest.LogCaptureFixture) -> None:
    script = Scripted([Step(calls=[Call("books__close", {})])])
    async with Engine(
        script, [FunctionNamespace("books", [close])], tracing=Tracing([Kept()]), notifier=LogNotifier()
    ) as engine:
        result = await engine.session("s").ask("Close them.")
    (record,) = (each for each in caplog.records if each.name == "offing" and each.levelno == logging.WARNING)
    assert (record.__dict__["run"], record.__dict__["trace_id"]) == (result.run, result.trace)
