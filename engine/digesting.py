"""Writing a digest: by the model of the role `digest`, without tools, or by rule where that gives nothing.

What a model writes is checked before it is used: its structure, what it cites, its length. A digest that
failed never holds up a run.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from decimal import Decimal

from ..compaction.by_rule import by_rule
from ..compaction.conversation import Message, Placed, Text
from ..compaction.digest import (
    Sections,
    fitting,
    links,
    merged,
    parsed,
    rendered,
    useless,
    with_links,
    without_inventions,
)
from ..compaction.told import ends, told
from ..tracing import Usage
from .breakers import spent_of
from .budget import Kind, over
from .errors import ModelFault
from .models.catalog import info_of
from .models.model import Context, Reply, Request, Static
from .models.pricing import cost
from .models.retry import decide, told_wait_us
from .prompts import prompt
from .roles import Chosen
from .run import Run
from .scrub import scrub, scrub_fields
from .store.facts import Writer
from .window import UNKNOWN_WINDOW

_HANDLE = re.compile(r"\b(?:result|file)/[\w.-]+(?:/[\w.-]+)*")
_CUTS = (4_000, 1_500, 500, 150)
"""Characters of a result that the writer is shown, the first that fits its window."""
_SHARE = 3
"""The material has one in so many tokens of the writer's window, the rest being room to think and write."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a digest is written from."""

    former: str
    """The digest that it replaces; empty when there is none."""
    said: tuple[Placed, ...]
    """The messages that it newly stands for, without the engine's notes: how things stood is not told."""
    last: int
    """Number of the last message that it stands for, from 1."""
    handles: tuple[str, ...]
    """Where the messages it stands for are read back, those of former digests first."""
    most: int
    """Tokens that it may have."""
    tokens: Callable[[str], int]

    @property
    def messages(self) -> Sequence[Message]:
        """What was said."""
        return [placed.message for placed in self.said]


@dataclass(frozen=True, slots=True)
class Written:
    """A digest, and what it took."""

    text: str = ""
    writer: Writer = ""
    problem: str = ""
    """Why the model's was not used."""
    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: Decimal | None = Decimal(0)
    """In US dollars; None where unknown."""


async def write_digest(run: Run, source: Source) -> Written:
    """The digest of what leaves the view, by a model if it can be."""
    attempts = _Attempts(run)
    reply: Reply | None = None
    if run.means.digest is not None:
        try:
            reply = await attempts.reply(run.means.digest, source)
        except Exception as error:  # noqa: BLE001  an adapter's mistake must not hold up the run
            attempts.problem = f"{type(error).__name__}: {error}"
    sections = None if reply is None else _read(reply, source, attempts)
    writer: Writer = "rule" if sections is None else "model"
    if sections is None:
        sections = merged(parsed(source.former), by_rule(source.messages))
    text = _text(sections, source)
    return Written(text, writer, scrub(attempts.problem), attempts.calls, attempts.usage, attempts.cost)


class _Attempts:
    """The model calls for one digest."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.calls = 0
        self.usage = Usage()
        self.cost: Decimal | None = Decimal(0)
        self.problem = ""

    async def reply(self, writer: Chosen, source: Source) -> Reply | None:
        """The model's reply, tried again as any call is; None when there is none."""
        request = request_for(writer, source)
        policy, clock = self._run.state.current.began.limits.retry, self._run.clock
        while self._is_affordable():
            try:
                reply = await _streamed(writer, request)
            except ModelFault as fault:
                self._spend(writer, fault.usage)
                self.problem = f"({fault.kind}) {fault}"
                wait = told_wait_us(fault.headers, str(fault), clock.now_us())
                decision = decide(policy, fault.kind, failed=self.calls, told_us=wait, chance=clock.chance())
                if decision.verdict != "again":
                    return None
                await clock.sleep_until(clock.now_us() + decision.wait_us)
            else:
                self._spend(writer, reply.usage)
                self.problem = ""
                return reply
        self.problem = self.problem or "the budget has no room for it"
        return None

    def _is_affordable(self) -> bool:
        """Whether the run could still ask its own model after one more call."""
        state = self._run.state
        spent = spent_of(state)
        spent = replace(
            spent,
            tokens=spent.tokens + self.usage.prompt + self.usage.output,
            cost=spent.cost + (self.cost or 0),
            model_calls=spent.model_calls + self.calls + 1,
            retries=spent.retries + self.calls,
        )
        kinds: Sequence[Kind] = ("tokens", "cost", "model_calls", *(("retries",) if self.calls else ()))
        return over(state.current.budget, spent, *kinds) is None

    def _spend(self, writer: Chosen, usage: Usage) -> None:
        self.calls += 1
        self.usage += usage
        spent = cost(usage, info_of(writer.model.name)) if usage != Usage() else Decimal(0)
        self.cost = None if self.cost is None or spent is None else self.cost + spent


async def _streamed(writer: Chosen, request: Request) -> Reply:
    async with aclosing(writer.model.stream(request)) as stream:
        async for part in stream:
            if isinstance(part, Reply):
                return scrub_fields(part)
    raise ModelFault("cut", "the stream ended before the reply did")


def request_for(writer: Chosen, source: Source) -> Request:
    """What the writer is asked. It has no tools: a summariser that has some calls them."""
    message = Message("user", (Text(prompt("digest_request", said=_material(writer, source))),))
    parts = (Static(prompt("digest_system"), ()), Context(prompt("digest_form")), message)
    segments = [writer.model.encode(part) for part in parts]
    return Request(segments, (), 1, (message,), writer.effort)


def _material(writer: Chosen, source: Source) -> str:
    """The messages, results shortened until they fit the writer's window."""
    room = (info_of(writer.model.name).window or UNKNOWN_WINDOW) // _SHARE
    former = f"{source.former}\n\n" if source.former else ""
    text = ""
    for most in _CUTS:
        text = former + told(source.said, ends(most))
        if source.tokens(text) <= room:
            return text
    return ends(room)(text)  # a token is a character at the least


def _read(reply: Reply, source: Source, attempts: _Attempts) -> Sections | None:
    """What the model wrote, if it can be used."""
    text = reply.message.text
    if reply.message.calls:
        attempts.problem = "it called a tool"
    elif reply.stop != "end":
        attempts.problem = f"it ended with {reply.stop!r}"
    else:
        attempts.problem = useless(text)
    if attempts.problem:
        return None
    sections = parsed(text)
    if source.tokens(rendered(sections)) > 2 * source.most:
        attempts.problem = "it is too long to make room"
        return None
    return sections


def _text(sections: Sections, source: Source) -> str:
    """The digest as the model will read it, with the handles and links that must not be lost."""
    material = source.former + told(source.said)
    said = (source.former, *(message.text for message in source.messages if message.role == "assistant"))
    cited = dict.fromkeys(link for text in said for link in sorted(links(text)))
    named = dict.fromkeys(handle for text in said for handle in _HANDLE.findall(text))
    sections = without_inventions(sections, lambda link: link in material)
    told_of = [line for line in sections.get("Handles", ()) if not line.startswith(_WHOLE)]
    more = [handle for handle in named if not any(handle in line for line in told_of)]
    kept = fitting({**sections, "Handles": (*told_of, *more)}, source.most, source.tokens)
    kept = with_links(merged({"Handles": (_whole(source.handles),)}, kept), list(cited)[-_MOST_LINKS:])
    return prompt("digest", first="1", last=str(source.last), digest=rendered(kept))


_MOST_LINKS = 150
"""Records cited before that a digest goes on citing, the newest; of all others the journal knows."""
_WHOLE = "whole messages: "
_NAMED = 12
"""Handles of former stretches that are named; `search` finds the others."""


def _whole(handles: Sequence[str]) -> str:
    older = ", and of older ones, which `search` finds" if len(handles) > _NAMED else ""
    return f"{_WHOLE}{', '.join(handles[-_NAMED:])}{older}"
