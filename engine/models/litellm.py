"""Every model but Claude, through litellm.

litellm does connections, authentication and each provider's wire; what is sent, what is kept of a
reply and what a failure means are decided here. Its own retries are off.
"""

import asyncio
import importlib
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from types import ModuleType
from typing import Any, cast
from weakref import WeakSet

from pydantic import JsonValue, SecretStr

from ...compaction.conversation import Message
from ..errors import ModelFault
from ..redact import Redactor
from .catalog import info_of
from .environment import found_in_environment
from .litellm_chunks import Chunk, ReplyReader
from .litellm_faults import fault_of
from .litellm_wire import Wire, encode, for_chat, prompt_of, provider_of, takes_markers
from .model import Delta, Effort, Part, Reply, Request, Thinking, clamp

_OF_RESPONSES = frozenset({"azure", "openai"})
"""Providers that litellm reaches over the Responses API for some models and requests."""
_SEALED: Mapping[str, JsonValue] = {"store": False, "include": ["reasoning.encrypted_content"]}
"""Reasoning comes back in the request, sealed; nothing is stored at the provider."""
_BRIDGE = "litellm.responses.bridge_check"
_OFFLINE = "LITELLM_OFFLINE_MODE"

_connected: "WeakSet[LiteLLMModel]" = WeakSet()
"""Models whose connections may be open: litellm keeps them for the process, so the last one closes."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a model is asked. None of it is part of the cached prefix."""

    max_tokens: int | None = None
    """Tokens that one reply may have, its reasoning included; None for the provider's default."""
    effort: Effort | None = None
    """Where a request says none; None for the provider's default."""
    stall_s: float = 120.0
    """Seconds of silence after which a stream counts as broken."""


class LiteLLMModel:
    """A model behind litellm."""

    def __init__(
        self,
        model: str,
        api_key: SecretStr | None = None,
        *,
        base_url: str | None = None,
        options: Options | None = None,
    ) -> None:
        """Opens nothing; litellm is loaded with the first request, in a thread.

        Args:
            model: As litellm names it, such as `openai/gpt-5.6`.
            api_key: None for what litellm finds itself.
            base_url: Where the API is; None for the provider's own.
            options: How it is asked.
        """
        self.model = model
        self.name = f"litellm:{model}"
        self._key = api_key
        self._base_url = base_url
        self._options = options or Options()
        self._sdk: ModuleType | None = None
        self._efforts: tuple[Effort, ...] = ()
        self._takes_effort = True

    @classmethod
    def from_environment(cls, model: str) -> "LiteLLMModel":
        """The model with its provider's key and address of the environment.

        Raises:
            ConfigurationError: the name has no provider.
            ModelNotConfigured: there is no key, or no address.
        """
        found = found_in_environment(model)
        return cls(model, found.key, base_url=found.address)

    @property
    def thinking(self) -> Thinking:
        """It takes an effort with each request, unless its options have settled one."""
        settled = self._options.effort is not None
        return Thinking(efforts=() if settled else info_of(self.name).efforts)

    @property
    def takes_markers(self) -> bool:
        """Whether its provider needs them; OpenAI's and Gemini's do not."""
        return takes_markers(self.model)

    def encode(self, part: Part, before: Message | None = None) -> bytes:
        """The part as a segment of the prompt."""
        return encode(part, before, self.model)

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """Sends a request and yields what comes back; see `Model`."""
        reader = ReplyReader(self.model, request.turn)
        async with aclosing(self._chunks(request, reader)) as chunks:
            async for chunk in chunks:
                for delta in reader.feed(chunk):
                    yield delta
        yield reader.reply()

    async def close(self) -> None:
        """Closes the connections, once no other model of the process uses them.

        litellm has one set of clients a process. A host that calls litellm itself finds its own
        closed and forgotten too; a later call opens new ones.
        """
        if self not in _connected:
            return
        _connected.discard(self)
        if not _connected and self._sdk is not None:
            await self._sdk.close_litellm_async_clients()
            self._sdk.in_memory_llm_clients_cache.flush_cache()  # closed ones would be used again

    async def _chunks(self, request: Request, reader: ReplyReader) -> AsyncGenerator[Chunk]:
        """The chunks of one request; whatever goes wrong on the way is a classified fault."""
        begun = False
        try:
            stream = await self._opened(request)
            async with aclosing(stream):
                async for chunk in stream:
                    begun = True
                    yield cast("Chunk", chunk.model_dump())
                native = getattr(stream, "received_finish_reason", None)
                reader.ended(native or "", is_counted=_is_counted(stream))
        except Exception as error:
            raise self._fault(error, reader, begun=begun) from error

    def _fault(self, error: Exception, reader: ReplyReader, *, begun: bool) -> ModelFault:
        """What went wrong; providers quote the key that they refuse."""
        fault = error if isinstance(error, ModelFault) else fault_of(error, begun=begun, usage=reader.usage)
        redact = Redactor.of({} if self._key is None else {"key": self._key}, "[key]")
        text = redact(str(fault))
        return ModelFault(fault.kind, text, headers=fault.headers, usage=fault.usage)

    async def _opened(self, request: Request) -> Any:  # noqa: ANN401  litellm's streams have no one type
        """The stream; asked for once more without an effort where the model turns out to take none."""
        sdk = await self._loaded()
        _connected.add(self)
        effort = self._effort(request)
        try:
            return await sdk.acompletion(**self._said(request, effort))
        except sdk.UnsupportedParamsError:
            if effort is None:
                raise
            self._takes_effort = False
        return await sdk.acompletion(**self._said(request, None))

    async def _loaded(self) -> ModuleType:
        """The package. It takes seconds to import: the first time in a thread, off the event loop."""
        if self._sdk is None:
            self._sdk = await asyncio.to_thread(_load)
            self._efforts = (await asyncio.to_thread(info_of, self.name)).efforts
        return self._sdk

    def _effort(self, request: Request) -> Effort | None:
        """The effort asked for, or the most below it that the model is known to take."""
        asked: Effort | None = request.effort or self._options.effort
        if asked is None or not self._takes_effort:
            return None
        return clamp(asked, self._efforts) or asked

    def _said(self, request: Request, effort: Effort | None) -> dict[str, object]:
        """The arguments of one request."""
        prompt = prompt_of(request, self.model)
        optional = {
            "tools": prompt.tools or None,
            "reasoning_effort": effort,
            "max_tokens": self._options.max_tokens,
            "api_base": self._base_url,
            "api_key": self._key.get_secret_value() if self._key is not None else None,
        }
        said = {key: value for key, value in optional.items() if value is not None}
        sealed = provider_of(self.model) in _OF_RESPONSES and _is_bridged(self.model, said)
        more: Mapping[str, JsonValue] = _SEALED if sealed else {}
        return {**said, **more, **self._always(self._messages(prompt.messages, sealed=sealed))}

    def _messages(self, messages: list[Wire], *, sealed: bool) -> list[Wire]:
        chat = provider_of(self.model) in _OF_RESPONSES and not sealed
        return for_chat(messages) if chat else messages

    def _always(self, messages: list[Wire]) -> Mapping[str, object]:
        return {
            "model": self.model,
            "messages": messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            "num_retries": 0,
            "max_retries": 0,
            "timeout": self._options.stall_s,
            "stream_timeout": self._options.stall_s,
        }


def _load() -> ModuleType:
    """litellm, without the requests that it would make to have newer prices and tokenizers."""
    os.environ.setdefault(_OFFLINE, "true")
    sdk = importlib.import_module("litellm")
    vars(sdk)["suppress_debug_info"] = True
    importlib.import_module(_BRIDGE)
    return sdk


def _is_counted(stream: Any) -> bool:  # noqa: ANN401
    """Whether any chunk of the provider's own had a usage; what litellm adds is not among these."""
    chunks = getattr(stream, "chunks", None)
    return chunks is None or any(getattr(chunk, "usage", None) is not None for chunk in chunks)


def _is_bridged(model: str, said: Mapping[str, object]) -> bool:
    """Whether litellm will send this over the Responses API: it is asked itself."""
    decide = importlib.import_module(_BRIDGE).chat_completion_ends_in_responses_api
    wanted = {key: said[key] for key in ("tools", "reasoning_effort", "api_base") if key in said}
    return cast("bool", decide(model, None, **wanted))
