"""Model calls as parts of a run, and what is done about their prompts: compaction, keeping a cache warm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ...tracing import Usage
from ...tracing.bounded import Json, document, text
from ...tracing.span import Attribute
from ..models.catalog import taken_apart
from ..models.model import Reply, StopReason
from ..store.cached import UNEXPECTED, Cached, Warmed
from ..store.facts import Compacted, Faulted, Replied
from .content import reply_of
from .parts import Part, dollars

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
    said: Sequence[str] | None = None
    """The newest messages that it is sent, as JSON; None where what was said is not told."""


def chat(asking: Asking, replied: Replied) -> Part:
    """A model call that gave a reply."""
    reply, cached = replied.reply, replied.cached
    told = {
        **_asked(asking, cached.model if cached else ""),
        **usage_told(reply.usage),
        "cost": dollars(replied.cost),
        "context_share": _share(reply.usage, asking.window),
        "finish_reasons": (_FINISH[reply.stop],),
        "response_model": None if reply.message.raw is None else reply.message.raw.model,
        "calls": len(reply.message.calls),
        **({} if cached is None else _cached(cached)),
        **({} if asking.said is None else _spoken(asking.said, reply)),
    }
    model = names_of((cached.model if cached else "") or asking.model).model
    return Part(("chat", asking.turn, asking.attempt), f"chat {model}", told, "client")


def failed_chat(asking: Asking, fault: Faulted) -> Part:
    """A model call that gave none."""
    told = {
        **_asked(asking),
        **usage_told(fault.usage),
        "cost": dollars(fault.cost),
        "error_type": fault.fault,
        "retry_after_s": None if fault.told_us is None else fault.told_us / 1_000_000,
    }
    what = ("chat", asking.turn, asking.attempt)
    error = f"({fault.fault}) {fault.message}"
    return Part(what, f"chat {names_of(asking.model).model}", told, "client", error)


def backoff(turn: int, attempt: int) -> Part:
    """The wait before a failed model call is tried again."""
    return Part(("backoff", turn, attempt), "wait for retry", {"kind": "CHAIN", "waited_for": "retry"})


def compaction(turn: int, number: int, done: Compacted) -> Part:
    """A pass over the conversation; `number` is which one before that model call."""
    calls = {**usage_told(done.usage), "cost": dollars(done.cost)} if done.calls else {}
    told: dict[str, Attribute | None] = {
        "kind": "CHAIN",
        "pass_why": done.why,
        "tokens_before": done.before,
        "tokens_after": done.after,
        "stubs": len(done.done.stubs),
        "digest_writer": done.writer or None,
        "digest_problem": text(done.problem, 500) or None,
        "digest_calls": done.calls,
        **calls,
    }
    return Part(("compaction", turn, number), f"compaction ({done.why})", told)


def warmed(number: int, model: str, fact: Warmed) -> Part:
    """The prompt of a run that waits was read in the provider's cache once more."""
    names = names_of(model)
    told: dict[str, Attribute | None] = {
        "operation": "chat",
        "kind": "LLM",
        "provider": names.provider,
        "model": names.model,
        **usage_told(fact.usage),
        "cost": dollars(fact.cost),
        "purpose": "keep the cache warm",
    }
    return Part(("warm", number), f"chat {names.model}", told, "client")


class Names(NamedTuple):
    """What the conventions call the provider, and what the provider calls the model."""

    provider: str
    model: str


@cache
def names_of(model: str) -> Names:
    """The names of a model as it is configured."""
    known = taken_apart(model)
    if known is None:
        return Names(model.partition(":")[0], model)
    return Names(_PROVIDERS.get(known.provider, known.provider), known.model)


def usage_told(usage: Usage) -> dict[str, Attribute | None]:
    """Tokens, the cached ones included in the prompt."""
    return {
        "input_tokens": usage.prompt,
        "output_tokens": usage.output,
        "total_tokens": usage.prompt + usage.output,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write_5m + usage.cache_write_1h,
        "reasoning_tokens": usage.reasoning,
    }


def _asked(asking: Asking, model: str = "") -> dict[str, Attribute | None]:
    names, first = names_of(model or asking.model), asking.first_chunk_us
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


def _cached(cached: Cached) -> dict[str, Attribute | None]:
    """What became of the prompt in the provider's cache, and which layer broke its prefix."""
    is_missed = bool(cached.missed) or cached.outcome in UNEXPECTED
    return {
        "cache_outcome": cached.outcome,
        "cache_missed": cached.missed,
        "cache_layer": cached.layer,
        "cache_expected": cached.outcome not in UNEXPECTED if is_missed else None,
        "cache_told": text(cached.told, 500) or None,
        "cache_lifetime": cached.lifetime,
    }


def _share(usage: Usage, window: int | None) -> float | None:
    """How full the window is, from 0 to 1; None when its size, or the prompt's, is not known."""
    return round(usage.prompt / window, 4) if window and usage.prompt else None


def _spoken(said: Sequence[str], reply: Reply) -> dict[str, Attribute | None]:
    message = reply.message
    calls: list[Json] = [{"tool": each.name, "arguments": each.arguments} for each in message.calls]
    return {
        "input_messages": f"[{','.join(said)}]",
        # Phoenix drops output messages without a finish reason (WIRE.md, section 3).
        "output_messages": document([{**reply_of(reply), "finish_reason": _FINISH[reply.stop]}]),
        "input": said[-1] if said else None,
        "input_type": "application/json" if said else None,
        "output": text(message.text) if message.text else document(calls, 4_000),
        "output_type": "text/plain" if message.text else "application/json",
    }
