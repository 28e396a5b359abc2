"""The wires that litellm speaks, each with a model, the loopback server's side, and what it is sent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from pydantic import SecretStr

from loopback import Anthropic, Attempts, Dialect, Gemini, Loopback, OpenAI, Reply, Responses, Wire
from loopback_answers import HttpError
from loopback_openai import DEEPSEEK, VLLM
from loopback_script import Seen
from offing.compaction.conversation import Message
from offing.compaction.conversation import Text as Words
from offing.engine.models import model as wire
from offing.engine.models.litellm import LiteLLMModel, Options
from offing.engine.models.model import Context, Effort, Static, ToolDefinition
from worlds import ANY

Body: TypeAlias = dict[str, Any]
Replies: TypeAlias = Sequence[Reply | Attempts]

KEY = SecretStr("sk-the-secret-key")


class KeyInItsOwnHeader(Anthropic):
    """Anthropic's wire as litellm's older client speaks it."""

    def unroutable(self, method: str, seen: Seen) -> HttpError | None:
        """As it is, the key taken from `x-api-key`."""
        key = seen.headers.get("x-api-key", "")
        return super().unroutable(
            method, replace(seen, headers={**seen.headers, "authorization": f"Bearer {key}"})
        )


def _chat(body: Body) -> list[object]:
    return list(body["messages"])


def _responses(body: Body) -> list[object]:
    return list(body["input"])


def _gemini(body: Body) -> list[object]:
    """Neighbours of one role are one content, so the parts are what grows."""
    said = [(content["role"], part) for content in body["contents"] for part in content["parts"]]
    return [body["system_instruction"], *said]


def _anthropic(body: Body) -> list[object]:
    said = [(one["role"], _unmarked(block)) for one in body["messages"] for block in one["content"]]
    return [*map(_unmarked, body["system"]), *said]


def _unmarked(block: Body) -> Body:
    return {key: value for key, value in block.items() if key != "cache_control"}


@dataclass(frozen=True, slots=True)
class Route:
    """A model and the wire that litellm speaks to it."""

    model: str
    wire: Callable[[], Wire]
    said: Callable[[Body], list[object]] = _chat
    """What of a request has to be a prefix of the next one's."""
    path: str = "/v1"
    effort: Effort | None = None

    def __str__(self) -> str:
        return self.model

    def of(self, dialect: Dialect) -> Route:
        """The same with a server that differs."""
        return replace(self, wire=lambda: OpenAI(dialect))

    @asynccontextmanager
    async def served(
        self, replies: Replies | Callable[[Seen], Reply] | None, options: Options | None = None
    ) -> AsyncGenerator[tuple[Loopback, LiteLLMModel]]:
        """A server and a model that speaks to it."""
        with Loopback(replies, wire=self.wire()) as server:
            model = LiteLLMModel(self.model, KEY, base_url=server.url + self.path, options=options)
            try:
                yield server, model
            finally:
                await model.close()


CHAT = Route("openai/x", OpenAI)
BRIDGE = Route("openai/gpt-5.6", Responses, _responses, effort="low")
GEMINI = Route("gemini/gemini-3.1-pro-preview", Gemini, _gemini, "/v1beta")
CLAUDE = Route("anthropic/claude-sonnet-5-5", KeyInItsOwnHeader, _anthropic, "")
DEEP = Route("deepseek/deepseek-reasoner", lambda: OpenAI(DEEPSEEK))
OWN = Route("hosted_vllm/own", lambda: OpenAI(VLLM))
ROUTES = (CHAT, BRIDGE, GEMINI, CLAUDE, DEEP, OWN)

LAYERS = (
    Static("Be brief.", (ToolDefinition("sys__note", "Notes.", ANY),)),
    Context("It is Monday."),
)


def request(model: LiteLLMModel, *said: Message, effort: Effort | None = None, turn: int = 1) -> wire.Request:
    """A request for what was said."""
    view = said or (Message("user", (Words("Hello."),)),)
    befores: list[Message | None] = [None, *view]
    messages = [model.encode(one, before) for one, before in zip(view, befores, strict=False)]
    segments = [*map(model.encode, LAYERS), *messages]
    return wire.Request(segments, (0, 1, len(segments) - 1), turn, view, effort)


async def parts_of(model: LiteLLMModel, asked: wire.Request) -> list[wire.Delta | wire.Reply]:
    """All that a request yields."""
    return [part async for part in model.stream(asked)]


async def reply_to(route: Route, answer: Reply) -> wire.Reply:
    """What the adapter makes of one answer of the server."""
    async with route.served([answer]) as (server, model):
        parts = await parts_of(model, request(model, effort=route.effort))
    assert (server.refusals, len(server.requests)) == ([], 1)
    *deltas, reply = parts
    assert isinstance(reply, wire.Reply)
    streamed = "".join(one.text for one in deltas if isinstance(one, wire.Delta) and one.kind == "text")
    assert streamed.strip() == reply.message.text.strip()
    return reply


def sent(server: Loopback, nth: int = -1) -> Body:
    """The body of a request."""
    return server.requests[nth].json
