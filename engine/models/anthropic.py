"""Claude over Anthropic's own wire and SDK.

The SDK does authentication, connections and errors; the body is ours, put together from bytes that
were encoded once, which is what makes a long run cheap (WIRE.md, section 9). SDK retries are off.
"""

import asyncio
import functools
import importlib
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Literal, cast

from pydantic import JsonValue, SecretStr

from ...compaction.conversation import Message
from ...tracing import Usage
from ..errors import ModelFault, ModelNotConfigured
from .anthropic_events import Event, ReplyReader, usage_of
from .anthropic_faults import fault_of
from .anthropic_wire import encode, join
from .catalog import info_of
from .model import Delta, Effort, Part, Reply, Request, Thinking, clamp

if TYPE_CHECKING:
    from ssl import SSLContext

    from anthropic import AsyncAnthropic, AsyncStream

KEY = "ANTHROPIC_API_KEY"
BASE_URL = "https://api.anthropic.com"
_BINDING_BETA = "thinking-binding-controls-2026-08-01"
_CONNECT_S = 10.0
"""Seconds until a connection that is not made is given up."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a model is asked. None of it is part of the cached prefix."""

    max_tokens: int = 32_000
    """Tokens that one reply may have, its thinking included."""
    thinking: Literal["adaptive", "off"] = "adaptive"
    """"adaptive": the model decides turn by turn how much to think; models before Claude 4.6 do not
    know it."""
    effort: Effort | None = None
    """None for the provider's default. A request that says an effort goes before it."""
    unbound_thinking: Literal["leave out", "drop_block"] = "leave out"
    """What becomes of thinking before which a pass changed something: newer models refuse it (WIRE.md, fact
    A). "leave out": it is not sent any more. "drop_block": replies go back as they came, and the API drops
    what is not valid; a beta control, which older models do not know."""
    stall_s: float = 120.0
    """Seconds without a byte, be it of a ping, after which a reply is given up."""
    diagnose: bool = True
    """Whether the provider is asked why it could not read what it had cached; False for a server that speaks
    this wire and refuses the question."""


class AnthropicModel:
    """A Claude model."""

    def __init__(
        self,
        model: str,
        api_key: SecretStr,
        *,
        base_url: str = BASE_URL,
        options: Options | None = None,
    ) -> None:
        """Opens nothing; the SDK is loaded with the first request.

        Args:
            model: As Anthropic names it, such as `claude-opus-5-5`.
            api_key: Sent as a bearer token; nothing else of the environment is read.
            base_url: Where the API is.
            options: How it is asked.
        """
        self.model = model
        self.name = f"anthropic:{model}"
        self._key = api_key
        self._base_url = base_url
        self._options = options or Options()
        self._sdk: ModuleType | None = None
        self._client: AsyncAnthropic | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @classmethod
    def from_environment(cls, model: str) -> "AnthropicModel":
        """The model with the key and base URL of the environment.

        Raises:
            ModelNotConfigured: there is no key.
        """
        key = os.environ.get(KEY, "")
        if not key:
            raise ModelNotConfigured(
                f"anthropic:{model} needs a key: set {KEY} to one from https://platform.claude.com"
            )
        url = os.environ.get("ANTHROPIC_BASE_URL", BASE_URL)
        return cls(model, SecretStr(key), base_url=url)

    @property
    def thinking(self) -> Thinking:
        """As its options have it; what is not settled by them, the catalog tells."""
        if self._options.thinking == "adaptive":
            return Thinking(adaptive=True, rebinds=self._options.unbound_thinking == "drop_block")
        return Thinking(efforts=() if self._options.effort else info_of(self.name).efforts)

    def encode(self, part: Part, before: Message | None = None) -> bytes:
        """The part as a segment of the body."""
        return encode(part, before, self.model)

    def body(self, request: Request) -> bytes:
        """What is sent for a request."""
        return join(self._head(request.effort), request, self._last(request.former))

    @property
    def takes_markers(self) -> bool:
        """Always: Claude caches what it is told to."""
        return True

    async def warm(self, request: Request) -> Usage:
        """Has the prompt read in the cache; no reply is made, so none is billed. See `KeepsWarm`.

        It is the request that would follow but for `max_tokens` 0 and the stream: what is cached of messages
        depends on how the model is to think.
        """
        head = {**self._head(request.effort), "max_tokens": 0, "stream": False}
        sdk = await self._loaded()
        try:
            message = await self._connected(sdk).post(
                "/v1/messages",
                content=join(head, request, {}),
                cast_to=object,
                options={"headers": {"content-type": "application/json"}},
            )
        except Exception as error:
            raise fault_of(error, sdk) from error
        return usage_of(message)

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """Sends a request and yields what comes back; see `Model`."""
        reader = ReplyReader(self.model)
        body = self.body(request)
        try:
            async with aclosing(self._deltas(reader, body)) as deltas:
                async for delta in deltas:
                    yield delta
            reply = reader.reply()
        except ModelFault as fault:
            fault.usage = reader.usage
            raise
        yield reply

    async def _deltas(self, reader: ReplyReader, body: bytes) -> AsyncGenerator[Delta]:
        """What the reader makes of the events of one request."""
        async with aclosing(self._events(body)) as events:
            async for event in events:
                delta = reader.feed(event)
                if delta is not None:
                    yield delta

    async def close(self) -> None:
        """Closes the connections of the running loop."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    def _last(self, former: str) -> Mapping[str, JsonValue]:
        """What stands behind the messages, so that of two bodies the later one begins like the former."""
        asked = bool(former) and self._options.diagnose
        return {"diagnostics": {"previous_message_id": former}} if asked else {}

    def _head(self, wanted: Effort | None) -> Mapping[str, JsonValue]:
        """What the body begins with. Nothing of it is part of the cached prefix."""
        head = _head(self.model, self._options)
        if wanted is None:
            return head
        effort = clamp(wanted, info_of(self.name).efforts) or wanted
        return {**head, "output_config": {"effort": effort}}

    async def _events(self, body: bytes) -> AsyncGenerator[Event]:
        """The events of one request; whatever goes wrong on the way is a classified fault."""
        sdk = await self._loaded()
        try:
            stream = await self._post(sdk, body)
            async with stream:
                async for event in stream:
                    yield cast("Event", event)
        except Exception as error:
            raise fault_of(error, sdk) from error

    async def _loaded(self) -> ModuleType:
        """The SDK takes seconds to import: the first time in a thread, off the event loop."""
        if self._sdk is None:
            self._sdk = await asyncio.to_thread(importlib.import_module, "anthropic")
        return self._sdk

    async def _post(self, sdk: ModuleType, body: bytes) -> "AsyncStream[object]":
        client = self._connected(sdk)
        return await client.post(
            "/v1/messages",
            content=body,
            cast_to=object,
            stream=True,
            stream_cls=sdk.AsyncStream[object],
            options={"headers": _headers(self._options)},
        )

    def _connected(self, sdk: ModuleType) -> "AsyncAnthropic":
        """The client of the running loop: its connections belong to one loop."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client = sdk.AsyncAnthropic(
                api_key=self._key.get_secret_value(),
                base_url=self._base_url,
                max_retries=0,
                timeout=sdk.Timeout(self._options.stall_s, connect=_CONNECT_S),
                open_telemetry=False,
                http_client=sdk.DefaultAsyncHttpxClient(verify=_trusted()),
            )
            self._loop = loop
        return cast("AsyncAnthropic", self._client)


@functools.cache
def _trusted() -> "SSLContext":
    """Whose certificates are believed, as the SDK has it by default: read once, since it takes 30 ms."""
    import httpx2  # what the SDK stands on; it loads with it

    return httpx2.create_ssl_context()


def _head(model: str, options: Options) -> Mapping[str, JsonValue]:
    wire: dict[str, JsonValue] = {"model": model, "max_tokens": options.max_tokens, "stream": True}
    if options.thinking == "adaptive":
        wire["thinking"] = {"type": "adaptive", "display": "summarized", **_binding(options)}
    if options.effort is not None:
        wire["output_config"] = {"effort": options.effort}
    return wire


def _binding(options: Options) -> Mapping[str, JsonValue]:
    """Sent with every request of a conversation: the API keeps no setting between them."""
    drops = options.unbound_thinking == "drop_block"
    return {"block_binding": {"prefix_mismatch_behavior": "drop_block"}} if drops else {}


def _headers(options: Options) -> Mapping[str, str]:
    beta = {"anthropic-beta": _BINDING_BETA} if options.thinking == "adaptive" and _binding(options) else {}
    return {"content-type": "application/json", **beta}
