"""What every wire of the loopback server shares: the bytes of a response, and what a fault makes of them.

A wire is one provider's protocol, a file each: `loopback_anthropic`, `loopback_openai`,
`loopback_responses`, `loopback_gemini`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal, Protocol, TypeAlias

from loopback_answers import (
    Answer,
    Block,
    Drop,
    ErrorEvent,
    HttpError,
    NoStop,
    RedactedThinking,
    Stall,
    Thinking,
    Usage,
    wire_block,
)
from loopback_prompt import THINKING, JsonObject
from loopback_script import Seen

MAX_BODY_BYTES = 32 * 1024 * 1024

Streamed: TypeAlias = Answer | ErrorEvent | Drop | Stall | NoStop
"""A reply that is a stream, or was to become one."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is written for one request, and how it ends."""

    head: bytes
    chunks: Sequence[bytes] | None = None
    """Server-sent events, a chunk each; None when the head is all there is."""
    end: Literal["clean", "cut", "hold"] = "clean"

    @property
    def wire(self) -> bytes:
        """All bytes of the response; a clean stream closes its chunked body."""
        if self.chunks is None:
            return self.head
        body = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in self.chunks)
        return self.head + body + (b"0\r\n\r\n" if self.end == "clean" else b"")


@dataclass(frozen=True, slots=True)
class Events:
    """The server-sent events of a whole answer."""

    opening: Sequence[bytes]
    blocks: Sequence[Sequence[bytes]]
    """Those of each block of the answer."""
    closing: Sequence[bytes]
    """Those that tell a whole answer from a broken one."""

    @property
    def unfinished(self) -> list[bytes]:
        """All but the closing ones."""
        return [*self.opening, *(one for block in self.blocks for one in block)]


class Exchange(Protocol):
    """One request as its wire reads it, and what may be answered."""

    def refusal(self) -> HttpError | None:
        """The first complaint about the request, None if the API would take it."""
        ...

    def plan(self, reply: Streamed) -> Plan:
        """The response that streams the reply."""
        ...


class Wire(Protocol):
    """One provider's protocol."""

    def unroutable(self, method: str, seen: Seen) -> HttpError | None:
        """What is wrong with the request before its body is read: path, key, headers, size."""
        ...

    def answered(self, body: JsonObject) -> int:
        """How many replies of the model the request holds: the position of the one it asks for."""
        ...

    def exchange(self, seen: Seen, number: str) -> Exchange:
        """Read one request; `number` is the id that its response carries."""
        ...

    def refused(self, complaint: str) -> HttpError:
        """A complaint as this API's 400."""
        ...

    def error(self, fault: HttpError, number: str) -> Plan:
        """An error response as the API words it."""
        ...


def stream_head(header: str, number: str) -> bytes:
    """The head of a stream; `header` is the one that carries the request's id."""
    return (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
        b"cache-control: no-cache\r\ntransfer-encoding: chunked\r\n%s: %s\r\n\r\n"
    ) % (header.encode(), number.encode())


def status_plan(fault: HttpError, body: JsonObject, headers: Mapping[str, str]) -> Plan:
    """A response that is no stream; the fault's own headers and raw body win."""
    content = json.dumps(body).encode() if fault.raw is None else fault.raw.encode()
    phrase = next((known.phrase for known in HTTPStatus if known == fault.status), "Error")
    kind = "application/json" if fault.raw is None else "text/html"
    lines = [f"{k}: {v}" for k, v in {"content-type": kind, **headers, **fault.headers}.items()]
    first = f"HTTP/1.1 {fault.status} {phrase}\r\ncontent-length: {len(content)}"
    return Plan("\r\n".join([first, *lines]).encode("latin-1") + b"\r\n\r\n" + content)


def planned(reply: Streamed, events: Events, head: bytes, error: Callable[[ErrorEvent], bytes]) -> Plan:
    """The events of an answer, and what a fault makes of them."""
    whole = [*events.unfinished, *events.closing]
    match reply:
        case ErrorEvent():
            kept = [one for block in events.blocks[: reply.after_blocks] for one in block]
            return Plan(head, [*events.opening, *kept, error(reply)])
        case Drop():
            return _dropped(reply, whole, head)
        case Stall(after_events=None):
            return Plan(b"", end="hold")
        case Stall():
            return Plan(head, whole[: reply.after_events], "hold")
        case NoStop():
            return Plan(head, events.unfinished[: reply.after_events])
        case _:
            return Plan(head, whole)


def answer_of(reply: Streamed) -> Answer:
    """The whole answer that a reply is, or was to become."""
    return reply if isinstance(reply, Answer) else reply.answer


def spoken(answer: Answer) -> Usage:
    """The output side of an answer's usage: a token is four characters."""
    said = sum(map(_size, answer.blocks))
    thoughts = (Thinking, RedactedThinking)
    thought = sum(_size(block) for block in answer.blocks if isinstance(block, thoughts))
    return Usage(output_tokens=max(1, said), thinking_tokens=thought)


def _dropped(reply: Drop, whole: list[bytes], head: bytes) -> Plan:
    if reply.after_events is not None:
        return Plan(head, whole[: reply.after_events], "cut")
    if reply.after_bytes is None:
        return Plan(b"", end="cut")
    sent = b"".join(whole)[: reply.after_bytes]
    return Plan(head, [sent] if sent else [], "cut")


def _size(block: Block) -> int:
    sent = wire_block(block)
    hidden = {"signature"} if sent.get("type") in THINKING else {"type", "id"}
    return sum(len(str(value)) for key, value in sent.items() if key not in hidden) // 4
