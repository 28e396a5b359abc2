"""One loop under measurement, in a process of its own: the client side of `overhead.py`.

    python benchmarks/overhead_loops.py {anthropic|litellm} {offing|bare} URL BLOCK

Both loops ask the same server, watch every delta, and call the same function once a step. After each
BLOCK steps the process says on stdout how many seconds of CPU they took (user and system time of all
its threads). It begins each block when it reads a line from stdin: so the two sides take turns, and
what disturbs the machine disturbs both.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from offing.engine.models.model import Model

RESULT = "2026-09-14;8123;Transfer to the operating account;EUR;-1,250.00\n" * 16
"""What the tool gives: about 1 kB."""
MODEL = "claude-opus-5-5"
OPENAI_MODEL = "openai/x"
"""As litellm has it: a server with OpenAI's API, and a model without a price or peculiarities."""
SYSTEM = "You look into why accounts do not tie."
TASK = "Why does September not tie?"
SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"page": {"type": "integer"}},
    "required": ["page"],
}
"""Of the arguments of the tool."""
ENOUGH = 1_000_000
"""More iterations than any run here has."""

Said = dict[str, Any]
"""A chat message, or part of one."""


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


async def offing_anthropic(url: str, meter: Meter) -> None:
    """The engine over Anthropic's wire."""
    from pydantic import SecretStr

    from offing.engine.models.anthropic import AnthropicModel

    await offing(AnthropicModel(MODEL, SecretStr("none"), base_url=url), meter)


async def offing_litellm(url: str, meter: Meter) -> None:
    """The engine over litellm."""
    from pydantic import SecretStr

    from offing.engine.models.litellm import LiteLLMModel

    await offing(LiteLLMModel(OPENAI_MODEL, SecretStr("none"), base_url=f"{url}/v1"), meter)


async def offing(model: "Model", meter: Meter) -> None:
    """The engine as a host uses it: a durable journal, a namespace, a watcher of all events."""
    from offing.engine import Engine, Limits, SqliteStore
    from offing.namespaces.functions import FunctionNamespace, tool
    from offing.namespaces.tool import Effect

    @tool(effect=Effect.READ)
    async def lookup(page: int) -> str:
        """Gives one page of the statement."""
        return meter.lookup(page)

    books = FunctionNamespace("books", [lookup])
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "journal.db")
        engine = Engine(model, [books], store=store, limits=Limits(iterations=ENOUGH))
        async with engine, engine.session() as session, session.run(TASK) as run:
            async for _ in run:
                pass
            result = await run.result()
    if not result.answered:
        raise SystemExit(f"the run stopped ({result.why}): {result.detail}")


async def bare_anthropic(url: str, meter: Meter) -> None:
    """What one writes by hand over the SDK: a list of messages, a stream, a tool, again."""
    from anthropic import AsyncAnthropic
    from anthropic.types import MessageParam, ToolParam, ToolResultBlockParam, ToolUseBlock

    client = AsyncAnthropic(api_key="none", base_url=url, max_retries=0)
    lookup = ToolParam(name="lookup", description="Gives one page of the statement.", input_schema=SCHEMA)
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


async def bare_litellm(url: str, meter: Meter) -> None:
    """The same over litellm: the message put together from its chunks."""
    os.environ["LITELLM_OFFLINE_MODE"] = "true"  # no fetching of prices and tokenizers
    import litellm

    function = {"name": "lookup", "description": "Gives one page of the statement.", "parameters": SCHEMA}
    messages: list[Said] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": TASK}]
    while True:
        stream: Any = await litellm.acompletion(  # pyright: ignore[reportUnknownMemberType]
            model=OPENAI_MODEL,
            messages=messages,
            tools=[{"type": "function", "function": function}],
            stream=True,
            stream_options={"include_usage": True},
            api_base=f"{url}/v1",
            api_key="none",
            num_retries=0,
            max_retries=0,
        )
        message = await put_together(stream)
        messages.append(message)
        calls: list[Said] = message.get("tool_calls", [])
        if not calls:
            return
        for call in calls:
            page = json.loads(call["function"]["arguments"])["page"]
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": meter.lookup(page)})


async def put_together(stream: AsyncIterable[Any]) -> Said:
    """The message that the chunks of a stream add up to."""
    texts: list[str] = []
    calls: list[Said] = []
    async for chunk in stream:
        for choice in chunk.choices:
            if choice.delta.content:
                texts.append(choice.delta.content)
            take_calls(calls, choice.delta.tool_calls or ())
    message: Said = {"role": "assistant", "content": "".join(texts) or None}
    return {**message, "tool_calls": calls} if calls else message


def take_calls(calls: list[Said], pieces: Iterable[Any]) -> None:
    """Adds the pieces of calls that one chunk holds."""
    for piece in pieces:
        if piece.index == len(calls):
            function: Said = {"name": piece.function.name, "arguments": ""}
            calls.append({"id": piece.id, "type": "function", "function": function})
        calls[piece.index]["function"]["arguments"] += piece.function.arguments or ""


LOOPS = {
    ("anthropic", "offing"): offing_anthropic,
    ("anthropic", "bare"): bare_anthropic,
    ("litellm", "offing"): offing_litellm,
    ("litellm", "bare"): bare_litellm,
}


def main() -> None:
    """Runs one loop until the script of the server, or the line on stdin, ends it."""
    wire, side, url, block = sys.argv[1:]
    asyncio.run(LOOPS[wire, side](url, Meter(int(block))))


if __name__ == "__main__":
    main()
