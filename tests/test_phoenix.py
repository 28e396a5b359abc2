"""What a real Phoenix makes of our spans: kinds, tree, messages, tokens, costs, sessions, failures."""

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from command import offing_here
from failing_run import QUESTION, SECRET, WRONG, Kept, fail
from offing.engine import Result
from offing.engine.clock import Outside
from offing.tracing import OtlpSink, Tracing
from offing.tracing.file import read_trace
from offing.tracing.span import Span
from phoenix_server import Phoenix, phoenix

pytestmark = pytest.mark.anyio

SESSIONS = """query ($id: ID!) { node(id: $id) { ... on Project { sessions(first: 9) { edges { node {
  sessionId numTraces tokenUsage { prompt completion } costSummary { total { cost } }
  firstInput { value } } } } } } }"""
PROJECTS = "{ projects { edges { node { id name } } } }"
COST = """query ($id: ID!) { node(id: $id) { ... on Project { costSummary { total { cost } }
  tokenCountPrompt tokenCountCompletion } } }"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Phoenix]:
    with phoenix(tmp_path_factory.mktemp("phoenix")) as one:
        yield one


class Sent(NamedTuple):
    """A run whose spans were sent, and what Phoenix has of it."""

    result: Result
    spans: Sequence[Span]
    shown: Sequence[Mapping[str, Any]]
    project: str

    def named(self, beginning: str) -> list[Mapping[str, Any]]:
        found = [span for span in self.shown if span["name"].startswith(beginning)]
        return sorted(found, key=lambda span: str(span["start_time"]))


@pytest.fixture(scope="module")
async def failed(server: Phoenix) -> Sent:
    kept, sink = Kept(), OtlpSink(server.traces, resource={"openinference.project.name": "close"})
    result = await fail(Tracing([kept, sink], content=True), clock=Outside())
    shown = server.spans("close", len(kept.spans))
    edges = server.query(PROJECTS)["projects"]["edges"]
    (project,) = (each["node"]["id"] for each in edges if each["node"]["name"] == "close")
    return Sent(result, kept.spans, shown, project)


async def test_every_span_has_its_kind_and_its_parent(failed: Sent) -> None:
    assert Counter(span["span_kind"] for span in failed.shown) == {
        "AGENT": 1,
        "CHAIN": 41,
        "LLM": 41,
        "TOOL": 40,
    }
    assert {(span["context"]["span_id"], span["parent_id"]) for span in failed.shown} == {
        (span.id, span.parent or None) for span in failed.spans
    }
    assert {span["context"]["trace_id"] for span in failed.shown} == {failed.result.trace}


async def test_what_failed_is_marked_with_its_reason_and_its_arguments(failed: Sent) -> None:
    wrong = failed.named("execute_tool")[WRONG - 1]
    assert wrong["status_code"] == "ERROR"
    assert wrong["status_message"].startswith("LookupError: no page 31; the token [secret]")
    assert wrong["attributes"]["input.value"] == '{"tool": "page", "arguments": {"number": 31}}'
    errors = [span["name"] for span in failed.shown if span["status_code"] == "ERROR"]
    assert Counter(errors) == {
        "chat claude-opus-5-5": 1,
        "execute_tool books__page": 1,
        "invoke_agent offing": 1,
    }


async def test_messages_are_shown_with_their_calls_and_results(failed: Sent) -> None:
    third = failed.named("chat")[2]["attributes"]
    said = [third[f"llm.input_messages.{place}.message.role"] for place in range(5)]
    assert said == ["user", "assistant", "tool", "assistant", "tool"]
    assert third["llm.input_messages.0.message.content"] == QUESTION
    first = "llm.output_messages.0.message"
    assert third[f"{first}.content"] == "I look at page 3."
    assert third[f"{first}.tool_calls.0.tool_call.function.name"] == "books__invoke_tool"
    assert SECRET not in str(failed.shown)


async def test_tokens_with_their_cache_and_costs_are_those_of_the_run(server: Phoenix, failed: Sent) -> None:
    chats, usage = [span["attributes"] for span in failed.named("chat")], failed.result.usage
    counted = Counter[str]()
    for told in chats:
        counted.update({key: told[key] for key in told if key.startswith("llm.token_count.")})
    assert counted["llm.token_count.prompt"] == usage.prompt
    assert counted["llm.token_count.completion"] == usage.output
    assert counted["llm.token_count.prompt_details.cache_read"] == usage.cache_read
    assert counted["llm.token_count.prompt_details.cache_write"] == usage.cache_write_5m
    told = server.query(COST, id=failed.project)["node"]
    assert (told["tokenCountPrompt"], told["tokenCountCompletion"]) == (usage.prompt, usage.output)
    # Phoenix computes costs by a price list of its own.
    assert Decimal(str(told["costSummary"]["total"]["cost"])).quantize(Decimal("1e-7")) == failed.result.cost


async def test_a_session_is_a_session_there(server: Phoenix, failed: Sent) -> None:
    (session,) = server.query(SESSIONS, id=failed.project)["node"]["sessions"]["edges"]
    node = session["node"]
    assert (node["sessionId"], node["numTraces"], node["firstInput"]["value"]) == ("september", 1, QUESTION)
    assert node["tokenUsage"] == {
        "prompt": failed.result.usage.prompt,
        "completion": failed.result.usage.output,
    }


def test_the_demo_arrives_over_grpc_where_the_standards_variables_say(
    server: Phoenix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = offing_here(
        "demo",
        OTEL_EXPORTER_OTLP_ENDPOINT=server.grpc,
        OTEL_EXPORTER_OTLP_PROTOCOL="grpc",
        OTEL_RESOURCE_ATTRIBUTES="openinference.project.name=demo",
        OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="SPAN_ONLY",
    )
    assert done.returncode == 0, done.stderr
    (file,) = Path(".offing").rglob("*.jsonl")
    count = len(read_trace(file.parent, file.stem))
    shown = server.spans("demo", count)
    assert len(shown) == count
    ids = {span["context"]["span_id"] for span in shown}
    assert [span["name"] for span in shown if span["parent_id"] not in ids] == ["invoke_agent offing"]
    kinds = Counter(span["span_kind"] for span in shown)
    assert kinds["LLM"] >= 20
    assert kinds["TOOL"] >= 20
    assert "UNKNOWN" not in kinds
    (root,) = (span for span in shown if span["parent_id"] is None)
    assert root["attributes"]["input.value"].startswith("Reconcile all five accounts")
    assert root["status_code"] == "UNSET"
