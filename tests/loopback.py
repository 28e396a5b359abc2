"""A real HTTP/1.1 server on 127.0.0.1 that speaks `POST /v1/messages` as Anthropic documents it.

In a test, through the real client:

    with Loopback([Answer([ToolUse("add", {"a": 1})]), Answer([Text("2")])]) as server:
        client = anthropic.AsyncAnthropic(api_key="k", base_url=server.url, max_retries=0)

As a process of its own, for benchmarks and kill tests; its URL is the first line it prints:

    python tests/loopback.py --port 0 --script FILE.json

It refuses what the API refuses (`loopback_rules`), simulates the prompt cache if asked to
(`loopback_cache`), and fails as the API and networks do (`loopback_answers`). It answers streaming
requests only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from loopback_answers import (
    Answer,
    Block,
    Drop,
    Envelope,
    ErrorEvent,
    HttpError,
    NoStop,
    RedactedThinking,
    Reply,
    Stall,
    Text,
    Thinking,
    ToolUse,
    Usage,
    block_events,
    event,
    head_events,
    tail_events,
    wire_block,
)
from loopback_cache import PromptCache
from loopback_prompt import THINKING, Binding, JsonObject, Placed, answered, digest, rendered
from loopback_rules import Memory, Request, parsed, paused_content, refusal
from loopback_script import Attempts, Replies, Script, Seen, by_position, in_order, read_replies

__all__ = [
    "Answer",
    "Attempts",
    "Block",
    "Drop",
    "ErrorEvent",
    "HttpError",
    "Loopback",
    "NoStop",
    "PromptCache",
    "RedactedThinking",
    "Reply",
    "Script",
    "Seen",
    "Stall",
    "Text",
    "Thinking",
    "ToolUse",
    "Usage",
    "by_position",
    "in_order",
    "read_replies",
]

MAX_BODY_BYTES = 32 * 1024 * 1024
_THOUGHTS = (Thinking, RedactedThinking)
_STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
    b"cache-control: no-cache\r\ntransfer-encoding: chunked\r\nrequest-id: %s\r\n\r\n"
)


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


class Loopback:
    """The server; entering it starts it in a thread, leaving it closes every connection.

    Leaving raises the first error that the script itself raised, unless another is on its way; the
    client meanwhile got a 400 that names it.
    """

    def __init__(
        self,
        script: Script | Replies | None = None,
        *,
        cache: PromptCache | bool = False,
        check: bool = True,
        remember: bool = True,
        port: int = 0,
    ) -> None:
        """Prepare a server.

        Args:
            script: Replies by position (see `by_position`), or a function from request to reply;
                None says "ok" to every request.
            cache: Simulate the prompt cache; usage then tells what was read and written.
            check: Refuse what the API refuses. The rules read the whole request: off for
                benchmarks.
            remember: Keep the requests.
            port: 0 takes a free one.
        """
        self.url = ""
        self.cache = PromptCache() if cache is True else cache or None
        if script is None:
            self._script: Script = lambda _: Answer()
        else:
            self._script = script if callable(script) else by_position(script)
        self._check = check
        self._remember = remember
        self._port = port
        self._memory = Memory()
        self._changed = threading.Condition()
        self._requests: list[Seen] = []
        self._refusals: list[str] = []
        self._count = 0
        self._connections = 0
        self._departures = 0
        self._script_error: Exception | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._stop: Callable[[], object] = lambda: None

    @property
    def requests(self) -> list[Seen]:
        """Every request so far, refused ones included."""
        with self._changed:
            return list(self._requests)

    @property
    def refusals(self) -> list[str]:
        """The messages of all refusals by the rules so far: empty if our wire was right."""
        with self._changed:
            return list(self._refusals)

    @property
    def connections(self) -> int:
        """How many connections clients have opened."""
        with self._changed:
            return self._connections

    @property
    def departures(self) -> int:
        """How many clients have closed a connection that was being held (`Stall`)."""
        with self._changed:
            return self._departures

    def wait_until(self, holds: Callable[[Self], bool], seconds: float = 10) -> None:
        """Block until `holds(self)`, which is tried again at each request and departure.

        Raises:
            TimeoutError: It does not hold after `seconds`.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: holds(self), seconds):
                raise TimeoutError(f"not within {seconds} s, after {len(self._requests)} requests")

    async def until(self, holds: Callable[[Self], bool], seconds: float = 10) -> None:
        """`wait_until` for a test on an event loop."""
        await asyncio.to_thread(self.wait_until, holds, seconds)

    def __enter__(self) -> Self:
        ready = threading.Event()
        work = self.serve(lambda _: ready.set())
        self._thread = threading.Thread(
            target=asyncio.run, args=(work,), name="loopback", daemon=True
        )
        self._thread.start()
        if not ready.wait(10):
            raise TimeoutError("the loopback server did not start")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop()
        self._thread.join()
        if error is None and self._script_error is not None:
            raise self._script_error

    async def serve(self, ready: Callable[[str], object]) -> None:
        """Serve until stopped or cancelled; `ready` gets the URL."""
        loop = asyncio.get_running_loop()
        stopping = asyncio.Event()
        self._stop = lambda: loop.call_soon_threadsafe(stopping.set)
        server = await asyncio.start_server(self._connected, "127.0.0.1", self._port, backlog=1024)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ready(self.url)
        await stopping.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with self._changed:
            self._connections += 1
        task = asyncio.ensure_future(self._connection(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            alive = True
            while alive:
                method, path, headers = await _read_head(reader)
                body = await _read_body(reader, headers)
                plan = self._respond(method, Seen(path, headers, body, None))
                writer.write(plan.wire)
                await writer.drain()
                if plan.end == "hold":
                    await self._hold(reader)
                alive = plan.end == "clean" and headers.get("connection") != "close"
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _hold(self, reader: asyncio.StreamReader) -> None:
        while await reader.read(65536):
            pass
        with self._changed:
            self._departures += 1
            self._changed.notify_all()

    def _respond(self, method: str, raw: Seen) -> Plan:
        """The plan for one request: routed and parsed, then refused or answered by the script."""
        number = f"req_{self._count:06}"
        try:
            seen = replace(raw, json=parsed(raw.body))
            broken = None
        except ValueError as error:
            seen, broken = raw, str(error)
        self._note(seen)
        fault = _unroutable(method, seen)
        if fault is not None:
            return error_plan(fault, number)
        body: JsonObject = seen.json or {}
        request = Request(seen.headers, body, self._rendered(body), self._memory)
        complaint = broken or (refusal(request) if self._check else None)
        if complaint is not None:
            return self._refused(complaint, number)
        return self._scripted(seen, request, number)

    def _rendered(self, body: JsonObject) -> list[Placed]:
        return rendered(body) if self._check or self.cache is not None else []

    def _note(self, seen: Seen) -> None:
        with self._changed:
            self._count += 1
            if self._remember:
                self._requests.append(seen)
            self._changed.notify_all()

    def _refused(self, complaint: str, number: str) -> Plan:
        with self._changed:
            self._refusals.append(complaint)
        return error_plan(HttpError(400, "invalid_request_error", complaint), number)

    def _scripted(self, seen: Seen, request: Request, number: str) -> Plan:
        try:
            reply = self._script(seen)
        except Exception as error:  # noqa: BLE001 - the test that owns the script gets it
            self._script_error = self._script_error or error
            failed = f"the script failed: {error!r}"
            return error_plan(HttpError(400, "invalid_request_error", failed), number)
        if isinstance(reply, HttpError):
            return error_plan(reply, number)
        answer = issued(reply if isinstance(reply, Answer) else reply.answer, request)
        if isinstance(reply, Answer):
            _remember(answer, self._memory)
        usage = answer.usage or self._usage(answer, seen, request.placed)
        envelope = Envelope(f"msg_{digest(seen.body)}", str(request.body.get("model")), usage)
        return stream_plan(reply, answer, envelope, _STREAM_HEAD % number.encode())

    def _usage(self, answer: Answer, seen: Seen, placed: list[Placed]) -> Usage:
        plain = Usage(input_tokens=len(seen.body) // 4)
        counted = self.cache.account(seen.json, placed) if self.cache else plain
        said = sum(map(_size, answer.blocks))
        thought = sum(_size(block) for block in answer.blocks if isinstance(block, _THOUGHTS))
        return replace(counted, output_tokens=max(1, said), thinking_tokens=thought)


def issued(answer: Answer, request: Request) -> Answer:
    """The answer with what the server adds: ids of calls, and signatures bound to the prefix."""
    position = answered(request.body)
    binding = Binding()
    if any(isinstance(block, _THOUGHTS) for block in answer.blocks):
        for placed in request.placed or rendered(request.body):
            binding.append(placed.role, placed.value)
    made: list[Block] = []
    for n, block in enumerate(answer.blocks):
        match block:
            case ToolUse(id=""):
                made.append(replace(block, id=f"toolu_{position:04}_{n}"))
            case Thinking(signature=""):
                made.append(replace(block, signature=binding.issue(block.thinking)))
            case RedactedThinking(data=""):
                made.append(replace(block, data=binding.issue("")))
            case _:
                made.append(block)
        binding.append("messages:assistant", wire_block(made[-1]))
    return replace(answer, blocks=tuple(made))


def stream_plan(reply: Reply, answer: Answer, envelope: Envelope, head: bytes) -> Plan:
    """The events of an answer, and what a fault makes of them."""
    blocks = [block_events(n, block) for n, block in enumerate(answer.blocks)]
    opening = [*head_events(envelope), *(one for block in blocks for one in block)]
    whole = [*opening, *tail_events(answer, envelope.usage)]
    match reply:
        case ErrorEvent():
            kept = [one for block in blocks[: reply.after_blocks] for one in block]
            error = event("error", error={"type": reply.type, "message": reply.message})
            return Plan(head, [*head_events(envelope), *kept, error])
        case Drop():
            return _dropped(reply, whole, head)
        case Stall(after_events=None):
            return Plan(b"", end="hold")
        case Stall():
            return Plan(head, whole[: reply.after_events], "hold")
        case NoStop():
            return Plan(head, opening[: reply.after_events])
        case _:
            return Plan(head, whole)


def _dropped(reply: Drop, whole: list[bytes], head: bytes) -> Plan:
    if reply.after_events is not None:
        return Plan(head, whole[: reply.after_events], "cut")
    if reply.after_bytes is None:
        return Plan(b"", end="cut")
    sent = b"".join(whole)[: reply.after_bytes]
    return Plan(head, [sent] if sent else [], "cut")


def error_plan(fault: HttpError, number: str) -> Plan:
    """An error response as the API words it."""
    error: JsonObject = {"type": fault.error_type, "message": fault.message}
    body = json.dumps({"type": "error", "error": error, "request_id": number}).encode()
    phrase = next((known.phrase for known in HTTPStatus if known == fault.status), "Error")
    head = {"content-type": "application/json", "request-id": number, **fault.headers}
    lines = [f"{name}: {value}" for name, value in head.items()]
    first = f"HTTP/1.1 {fault.status} {phrase}\r\ncontent-length: {len(body)}"
    return Plan("\r\n".join([first, *lines]).encode("latin-1") + b"\r\n\r\n" + body)


def _unroutable(method: str, seen: Seen) -> HttpError | None:
    if method != "POST" or seen.path.partition("?")[0] != "/v1/messages":
        return HttpError(404, "not_found_error", f"{method} {seen.path}: Not found")
    if not seen.headers.get("authorization", "").startswith("Bearer "):
        return HttpError(401, "authentication_error", "authorization: a Bearer token is required")
    if "anthropic-version" not in seen.headers:
        return HttpError(400, "invalid_request_error", "anthropic-version: header is required")
    if len(seen.body) > MAX_BODY_BYTES:
        return HttpError(413, "request_too_large", "Request exceeds the maximum size")
    return None


def _remember(answer: Answer, memory: Memory) -> None:
    sent = [wire_block(block) for block in answer.blocks]
    memory.types.update(str(block.get("type")) for block in sent)
    if answer.reason == "pause_turn":
        memory.paused.add(paused_content(sent))


def _size(block: Block) -> int:
    sent = wire_block(block)
    hidden = {"signature"} if sent.get("type") in THINKING else {"type", "id"}
    return sum(len(str(value)) for key, value in sent.items() if key not in hidden) // 4


async def _read_head(reader: asyncio.StreamReader) -> tuple[str, str, Mapping[str, str]]:
    text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = text.rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    named = (line.partition(":") for line in lines)
    return method, path, {name.strip().lower(): value.strip() for name, _, value in named}


async def _read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return await reader.readexactly(int(headers.get("content-length", "0")))
    parts: list[bytes] = []
    while size := int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16):
        parts.append((await reader.readexactly(size + 2))[:-2])
    await reader.readuntil(b"\r\n")
    return b"".join(parts)


def main() -> None:
    """Run the server as a process until it is ended."""
    arguments = argparse.ArgumentParser(description="A server that speaks POST /v1/messages.")
    arguments.add_argument("--port", type=int, default=0, help="0 takes a free one")
    arguments.add_argument("--script", type=Path, required=True, help="a JSON array of replies")
    arguments.add_argument("--order", choices=["position", "arrival"], default="position")
    arguments.add_argument("--cache", action="store_true", help="simulate the prompt cache")
    arguments.add_argument("--no-check", action="store_true", help="accept every request")
    chosen = arguments.parse_args()
    replies = read_replies(chosen.script)
    script = by_position(replies) if chosen.order == "position" else in_order(_single(replies))
    check = not chosen.no_check
    server = Loopback(script, cache=chosen.cache, check=check, remember=False, port=chosen.port)
    try:
        asyncio.run(server.serve(_announce))
    except KeyboardInterrupt:
        sys.exit(130)


def _single(replies: Replies) -> list[Reply]:
    return [reply for reply in replies if not isinstance(reply, Attempts)]


def _announce(url: str) -> None:
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
