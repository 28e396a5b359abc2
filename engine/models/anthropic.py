"""Claude over Anthropic's own wire and SDK.

The SDK does authentication, connections and errors; the body is ours, put together from bytes that
were encoded once, which is what makes a long run cheap (WIRE.md, section 9). SDK retries are off.
"""

import asyncio
import importlib
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Literal, cast

from pydantic import JsonValue, SecretStr

from ...compaction.conversation import Message
from ..errors import FaultKind, ModelFault, ModelNotConfigured
from .anthropic_events import Event, ReplyReader
from .anthropic_wire import encode, join
from .model import Delta, Part, Reply, Request

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic, AsyncStream

KEY = "ANTHROPIC_API_KEY"
BASE_URL = "https://api.anthropic.com"

Effort = Literal["low", "medium", "high", "xhigh", "max"]


@dataclass(frozen=True, slots=True)
class Options:
    """How a model is asked. None of it is part of the cached prefix."""

    max_tokens: int = 32_000
    """Tokens that one reply may have, its thinking included."""
    thinking: Literal["adaptive", "off"] = "adaptive"
    """"adaptive": the model decides turn by turn how much to think; models before Claude 4.6 do not
    know it."""
    effort: Effort | None = None
    """None for the provider's default."""


class AnthropicModel:
    """A Claude model."""

    provider = "anthropic"

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
        self._options = _options(model, options or Options())
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

    def encode(self, part: Part, before: Message | None = None) -> bytes:
        """The part as a segment of the body."""
        return encode(part, before, self.model)

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """Sends a request and yields what comes back; see `Model`."""
        reader = ReplyReader(self.model)
        body = join(self._options, request.segments, request.marks)
        async with aclosing(self._events(body)) as events:
            async for event in events:
                delta = reader.feed(event)
                if delta is not None:
                    yield delta
        yield reader.reply()

    async def close(self) -> None:
        """Closes the connections of the running loop."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.close()

    async def _events(self, body: bytes) -> AsyncGenerator[Event]:
        """The events of one request; whatever goes wrong on the way is a classified fault."""
        try:
            stream = await self._post(await self._loaded(), body)
            async with stream:
                async for event in stream:
                    yield cast("Event", event)
        except Exception as error:
            raise fault_of(error) from error

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
            options={"headers": {"content-type": "application/json"}},
        )

    def _connected(self, sdk: ModuleType) -> "AsyncAnthropic":
        """The client of the running loop: its connections belong to one loop."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client = sdk.AsyncAnthropic(
                api_key=self._key.get_secret_value(),
                base_url=self._base_url,
                max_retries=0,
                open_telemetry=False,
            )
            self._loop = loop
        return cast("AsyncAnthropic", self._client)


def _options(model: str, options: Options) -> Mapping[str, JsonValue]:
    wire: dict[str, JsonValue] = {"model": model, "max_tokens": options.max_tokens, "stream": True}
    if options.thinking == "adaptive":
        wire["thinking"] = {"type": "adaptive", "display": "summarized"}
    if options.effort is not None:
        wire["output_config"] = {"effort": options.effort}
    return wire


_STATUS: Mapping[int, FaultKind] = {
    400: "invalid",
    401: "auth",
    402: "quota",
    403: "auth",
    404: "invalid",
    413: "too long",
    422: "invalid",
    429: "rate limited",
    529: "overloaded",
}
_CLIENT_ERRORS = range(400, 500)
_TYPES: Mapping[str, FaultKind] = {
    "overloaded_error": "overloaded",
    "rate_limit_error": "rate limited",
    "authentication_error": "auth",
    "permission_error": "auth",
    "billing_error": "quota",
    "request_too_large": "too long",
    "invalid_request_error": "invalid",
    "not_found_error": "invalid",
}


def fault_of(error: Exception) -> ModelFault:
    """What went wrong, classified (WIRE.md, section 1).

    An error in the middle of a stream has status 200, so its type decides before its status. What is
    neither of the SDK's errors is a connection that broke.
    """
    status = getattr(error, "status_code", None)
    kind = _TYPES.get(str(getattr(error, "type", None))) or _by_status(status)
    text = str(error) or type(error).__name__
    if kind == "invalid" and "prompt is too long" in text:
        kind = "too long"
    return ModelFault(kind, text[:2000])


def _by_status(status: object) -> FaultKind:
    """Trying again heals no request that is wrong, and may heal what is wrong with the server."""
    if not isinstance(status, int) or status in {408, 409, 425}:
        return "transient"
    return _STATUS.get(status, "invalid" if status in _CLIENT_ERRORS else "transient")
