"""Long investigations in a small window, over the real wire of Claude.

It refuses thinking that is bound to another prefix.
"""

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from loopback import Answer, Block, Loopback, Reply, Seen, Text, Thinking, ToolUse
from offing.engine import Engine, Limits, Result
from offing.engine.models.anthropic import Options
from offing.engine.store import Store
from offing.engine.store.facts import Compacted
from offing.namespaces import Effect, FunctionNamespace, Record, ToolContext, ToolOutput
from worlds import Claude, Given, HandClock, async_tool, outside

LIMITS = Limits(window=12_000, reply_tokens=1_000)
"""Room for 11,000 tokens: a pass at 8,800 that leaves 5,500."""

DIGEST = """## Request
- Explain September.
## Facts
- The balance of 4711 is 12.50 GBP [[bank:txn/1]]. An invention: [[bank:txn/999]].
## Decisions
- Fees are left out, for they are below materiality.
## Failures
- (nothing)
## Open questions
- Who paid REF00003?
## Handles
- result/1.1: the rows of September
"""


async def _look(arguments: Given, context: ToolContext) -> ToolOutput:
    """Two kilobytes, and a record."""
    n = arguments.get("n", 0)
    if n == "fail":
        return ToolOutput("ValueError: no such account", error=True)
    rows = "\n".join(f"row {k} of {n}: {k * 3.17:.2f} GBP REF{k:05}" for k in range(60))
    return ToolOutput(rows, records=(Record(f"txn/{n}", text=str(n)),))


async def _close(arguments: Given, context: ToolContext) -> ToolOutput:
    return ToolOutput("closed")


def bank() -> FunctionNamespace:
    close = async_tool(_close, "close")
    return FunctionNamespace("bank", [async_tool(_look, "look", effect=Effect.READ), close])


def look(n: object) -> ToolUse:
    return ToolUse("bank__look", {"n": n})


def is_digest(seen: Seen) -> bool:
    return "You shorten the record" in json.dumps(seen.json["system"])


def looking(times: int, *, at_once: int = 2) -> list[Answer]:
    """Replies that think, say something with a record, and look at so many things."""
    made: list[Answer] = []
    for turn in range(times):
        words: list[Block] = [Thinking(f"Thought {turn}."), Text(f"Step {turn}: see [[bank:txn/{turn}]].")]
        made.append(Answer([*words, *(look(f"{turn}-{k}") for k in range(at_once))]))
    return made


@dataclass
class Script:
    """Replies in order, those of the digest's writer apart."""

    replies: Sequence[Reply]
    digests: Sequence[Reply] = (Answer([Text(DIGEST)]),)
    """The last one stays."""
    asked: int = 0
    digested: int = 0

    def __call__(self, seen: Seen) -> Reply:
        if is_digest(seen):
            self.digested += 1
            return self.digests[min(self.digested, len(self.digests)) - 1]
        self.asked += 1
        return self.replies[self.asked - 1]


@dataclass
class Investigated:
    """What became of a session."""

    engine: Engine
    server: Loopback
    results: list[Result] = field(default_factory=list[Result])

    @property
    def bodies(self) -> list[Seen]:
        """What the run's model was sent."""
        return [seen for seen in self.server.requests if not is_digest(seen)]

    async def passes(self) -> list[Compacted]:
        rows = self.engine.store.journal.read("s")
        return [row.fact async for row in rows if isinstance(row.fact, Compacted)]

    def around(self, which: int = 0) -> tuple[Seen, Seen]:
        """The request before a pass and the one after it: the first that does not extend the one before."""
        seen = self.bodies
        broken = [at for at in range(1, len(seen)) if not extends(seen[at - 1], seen[at])]
        return seen[broken[which] - 1], seen[broken[which]]


def extends(before: Seen, after: Seen) -> bool:
    """Whether a request says all that the one before it said, and more behind it."""
    said, now = (json.loads(strip(seen.body)) for seen in (before, after))
    same_frame = all(said[key] == now[key] for key in ("system", "tools"))
    return same_frame and now["messages"][: len(said["messages"])] == said["messages"]


def strip(body: bytes) -> bytes:
    """Without cache markers."""
    return body.replace(b',"cache_control":{"type":"ephemeral"}', b"")


@asynccontextmanager
async def investigated(
    script: Callable[[Seen], Reply],
    *questions: str,
    limits: Limits = LIMITS,
    options: Options | None = None,
    clock: HandClock | None = None,
    store: Store | None = None,
) -> AsyncGenerator[Investigated]:
    """An engine whose session `s` was asked the questions."""
    with Loopback(script) as server:
        async with Engine(
            Claude(server, options=options),
            [bank()],
            store=store,
            limits=limits,
            check="off",
            outside=outside(clock),
        ) as engine:
            made = Investigated(engine, server)
            for question in questions or ("Explain September.",):
                made.results.append(await engine.session("s").ask(question))
            yield made
