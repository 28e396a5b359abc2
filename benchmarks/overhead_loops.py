"""One loop under measurement, in a process of its own: the client side of `overhead.py`.

    python benchmarks/overhead_loops.py {offing|bare} URL BLOCK

Both loops ask the same server, watch every delta, and call the same function once a step. After each
BLOCK steps the process says on stdout how many seconds of CPU they took (user and system time of all
its threads). It begins each block when it reads a line from stdin: so the two sides take turns, and
what disturbs the machine disturbs both.
"""

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

RESULT = "2026-09-14;8123;Transfer to the operating account;EUR;-1,250.00\n" * 16
"""What the tool gives: about 1 kB."""
MODEL = "claude-opus-5-5"
SYSTEM = "You look into why accounts do not tie."
TASK = "Why does September not tie?"
ENOUGH = 1_000_000
"""More iterations than any run here has."""


class Meter:
    """The tool that both loops call, which tells after each block of steps what the block took."""

    def __init__(self, block: int) -> None:
        self._block = block
        self._calls = 0
        self._since = 0.0
        self._wait()

    def lookup(self, page: int) -> str:
        """Gives one page of the statement."""
        self._calls += 1
        if self._calls % self._block == 0:
            print(time.process_time() - self._since, flush=True)
            self._wait()
        return RESULT

    def _wait(self) -> None:
        """Waits for the next turn; there is none when stdin is closed."""
        if not sys.stdin.readline():
            os._exit(0)
        self._since = time.process_time()


async def offing(url: str, meter: Meter) -> None:
    """The engine as a host uses it: a durable journal, a namespace, a watcher of all events."""
    from pydantic import SecretStr

    from offing.engine import Engine, Limits, SqliteStore
    from offing.engine.models.anthropic import AnthropicModel
    from offing.namespaces.functions import FunctionNamespace, tool
    from offing.namespaces.tool import Effect

    @tool(effect=Effect.READ)
    async def lookup(page: int) -> str:
        """Gives one page of the statement."""
        return meter.lookup(page)

    model = AnthropicModel(MODEL, SecretStr("none"), base_url=url)
    books = FunctionNamespace("books", [lookup])
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "journal.db")
        engine = Engine(model, [books], store=store, limits=Limits(iterations=ENOUGH))
        async with engine, engine.session() as session, session.run(TASK) as run:
            async for _ in run:
                pass


async def bare(url: str, meter: Meter) -> None:
    """What one writes by hand over the SDK: a list of messages, a stream, a tool, again."""
    from anthropic import AsyncAnthropic
    from anthropic.types import MessageParam, ToolParam, ToolResultBlockParam, ToolUseBlock

    client = AsyncAnthropic(api_key="none", base_url=url, max_retries=0)
    schema: dict[str, object] = {
        "type": "object",
        "properties": {"page": {"type": "integer"}},
        "required": ["page"],
    }
    lookup = ToolParam(name="lookup", description="Gives one page of the statement.", input_schema=schema)
    messages: list[MessageParam] = [{"role": "user", "content": TASK}]
    while True:
        async with client.messages.stream(
            model=MODEL, max_tokens=32_000, system=SYSTEM, tools=[lookup], messages=messages
        ) as stream:
            async for _ in stream.text_stream:
                pass
            reply = await stream.get_final_message()
        messages.append({"role": "assistant", "content": [block.to_dict() for block in reply.content]})  # type: ignore[typeddict-item]
        calls = [block for block in reply.content if isinstance(block, ToolUseBlock)]
        if not calls:
            return
        results = [
            ToolResultBlockParam(
                type="tool_result", tool_use_id=call.id, content=meter.lookup(int(str(call.input["page"])))
            )
            for call in calls
        ]
        messages.append({"role": "user", "content": results})


def main() -> None:
    """Runs one loop until the script of the server, or the line on stdin, ends it."""
    which, url, block = sys.argv[1:]
    loop = {"offing": offing, "bare": bare}[which]
    asyncio.run(loop(url, Meter(int(block))))


if __name__ == "__main__":
    main()
