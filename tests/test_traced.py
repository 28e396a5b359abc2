"""What a run is as a trace: one tree, whatever happened to it and however often it was resumed."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal

import pytest
from inline_snapshot import snapshot

from offing.compaction.conversation import Digest, Message, Pass, Text, ToolCall, ToolResult
from offing.engine import Limits
from offing.engine.history.fork import Point, Target, forked
from offing.engine.models.model import Reply
from offing.engine.store.cached import Cached, Warmed
from offing.engine.store.facts import (
    Began,
    Checked,
    Compacted,
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
from offing.engine.traced import About, Tree
from offing.engine.traced.host import span_of
from offing.tracing import Usage
from offing.tracing.drawn import Wanted, draw
from offing.tracing.span import Link, Span

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


def rows(history: Iterable[tuple[int, Fact]], run: str = "september.1", after: int = 0) -> list[Row]:
    return [
        Row(seq, run, NINE + at_ms * 1_000, fact)
        for seq, (at_ms, fact) in enumerate(history, start=after + 1)
    ]


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
   │  └─ ✗ execute_tool entries__post_entry  800.0 ms  unknown
   └─ iteration 3                               3.1 s  10,000 in (8,000 cached), 200 out  $0.0120
      ├─ chat claude-opus-5-5                   3.0 s  10,000 in (8,000 cached), 200 out  $0.0120  window 10%
      └─ ✗ check answer                      100.0 ms  1 doubt\
""")


def test_only_what_failed_with_what_it_is_part_of() -> None:
    assert "\n".join(draw(traced(HISTORY), Wanted(failed=True))) == snapshot("""\
invoke_agent offing                             8.1 s  20,000 in (16,000 cached), 400 out  $0.0240  waiting
├─ iteration 1                                  5.9 s  10,000 in (8,000 cached), 200 out  $0.0120
│  ├─ ✗ chat claude-opus-5-5                    1.5 s  (overloaded) come back
│  └─ ? execute_tool ledger__get             300.0 ms  suspect
└─ invoke_agent offing (resumed)                4.0 s  10,000 in (8,000 cached), 200 out  $0.0120  answered
   ├─ iteration 2                            900.0 ms
   │  └─ ✗ execute_tool entries__post_entry  800.0 ms  unknown
   └─ iteration 3                               3.1 s  10,000 in (8,000 cached), 200 out  $0.0120
      └─ ✗ check answer                      100.0 ms  1 doubt\
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
    assert len({span.trace for span in spans}) == 1
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
    assert [resumed.get(f"offing.time.{each}_ms") for each in times] == [3_000.0, 800.0, None]
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


def fork_of(rows_of_it: list[Row]) -> list[Row]:
    """The rows of a fork at iteration 1, and how it went on."""
    copied = forked(rows_of_it, Point("september", "september.1", 1), Target("october", NINE + 9_000_000_000))
    later = [(9_001_000, Resumed("host:3", trace="d" * 32)), (9_002_000, Stopped("answered"))]
    return [*copied, *rows(later, "october.1", len(copied))]


def test_a_fork_is_a_trace_of_its_own_linked_to_the_run_it_came_from() -> None:
    history = [
        (at, replace(fact, trace="e" * 32) if isinstance(fact, Resumed) else fact) for at, fact in HISTORY
    ]
    source = Tree("september", About())
    original = [span for row in rows(history) for span in source.take(row)]
    fork = [span for row in fork_of(rows(history)) for span in FORKED.take(row)]
    (root,) = (span for span in fork if not span.parent)
    (origin,) = (span for span in original if not span.parent)
    told = {"offing.link": "forked from", "offing.run": "september.1", "offing.iteration": 1}
    assert root.links == (Link("e" * 32, origin.id, told),)
    assert {origin.trace} == {span.trace for span in original} == {"e" * 32}
    assert (root.trace, root.error) == ("d" * 32, "")  # what was copied did not fail
    assert {span.id for span in fork} & {span.id for span in original} == set()


FORKED = Tree("october", About())


def test_runs_of_the_same_name_share_no_span() -> None:
    """Tenants may name their sessions alike, a name be used again, a rollback leave a run of that name."""
    other = [replace(row, at=row.at + 1) for row in rows(HISTORY)]
    trees = [(Tree("september", About()), rows(HISTORY)), (Tree("september", About()), other)]
    trees.append((Tree("september~1", About()), rows(HISTORY)))
    spans = [span for tree, of in trees for row in of for span in tree.take(row)]
    assert len({span.id for span in spans}) == len(spans)
    assert len({span.trace for span in spans}) == 3


HOST = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"
OTHER = "00-" + "c" * 32 + "-" + "d" * 16 + "-01"


def test_a_run_begun_in_a_hosts_span_is_part_of_its_trace_however_it_goes_on() -> None:
    history = [
        *HISTORY[:2],
        (0, Resumed("host:1", trace="a" * 32, host=HOST)),
        *HISTORY[3:12],
        (3_608_100, Resumed("host:2", trace="a" * 32, host=OTHER)),
        *HISTORY[13:],
    ]
    spans = traced(history)
    assert {(span.trace, span.is_joined) for span in spans} == {("a" * 32, True)}
    root, later = (span for span in spans if span.name.startswith("invoke_agent"))
    assert (root.parent, root.links) == ("b" * 16, ())
    assert (later.parent, later.links) == (
        root.id,
        (Link("c" * 32, "d" * 16, {"offing.link": "resumed in"}),),
    )


@pytest.mark.parametrize(
    "context",
    ["", "00", HOST[:-1], HOST.upper(), f"00-{'0' * 32}-{'b' * 16}-01", HOST[:-2] + "00", HOST + "-x"],
)
def test_what_is_no_kept_context_joins_nothing(context: str) -> None:
    assert span_of(context) is None


def test_a_pass_is_a_span_and_what_follows_says_that_it_was_compacted() -> None:
    done = Pass(4, digest=Digest("What was found.", 4, (0,)))
    compacted = Compacted(
        done, "full", 81_000, 48_000, writer="model", calls=1, usage=Usage(70_000, output=900)
    )
    history = [*HISTORY[:10], (8_200, compacted), (9_000, reply(text="Done.")), (9_000, Stopped("answered"))]
    spans = traced(history)
    (made,) = (span for span in spans if span.name.startswith("compaction"))
    told = {
        key: value for key, value in made.attributes.items() if key.startswith("offing.") or "usage" in key
    }
    assert (told["offing.tokens_before"], told["offing.tokens_after"]) == (81_000, 48_000)
    assert (told["offing.digest_writer"], told["gen_ai.usage.input_tokens"]) == ("model", 70_000)
    chats = [span.attributes.get("gen_ai.conversation.compacted") for span in spans if "chat" in span.name]
    assert chats == [None, None, None, True]
    (root,) = (span for span in spans if not span.parent)
    assert root.attributes["offing.sum.output_tokens"] == 900 + 3 * 200


def test_a_broken_cache_says_which_layer_broke_it_and_whether_it_had_to() -> None:
    layers = ("t", "c", "h")
    cached = [
        Cached(MODEL, "5m", 3, layers, "hit"),
        Cached(MODEL, "5m", 4, layers, "expired", missed=8_000),
        Cached(MODEL, "5m", 5, layers, "changed", missed=9_000, layer="history"),
    ]
    said = [(1_000 * place, replace(reply(text="x"), cached=each)) for place, each in enumerate(cached, 1)]
    spans = traced([*HISTORY[:3], *said, (9_000, Stopped("answered"))])
    keys = ("cache_outcome", "cache_missed", "cache_layer", "cache_expected")
    assert [
        tuple(span.attributes.get(f"offing.{key}") for key in keys) for span in spans if "chat" in span.name
    ] == [("hit", 0, None, None), ("expired", 8_000, None, True), ("changed", 9_000, "history", False)]


def test_a_prompt_kept_warm_while_a_run_waits_is_a_call_with_its_cost() -> None:
    warm = Warmed(Usage(cache_read=9_000), Decimal("0.001"))
    spans = traced([*HISTORY[:12], (240_000, warm), *HISTORY[12:]])
    (root,) = (span for span in spans if not span.parent)
    (made,) = (span for span in spans if span.attributes.get("offing.purpose"))
    assert (made.parent, made.attributes["llm.cost.total"]) == (root.id, 0.001)


def test_no_attribute_is_unnamed_or_too_long() -> None:
    long = replace(HISTORY[7][1], result=ToolResult("1.1", "x" * 1_000_000))  # type: ignore[call-arg]
    history = [*HISTORY[:7], (5_900, long), *HISTORY[8:]]
    for span in traced(history, About(content=True)):
        assert len(span.attributes) < 128
        for value in span.attributes.values():
            assert not isinstance(value, str) or len(value) <= 32_000


def family() -> list[Row]:
    """A run that hands work to two strands; the second waits for a person, and so does the run."""
    top, first, second = "september.1", "september.1.1.1.1", "september.1.1.1.2"
    handed = reply(ToolCall("1.1", "delegate", {"strands": []}))
    called = [reply(ToolCall(f"1.1.{each}.1.1", "bank__get", {})) for each in (1, 2)]
    history: list[tuple[int, str, Fact]] = [
        (0, "", OPENED),
        (0, top, BEGAN),
        (0, top, Resumed("host:1")),
        (1_000, top, handed),
        (1_100, first, BEGAN),
        (1_100, second, BEGAN),
        (2_000, second, called[1]),
        (2_100, first, called[0]),
        (2_200, second, replace(REQUESTED, call="1.1.2.1.1")),
        (2_300, first, settled("1.1.1.1.1", "bank__get", "no", error=True)),
        (3_000, first, reply(text="Done.")),
        (3_000, first, Stopped("answered")),
        (3_000, top, Stopped("waiting", "waits for approval of 1.1.2.1.1")),
        (60_000, top, Resumed("host:2")),
        (60_000, second, Decided(POSTED, "1.1.2.1.1", approved=True)),
        (60_400, second, settled("1.1.2.1.1", "bank__get", "1 GBP")),
        (61_000, second, Stopped("limit", "all are used")),
        (61_000, top, settled("1.1", "delegate", "one strand has an answer")),
        (62_000, top, reply(text="Done.")),
        (62_000, top, Stopped("answered")),
    ]
    return [Row(seq, run, NINE + ms * 1_000, fact) for seq, (ms, run, fact) in enumerate(history, start=1)]


def test_children_hang_below_the_call_that_handed_them_their_work() -> None:
    tree = Tree("september", About())
    spans = [span for row in family() for span in tree.take(row)]
    assert len({span.id for span in spans}) == len(spans)
    assert "\n".join(draw(spans)) == snapshot("""\
invoke_agent offing                             3.0 s  40,000 in (32,000 cached), 800 out  $0.0480  waiting
├─ iteration 1                                  3.0 s  40,000 in (32,000 cached), 800 out  $0.0480
│  └─ chat claude-opus-5-5                      1.0 s  10,000 in (8,000 cached), 200 out  $0.0120
└─ invoke_agent offing (resumed)                2.0 s  10,000 in (8,000 cached), 200 out  $0.0120  answered
   ├─ iteration 1                            1 min 00 s
   │  └─ execute_tool delegate               1 min 00 s
   │     ├─ invoke_agent offing strand          1.9 s  20,000 in (16,000 cached), 400 out  $0.0240  answered
   │     │  ├─ iteration 1                      1.2 s  10,000 in (8,000 cached), 200 out  $0.0120
   │     │  │  ├─ chat claude-opus-5-5          1.0 s  10,000 in (8,000 cached), 200 out  $0.0120
   │     │  │  └─ ✗ execute_tool bank__get   200.0 ms  failed
   │     │  └─ iteration 2                   700.0 ms  10,000 in (8,000 cached), 200 out  $0.0120
   │     │     └─ chat claude-opus-5-5       700.0 ms  10,000 in (8,000 cached), 200 out  $0.0120
   │     └─ invoke_agent offing strand          1.9 s  10,000 in (8,000 cached), 200 out  $0.0120  waiting
   │        ├─ iteration 1                      1.9 s  10,000 in (8,000 cached), 200 out  $0.0120
   │        │  └─ chat claude-opus-5-5       900.0 ms  10,000 in (8,000 cached), 200 out  $0.0120
   │        └─ ✗ invoke_agent offing strand (resumed)    1.0 s  limit  limit: all are used
   │           └─ iteration 1                   1.0 s
   │              ├─ wait for approval         57.8 s  approved  approval  joan
   │              └─ execute_tool bank__get  400.0 ms
   └─ iteration 2                               1.0 s  10,000 in (8,000 cached), 200 out  $0.0120
      └─ chat claude-opus-5-5                   1.0 s  10,000 in (8,000 cached), 200 out  $0.0120\
""")


def test_what_children_took_is_in_their_parents_sums() -> None:
    tree = Tree("september", About())
    spans = [span for row in family() for span in tree.take(row)]
    tops = [
        span
        for span in spans
        if "offing.why" in span.attributes and span.attributes["offing.run"] == "september.1"
    ]
    told = [
        (span.attributes["offing.sum.output_tokens"], span.attributes.get("offing.calls_failed"))
        for span in tops
    ]
    assert told == [(4 * 200, 1), (200, None)]


def test_a_killed_familys_children_end_where_they_were() -> None:
    tree = Tree("september", About())
    rows_of_it = family()[:8]
    later = [Row(9, "september.1", NINE + 90_000_000, Resumed("host:9"))]
    spans = [span for row in [*rows_of_it, *later] for span in tree.take(row)]
    ended = [
        (span.attributes["offing.why"], span.end_us - NINE)
        for span in spans
        if "offing.why" in span.attributes
    ]
    assert ended == [("interrupted", 2_000_000), ("interrupted", 2_100_000), ("interrupted", 2_100_000)]
