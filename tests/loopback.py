"""A real HTTP/1.1 server on 127.0.0.1 that speaks a provider's wire as the provider documents it.

In a test, through the real client:

    with Loopback([Answer([ToolUse("add", {"a": 1})]), Answer([Text("2")])]) as server:
        client = anthropic.AsyncAnthropic(api_key="k", base_url=server.url, max_retries=0)

The wire is Anthropic's `POST /v1/messages` unless another is given: `OpenAI` (chat completions, in
the dialects of several servers), `Responses` or `Gemini`. The same script does for each of them; stop
reasons are written as the wire has them.

As a process of its own, for benchmarks and kill tests; its URL is the first line it prints:

    python tests/loopback.py --port 0 --script FILE.json

It refuses what the API refuses (`loopback_rules` and each wire's own), simulates Anthropic's prompt
cache if asked to (`loopback_cache`), and fails as the APIs and networks do (`loopback_answers`). It
answers streaming requests only.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from loopback_answers import (
    Answer,
    Block,
    Drop,
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
)
from loopback_anthropic import Anthropic, stream_plan
from loopback_cache import AutomaticCache, PromptCache
from loopback_gemini import Gemini
from loopback_openai import Dialect, OpenAI
from loopback_responses import Responses
from loopback_rules import parsed
from loopback_script import Attempts, Replies, Script, Seen, by_position, in_order, read_replies
from loopback_wire import Exchange, Plan, Wire

__all__ = [
    "Answer",
    "Anthropic",
    "Attempts",
    "AutomaticCache",
    "Block",
    "Dialect",
    "Drop",
    "ErrorEvent",
    "Gemini",
    "HttpError",
    "Loopback",
    "NoStop",
    "OpenAI",
    "PromptCache",
    "RedactedThinking",
    "Reply",
    "Responses",
    "Script",
    "Seen",
    "Stall",
    "Text",
    "Thinking",
    "ToolUse",
    "Usage",
    "Wire",
    "by_position",
    "in_order",
    "read_replies",
    "stream_plan",
]

WIRES: Mapping[str, Callable[[], Wire]] = {"openai": OpenAI, "responses": Responses, "gemini": Gemini}
"""Those that can be asked for by name; without one it is Anthropic's, with or without a cache."""


class Loopback:
    """The server; entering it starts it in a thread, leaving it closes every connection.

    Leaving raises the first error that the script itself raised, unless another is on its way; the
    client meanwhile got a 400 that names it.
    """

    def __init__(
        self,
        script: Script | Replies | None = None,
        *,
        wire: Wire | None = None,
        cache: PromptCache | bool = False,
        check: bool = True,
        remember: bool = True,
        port: int = 0,
    ) -> None:
        """Prepare a server.

        Args:
            script: Replies by position (see `by_position`), or a function from request to reply;
                None says "ok" to every request.
            wire: The provider's protocol; None is Anthropic's.
            cache: Simulate Anthropic's prompt cache; usage then tells what was read and written.
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
        self._wire = wire or Anthropic(self.cache)
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
        """The messages of all refusals so far, wrong paths included: empty if our wire was right."""
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
        self._thread = threading.Thread(target=asyncio.run, args=(work,), name="loopback", daemon=True)
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
                if plan.end == "hold":
                    await self._hold(reader, writer)
                await writer.drain()
                alive = plan.end == "clean" and headers.get("connection") != "close"
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        except Exception as error:  # noqa: BLE001 - a rule failed; the test that runs the server gets it
            self._script_error = self._script_error or error
        finally:
            writer.close()

    async def _hold(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Waits until the client goes away, be it in the middle of what it is sent."""
        with contextlib.suppress(ConnectionError):
            await writer.drain()
            while await reader.read(65536):
                pass
        with self._changed:
            self._departures += 1
            self._changed.notify_all()

    def _respond(self, method: str, raw: Seen) -> Plan:
        """The plan for one request: routed and parsed, then refused or answered by the script."""
        number = f"req_{self._count:06}"
        try:
            body = parsed(raw.body)
            seen = replace(raw, json=body, answered=self._wire.answered(body))
            broken = None
        except ValueError as error:
            seen, broken = raw, str(error)
        self._note(seen)
        fault = self._wire.unroutable(method, seen)
        if fault is not None:
            return self._refused(fault, number)
        exchange = self._wire.exchange(seen, number)
        if broken is not None:
            return self._refused(self._wire.refused(broken), number)
        refusal = exchange.refusal() if self._check else None
        return self._scripted(seen, exchange, number) if refusal is None else self._refused(refusal, number)

    def _note(self, seen: Seen) -> None:
        with self._changed:
            self._count += 1
            if self._remember:
                self._requests.append(seen)
            self._changed.notify_all()

    def _refused(self, fault: HttpError, number: str) -> Plan:
        with self._changed:
            self._refusals.append(fault.message)
        return self._wire.error(fault, number)

    def _scripted(self, seen: Seen, exchange: Exchange, number: str) -> Plan:
        try:
            reply = self._script(seen)
        except Exception as error:  # noqa: BLE001 - the test that owns the script gets it
            self._script_error = self._script_error or error
            return self._wire.error(self._wire.refused(f"the script failed: {error!r}"), number)
        if isinstance(reply, HttpError):
            return self._wire.error(reply, number)
        return exchange.plan(reply)


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
    arguments = argparse.ArgumentParser(description="A server that speaks a provider's wire.")
    arguments.add_argument("--port", type=int, default=0, help="0 takes a free one")
    arguments.add_argument("--script", type=Path, required=True, help="a JSON array of replies")
    arguments.add_argument("--order", choices=["position", "arrival"], default="position")
    arguments.add_argument("--wire", choices=["anthropic", *WIRES], default="anthropic")
    arguments.add_argument("--cache", action="store_true", help="simulate the prompt cache")
    arguments.add_argument("--no-check", action="store_true", help="accept every request")
    chosen = arguments.parse_args()
    replies = read_replies(chosen.script)
    script = by_position(replies) if chosen.order == "position" else in_order(_single(replies))
    wire = WIRES[chosen.wire]() if chosen.wire in WIRES else None
    check, cache = not chosen.no_check, chosen.cache
    server = Loopback(script, wire=wire, cache=cache, check=check, remember=False, port=chosen.port)
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
