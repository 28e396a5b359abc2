"""The span of each part of a run: pure functions from what is known of the part.

What an attribute is called on the wire is said in `tracing/names.py`; here stands what is told.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import NamedTuple

from ...compaction.conversation import ToolCall, ToolResult
from ...tracing import Usage
from ...tracing.bounded import Json, bounded, document, text
from ...tracing.names import named
from ...tracing.span import Attribute, Kind, Link, Moment, Span, span_id
from ..models.catalog import taken_apart
from ..models.model import Reply, StopReason
from ..store.facts import Checked, Faulted, Replied, Settled, Stopped
from ..store.people import Answered, Decided, Expired, Questioned, Requested
from .content import reply_of

_PROVIDERS: Mapping[str, str] = {
    "gemini": "gcp.gemini",
    "vertex_ai": "gcp.vertex_ai",
    "bedrock": "aws.bedrock",
    "azure": "azure.ai.openai",
    "mistral": "mistral_ai",
    "xai": "x_ai",
    "watsonx": "ibm.watsonx.ai",
}
"""Where litellm's word for a provider is another than the GenAI conventions have."""

_FINISH: Mapping[StopReason, str] = {
    "end": "stop",
    "tools": "tool_call",
    "length": "length",
    "window": "length",
    "refusal": "content_filter",
    "pause": "stop",
}
"""Why a reply ended, in the words of the GenAI conventions."""

_FAILED = re.compile(r'\s*(?:[{\[]\s*"?)?(?:error|exception|traceback|failed|failure)\b', re.IGNORECASE)
"""How an output begins that says it failed though its call did not."""


class Interval(NamedTuple):
    """From when to when; microseconds since 1970 in UTC."""

    start_us: int
    end_us: int


class Part(NamedTuple):
    """What is told of one part of a run, wherever its span belongs."""

    what: tuple[str | int, ...]
    """Which part it is: its span's id is made of this and the run's id."""
    name: str
    told: Mapping[str, Attribute | None]
    """By what is meant, as `tracing/names.py` has it."""
    kind: Kind = "internal"
    error: str = ""
    """Why it failed; empty when it did not."""
    moments: tuple[Moment, ...] = ()
    links: tuple[Link, ...] = ()


class Within(NamedTuple):
    """Where a part belongs."""

    trace: str
    run: str
    session: str
    parent: str
    """Id of the span that it is part of; empty for the root of a trace."""

    def span(self, part: Part, time: Interval) -> Span:
        """The part's span, its attributes under all their names."""
        common: dict[str, Attribute | None] = {"session": self.session, "run": self.run}
        return Span(
            trace=self.trace,
            id=span_id(self.run, *part.what),
            parent=self.parent,
            name=text(part.name, 200),
            start_us=time.start_us,
            end_us=max(time),
            attributes=bounded(named({**part.told, **common})),
            kind=part.kind,
            error=text(part.error, 500),
            moments=part.moments,
            links=part.links,
        )


@dataclass(frozen=True, slots=True)
class Asking:
    """A model call, as far as its reply does not tell."""

    model: str
    """As configured, such as `anthropic:claude-opus-5-5`."""
    turn: int
    """Which reply of the run is asked for, from 1."""
    start_us: int
    attempt: int
    """Which attempt at it, from 1."""
    window: int | None = None
    """Tokens that the model takes; None when unknown."""
    effort: str | None = None
    first_chunk_us: int | None = None
    """When the first piece of the reply came; None when that is not known."""
    compacted: bool = False
    """Whether the model is sent less than all that was said."""
    said: Sequence[Json] | None = None
    """The newest of what it is sent; None where what was said is not told."""


def chat(asking: Asking, replied: Replied) -> Part:
    """A model call that gave a reply."""
    reply = replied.reply
    told = {
        **_asked(asking),
        **_usage(reply.usage),
        "cost": _dollars(replied.cost),
        "context_share": _share(reply.usage, asking.window),
        "finish_reasons": (_FINISH[reply.stop],),
        "response_model": None if reply.message.raw is None else reply.message.raw.model,
        "calls": len(reply.message.calls),
        **({} if asking.said is None else _spoken(asking.said, reply)),
    }
    return Part(("chat", asking.turn, asking.attempt), f"chat {_names(asking.model).model}", told, "client")


def failed_chat(asking: Asking, fault: Faulted) -> Part:
    """A model call that gave none."""
    told = {
        **_asked(asking),
        **_usage(fault.usage),
        "cost": _dollars(fault.cost),
        "error_type": fault.fault,
    }
    what = ("chat", asking.turn, asking.attempt)
    error = f"({fault.fault}) {fault.message}"
    return Part(what, f"chat {_names(asking.model).model}", told, "client", error)


def backoff(turn: int, attempt: int) -> Part:
    """The wait before a failed model call is tried again."""
    return Part(("backoff", turn, attempt), "wait for retry", {"kind": "CHAIN", "waited_for": "retry"})


def tool(call: ToolCall | None, settled: Settled, *, content: bool) -> Part:
    """A call of a tool."""
    result = settled.result
    told: dict[str, Attribute | None] = {
        "operation": "execute_tool",
        "kind": "TOOL",
        "tool": settled.tool,
        "tool_type": "function",
        "call": result.call,
        "as_called": None if call is None else call.name,
        "result_chars": len(result.content),
        "offloaded": result.handle,
        "records": len(settled.records),
        "outcome": _outcome(settled),
        "error_type": "tool_error" if result.error else None,
        **(_exchanged(call, result) if content else {}),
    }
    error = result.content if result.error else ""
    return Part(("tool", result.call), f"execute_tool {settled.tool}", told, error=error)


def _outcome(settled: Settled) -> str:
    """What became of a call; "suspect" for a success that reads like a failure, or says nothing."""
    result = settled.result
    if settled.unknown:
        return "unknown"
    if result.error:
        return "failed"
    nothing = result.content == "(no output)" and not result.media
    return "suspect" if nothing or _FAILED.match(result.content) else "done"


Heard = Decided | Answered | Expired


def waited(asked: Requested | Questioned, said: Heard) -> Part:
    """The time in which a call waited for a person."""
    kind = "approval" if isinstance(asked, Requested) else "question"
    told: dict[str, Attribute | None] = {
        "kind": "CHAIN",
        "call": asked.call,
        "tool": asked.tool if isinstance(asked, Requested) else None,
        "waited_for": kind,
        "outcome": _decision(said),
        "who": None if isinstance(said, Expired) else said.posted.who or None,
    }
    return Part(("wait", asked.call), f"wait for {kind}", told)


def _decision(said: Heard) -> str:
    match said:
        case Decided():
            return "approved" if said.approved else "denied"
        case Answered():
            return "answered"
        case Expired():
            return "expired"


def check(turn: int, checked: Checked, *, content: bool) -> Part:
    """The check of an answer."""
    doubts = [*checked.doubts, *([checked.problem] if checked.problem else [])]
    told: dict[str, Attribute | None] = {
        "kind": "EVALUATOR",
        "figures": len(checked.figures),
        "figures_unlinked": sum(bool(each.problem) for each in checked.figures),
        "doubts": document(doubts, 4_000) if doubts and content else None,
    }
    return Part(("check", turn), "check answer", told, error=f"{len(doubts)} doubts" if doubts else "")


@dataclass(frozen=True, slots=True)
class Work:
    """What was done in a stretch of a run, added up."""

    usage: Usage = field(default_factory=Usage)
    cost: Decimal | None = Decimal(0)
    """US dollars; None once the cost of one call is not known."""
    model_us: int = 0
    tools_us: int = 0
    """In which at least one tool was at work."""
    waiting_us: int = 0
    journal_us: int = 0
    """Waiting for the journal; 0 also where that was not measured."""
    retries: int = 0
    failed: int = 0
    """Calls of tools that failed."""
    unknown: int = 0
    """Calls of which nobody knows whether they took effect."""

    def __add__(self, other: "Work") -> "Work":
        return Work(
            self.usage + other.usage,
            None if self.cost is None or other.cost is None else self.cost + other.cost,
            self.model_us + other.model_us,
            self.tools_us + other.tools_us,
            self.waiting_us + other.waiting_us,
            self.journal_us + other.journal_us,
            self.retries + other.retries,
            self.failed + other.failed,
            self.unknown + other.unknown,
        )

    @property
    def told(self) -> dict[str, Attribute | None]:
        """As attributes of the span that contains the work.

        Under names of our own, so that a viewer which adds up spans counts nothing twice.
        """
        return {
            "sum.input_tokens": self.usage.prompt,
            "sum.output_tokens": self.usage.output,
            "sum.cache_read": self.usage.cache_read,
            "sum.cost_usd": _dollars(self.cost),
            "time.model_ms": self.model_us / 1000,
            "time.tools_ms": self.tools_us / 1000,
            "time.waiting_ms": self.waiting_us / 1000,
            "time.journal_ms": self.journal_us / 1000,
            "retries": self.retries,
            "calls_failed": self.failed,
            "calls_unknown": self.unknown,
        }


def iteration(number: int, stretch: int, work: Work, moments: Sequence[Moment]) -> Part:
    """One model call with its retries, and the calls of tools that it asked for."""
    told: dict[str, Attribute | None] = {"kind": "CHAIN", "iteration": number, **work.told}
    return Part(("iteration", number, stretch), f"iteration {number}", told, moments=tuple(moments))


def stretch(number: int, told: Mapping[str, Attribute | None], stopped: Stopped | None) -> Part:
    """The work on a run up to a stop; `stopped` is None when its process ended without one."""
    why = "interrupted" if stopped is None else stopped.why
    detail = "its process ended" if stopped is None else stopped.detail
    well = why in {"answered", "waiting"}
    common: dict[str, Attribute | None] = {
        "operation": "invoke_agent",
        "kind": "AGENT",
        "agent": "offing",
        "stretch": number,
        "why": why,
        "detail": text(detail, 500) or None,
        "error_type": None if well else why,
    }
    name = "invoke_agent offing (resumed)" if number else "invoke_agent offing"
    return Part(("stretch", number), name, {**common, **told}, error="" if well else f"{why}: {detail}")


class _Names(NamedTuple):
    provider: str
    model: str


def _names(model: str) -> _Names:
    """What the conventions call the provider, and what the provider calls the model."""
    known = taken_apart(model)
    if known is None:
        return _Names(model.partition(":")[0], model)
    return _Names(_PROVIDERS.get(known.provider, known.provider), known.model)


def _asked(asking: Asking) -> dict[str, Attribute | None]:
    names, first = _names(asking.model), asking.first_chunk_us
    return {
        "operation": "chat",
        "kind": "LLM",
        "provider": names.provider,
        "model": names.model,
        "stream": True,
        "effort": asking.effort,
        "first_chunk_s": None if first is None else max(0, first - asking.start_us) / 1_000_000,
        "compacted": asking.compacted or None,
        "turn": asking.turn,
        "attempt": asking.attempt,
        "window": asking.window,
    }


def _usage(usage: Usage) -> dict[str, Attribute | None]:
    return {
        "input_tokens": usage.prompt,
        "output_tokens": usage.output,
        "total_tokens": usage.prompt + usage.output,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write_5m + usage.cache_write_1h,
        "reasoning_tokens": usage.reasoning,
    }


def _share(usage: Usage, window: int | None) -> float | None:
    """How full the window is, from 0 to 1; None when its size is not known."""
    return round(usage.prompt / window, 4) if window else None


def _dollars(cost: Decimal | None) -> float | None:
    return None if cost is None else float(cost)


def _spoken(said: Sequence[Json], reply: Reply) -> dict[str, Attribute | None]:
    message = reply.message
    calls: list[Json] = [{"tool": each.name, "arguments": each.arguments} for each in message.calls]
    return {
        "input_messages": document(said),
        # Phoenix drops output messages without a finish reason (WIRE.md, section 3).
        "output_messages": document([{**reply_of(reply), "finish_reason": _FINISH[reply.stop]}]),
        "input": document(said[-1], 4_000) if said else None,
        "input_type": "application/json" if said else None,
        "output": text(message.text) if message.text else document(calls, 4_000),
        "output_type": "text/plain" if message.text else "application/json",
    }


def _exchanged(call: ToolCall | None, result: ToolResult) -> dict[str, Attribute | None]:
    arguments = None if call is None else document(call.arguments, 8_000)
    said = text(result.content)
    return {
        "arguments": arguments,
        "call_result": document(said, 8_000),
        "input": arguments,
        "input_type": "application/json",
        "output": said,
        "output_type": "application/json" if _is_json(said) else "text/plain",
    }


def _is_json(said: str) -> bool:
    if not said.startswith(("{", "[")):
        return False
    try:
        json.loads(said)
    except (ValueError, RecursionError):
        return False
    return True
