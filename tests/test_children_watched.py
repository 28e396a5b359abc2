"""Who comes late to several children that speak at the same time."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from pydantic import JsonValue

from families import NO_END
from offing.compaction.conversation import Message, Text, ToolCall
from offing.engine import Engine
from offing.engine.events import Delta, Draft, Event, Progress, ReplyFinished, RunStopped
from offing.engine.models.model import Delta as Piece
from offing.engine.models.model import Part, Reply, Request
from offing.tracing import Usage
from worlds import outside


class Speaking:
    """A model whose strands speak half a sentence until they are let go."""

    name = "speaking"

    def __init__(self, strands: int) -> None:
        self.strands, self.begun = strands, 0
        self.all_begun, self.let_go = asyncio.Event(), asyncio.Event()

    def encode(self, part: Part, before: Message | None = None) -> bytes:
        return repr(part).encode()

    async def stream(self, request: Request) -> AsyncGenerator[Piece | Reply]:
        first = request.view[0].text.split()[0]
        if first == "Go.":
            if len(request.view) == 1:
                parts: list[JsonValue] = [
                    {"title": f"{n}", "task": f"part-{n} now"} for n in range(self.strands)
                ]
                call = ToolCall("", "delegate", {"strands": parts})
                yield Reply(Message("assistant", (call,)), "tools", Usage())
            else:
                yield Reply(Message("assistant", (Text("Done."),)), "end", Usage())
            return
        yield Piece("text", f"{first} so ")
        self.begun += 1
        if self.begun == self.strands:
            self.all_begun.set()
        await self.let_go.wait()
        yield Piece("text", "far.")
        yield Reply(Message("assistant", (Text(f"{first} so far."),)), "end", Usage())


async def test_who_comes_late_is_given_what_each_child_has_said_so_far_and_then_the_rest_once() -> None:
    model = Speaking(3)
    async with Engine(model, limits=NO_END, outside=outside()) as engine:
        session = engine.session("s")
        async with session.run("Go.") as run:
            async with asyncio.timeout(20):
                await model.all_begun.wait()
                known = [row.seq async for row in engine.store.journal.read("s")][-1]
                begun = asyncio.Event()
                late = asyncio.create_task(watched(session.events(known), begun))
                await begun.wait()
                model.let_go.set()
                assert (await run.result()).answered
                events = await late
    runs = [f"s.1.1.1.{number}" for number in (1, 2, 3)]
    assert [(one.run, one.text) for one in events if isinstance(one, Draft)] == [
        (name, f"part-{n} so ") for n, name in enumerate(runs)
    ]
    for name in runs:
        own = [one for one in events if getattr(one, "run", "") == name]
        assert [type(one) for one in own] == [Draft, Delta, ReplyFinished, RunStopped]
    durable = [one.seq for one in events if not isinstance(one, Draft | Delta | Progress)]
    assert durable == sorted(durable)
    assert durable[0] == known + 1


async def watched(events: AsyncGenerator[Event], begun: asyncio.Event) -> list[Event]:
    """All events up to the end of the top run."""
    seen: list[Event] = []
    async with aclosing(events):
        async for event in events:
            seen.append(event)
            begun.set()
            if isinstance(event, RunStopped) and event.run == "s.1":
                break
    return seen
