"""What a run is as a trace: one tree, whatever happened to it and however often it was resumed."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

from inline_snapshot import snapshot

from offing.compaction.conversation import Message, Text, ToolCall, ToolResult
from offing.engine import Limits
from offing.engine.models.model import Reply
from offing.engine.store.branches import Forked
from offing.engine.store.facts import (
    Began,
    Checked,
    Fact,
    Faulted,
    Figure,
    Noted,
    Opened,
    Replied,
    Resumed,
    Settled,
    Started,
    Stopped,
    Waited,
)
from offing.engine.store.journal import Row
from offing.engine.store.people import Decided, Posted, Requested
from offing.engine.traced import About, Tree, trace_of
from offing.tracing import Usage
from offing.tracing.drawn import Wanted, draw
from offing.tracing.span import Link, Span, span_id, trace_id

NINE = 1_790_000_000_000_000
"""The time of the first row, in microseconds."""
MODEL = "anthropic:claude-opus-5-5"
OPENED = Opened(MODEL, "f" * 64, "a" * 64, "c" * 64, {})
BEGAN = Began(Message("user", (Text("Why does September not tie?"),)), Limits(), by="mara")


def reply(*calls: ToolCall, text: str = "", tokens: int = 10_000) -> Replied:
    blocks = (*((Text(text),) if text else ()), *calls)
    usage = Usage(input=tokens - 8_000, cache_read=8_000, output=200)
    return Replied(Reply(Message("assistant", blocks), "tools" if calls else "end", usage), Decimal("0.012"))


def settled(call: str, tool: str, said: str, *, error: bool = False, unknown: bool = False) -> Settled:
    return Settled(ToolResult(call, said, error), tool, unknown=unknown)


REQUESTED = Requested("2.1", "entries__post_entry", {"entry": 1}, "d" * 64, "post 1", "destructive")
POSTED = Posted(1, "joan", NINE)

HISTORY: list[tuple[int, Fact]] = [
    (0, OPENED),
    (0, BEGAN),
    (0, Resumed("host:1")),
    (1_500, Faulted("overloaded", "come back", chance=0.5)),
    (2_500, Waited()),
    (5_000, reply(ToolCall("1.1", "bank__get", {}), ToolCall("1.2", "ledger__get", {}))),
    (5_300, settled("1.2", "ledger__get", "Error: no such account")),
    (5_900, settled("1.1", "bank__get", "12.50 GBP")),
    (6_000, Noted("date:2026-09-15", "It is another day.")),
    (8_000, reply(ToolCall("2.1", "entries__post_entry", {"entry": 1}))),
    (8_100, REQUESTED),
    (8_100, Stopped("waiting", "waits for approval of 2.1")),
    (3_608_100, Resumed("host:2")),
    (3_608_100, Decided(POSTED, "2.1", approved=True)),
    (3_608_200, Started("2.1", "entries__post_entry", "k")),
    (3_609_000, settled("2.1", "entries__post_entry", "the server hung up", error=True, unknown=True)),
    (3_612_000, reply(text="12.50 GBP is missing.")),
    (3_612_100, Checked(figures=(Figure("12.50 GBP", 0, 9, (), "no record"),))),
    (3_612_100, Stopped("answered")),
]
"""A retry, parallel calls, one that failed in silence, a day of waiting for a person, an unknown outcome."""


def rows(history: Iterable[tuple[int, Fact]], run: str = "september.1") -> list[Row]:
    return [Row(seq, run, NINE + at_ms * 1_000, fact) for seq, (at_ms, fact) in enumerate(history, start=1)]


def traced(history: Iterable[tuple[int, Fact]], about: About | None = None) -> list[Span]:
    tree = Tree("september", about or About(window=100_000))
    return [span for row in rows(history) for span in tree.take(row)]


def test_a_run_with_everything_in_it_is_one_tree() -> None:
    assert "\n".join(draw(traced(HISTORY))) == snapshot("""\
invoke_agent offing                             8.1 s  20,000 in (16,000 cached), 400 out  $0.0240  waiting
├─ iteration 1                                  5.9 s  10,000 in (8,000 cached), 200 out  $0.0120
│  ├─ ✗ chat claude-opus-5-5                    1.5 s  (overloaded) come back
│  ├─ wait for retry                            1.0 s
│  ├─ chat claude-opus-5-5                      2.5 s  10,000 in (8,000 cached), 200 out  $0.0120  window 10%
│  ├─ ? execute_tool ledger__get             300.0 ms  suspect
│  └─ execute_tool bank__get                 900.0 ms
├─ iteration 2                                  2.1 s  10,000 in (8,000 cached), 200 out  $0.0120
│  └─ chat claude-opus-5-5                      2.0 s  10,000 in (8,000 cached), 200 out  $0.0120  window 10%
└─ invoke_agent offing (resumed)                4.0 s  10,000 in (8,000 cached), 200 out  $0.0120  answered
   ├─ iteration 2                            900.0 ms
   │  ├─ wait for approval                   1 h 00 min  approved  approval  joan
   │  └─ ✗ execute_tool entries__post_entry  800.0 ms  unknown  the server hung up
   └─ iteration 3                               3.1 s  10,000 in (8,000 cached), 200 out  $0.0120
      ├─ chat claude-opus-5-5                   3.0 s  10,000 in (8,000 cached), 200 out  $0.0120  window 10%
      └─ ✗ check answer                      100.0 ms  1 doubts\
""")


def test_only_what_failed_with_what_it_is_part_of() -> None:
    assert "\n".join(draw(traced(HISTORY), Wanted(failed=True))) == snapshot("""\
invoke_agent offing                             8.1 s  20,000 in (16,000 cached), 400 out  $0.0240  waiting
├─ iteration 1                                  5.9 s  10,000 in (8,000 cached), 200 out  $0.0120
│  ├─ ✗ chat claude-opus-5-5                    1.5 s  (overloaded) come back
│  └─ ? execute_tool ledger__get             300.0 ms  suspect
└─ invoke_agent offing (resumed)                4.0 s  10,000 in (8,000 cached), 200 out  $0.0120  answered
   ├─ iteration 2                            900.0 ms
   │  └─ ✗ execute_tool entries__post_entry  800.0 ms  unknown  the server hung up
   └─ iteration 3                               3.1 s  10,000 in (8,000 cached), 200 out  $0.0120
      └─ ✗ check answer                      100.0 ms  1 doubts\
""")


def test_only_the_slowest_and_only_one_tool() -> None:
    assert "\n".join(draw(traced(HISTORY), Wanted(slowest=1))) == snapshot("""\
invoke_agent offing                             8.1 s  20,000 in (16,000 cached), 400 out  $0.0240  waiting
└─ invoke_agent offing (resumed)                4.0 s  10,000 in (8,000 cached), 200 out  $0.0120  answered
   └─ iteration 3                               3.1 s  10,000 in (8,000 cached), 200 out  $0.0120
      └─ chat claude-opus-5-5                   3.0 s  10,000 in (8,000 cached), 200 out  $0.0120  window 10%\
""")
    assert "\n".join(draw(traced(HISTORY), Wanted(tool="ledger"))) == snapshot("""\
invoke_agent offing                             8.1 s  20,000 in (16,000 cached), 400 out  $0.0240  waiting
└─ iteration 1                                  5.9 s  10,000 in (8,000 cached), 200 out  $0.0120
   └─ ? execute_tool ledger__get             300.0 ms  suspect\
""")


def test_the_spans_of_a_trace_hang_together_and_each_part_has_one() -> None:
    spans = traced(HISTORY)
    assert {span.trace for span in spans} == {trace_id("september.1")}
    ids = Counter(span.id for span in spans)
    assert set(ids.values()) == {1}
    assert [span.name for span in spans if span.parent not in ids] == ["invoke_agent offing"]
    kinds = Counter(span.name.partition(" ")[0] for span in spans)
    assert kinds == {"chat": 4, "execute_tool": 3, "iteration": 4, "invoke_agent": 2, "wait": 2, "check": 1}


def test_where_the_time_went_adds_up() -> None:
    (first, resumed) = (span.attributes for span in traced(HISTORY) if span.name.startswith("invoke_agent"))
    # 1.5 s the failed call, 2.5 s and 2.0 s those that replied; tools from 5.0 to 5.9; 1 s until the retry
    times = ("model", "tools", "waiting")
    assert [first[f"offing.time.{each}_ms"] for each in times] == [6_000.0, 900.0, 1_000.0]
    assert [resumed[f"offing.time.{each}_ms"] for each in times] == [3_000.0, 800.0, 0.0]
    assert first["offing.sum.cost_usd"] == 0.024


def test_a_model_call_says_its_tokens_its_cache_and_how_full_the_window_is() -> None:
    chats = [span for span in traced(HISTORY) if span.name.startswith("chat")]
    assert [span.error for span in chats] == ["(overloaded) come back", "", "", ""]
    told = chats[1].attributes
    assert told["gen_ai.usage.input_tokens"] == 10_000  # cached ones included (WIRE.md, section 3)
    assert told["gen_ai.usage.cache_read.input_tokens"] == 8_000
    assert told["offing.context_share"] == 0.1
    assert told["offing.attempt"] == 2
    assert told["gen_ai.response.finish_reasons"] == ("tool_call",)
    assert told["gen_ai.provider.name"] == "anthropic"


def test_a_success_that_reads_like_a_failure_is_marked() -> None:
    outcomes = {
        span.attributes["gen_ai.tool.name"]: span.attributes["offing.outcome"]
        for span in traced(HISTORY)
        if "gen_ai.tool.name" in span.attributes and span.name.startswith("execute_tool")
    }
    assert outcomes == {"ledger__get": "suspect", "bank__get": "done", "entries__post_entry": "unknown"}


def test_what_a_killed_process_left_open_is_ended_by_whoever_resumes() -> None:
    killed = [
        *HISTORY[:8],
        (60_000, Resumed("host:9")),
        (62_000, reply(text="Done.")),
        (62_000, Stopped("answered")),
    ]
    spans = traced(killed)
    stretches = [(span.name, span.error, span.duration_us) for span in spans if "invoke_agent" in span.name]
    assert stretches == [
        ("invoke_agent offing", "interrupted: its process ended", 5_900_000),
        ("invoke_agent offing (resumed)", "", 2_000_000),
    ]
    # Whoever resumes knows the ids that the killed process gave its spans.
    before = traced(HISTORY[:8])
    assert {span.parent for span in before} <= {span.id for span in spans}


def test_content_is_told_only_where_it_is_wanted() -> None:
    quiet = "".join(str(span.attributes) for span in traced(HISTORY))
    assert "September" not in quiet
    assert "12.50" not in quiet
    told = [span.attributes for span in traced(HISTORY, About(content=True))]
    asked = next(each for each in told if each.get("offing.turn") == 2)
    assert "Why does September not tie?" in str(asked["gen_ai.input.messages"])
    assert "12.50 GBP" in str(asked["gen_ai.input.messages"])


def test_a_fork_is_a_trace_of_its_own_linked_to_the_run_it_came_from() -> None:
    fork = [(0, Forked("october", "october.2", 31, 7)), *HISTORY]
    (root, *_) = (span for span in traced(fork) if not span.parent)
    told = {"offing.link": "forked from", "offing.run": "october.2", "offing.iteration": 7}
    assert root.links == (Link(trace_of("october", "october.2"), span_id("october.2", "stretch", 0), told),)


def test_a_run_that_a_rollback_left_has_another_trace_than_its_successor() -> None:
    assert trace_of("september", "september.3") != trace_of("september~1", "september.3")
    assert trace_of("september", "september.3") == trace_id("september.3")


def test_no_attribute_is_unnamed_or_too_long() -> None:
    long = replace(HISTORY[7][1], result=ToolResult("1.1", "x" * 1_000_000))  # type: ignore[call-arg]
    history = [*HISTORY[:7], (5_900, long), *HISTORY[8:]]
    for span in traced(history, About(content=True)):
        assert len(span.attributes) < 128
        for value in span.attributes.values():
            assert not isinstance(value, str) or len(value) <= 32_000
