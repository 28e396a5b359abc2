"""litellm called as an adapter calls it: offline, streaming, one attempt, its chunks as plain objects."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias

import pytest

from loopback import Loopback

Body: TypeAlias = dict[str, Any]

QUIET = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:Accessing the .* attribute on the instance is deprecated"),
    pytest.mark.filterwarnings("ignore:Items? .* using the .ReadOnly. qualifier"),
]
"""What litellm itself silences for the process when it is imported, and pytest restores for each test."""
TOOL: Body = {
    "type": "function",
    "function": {"name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}},
}
HELLO: Body = {"role": "user", "content": "hi"}


@functools.cache
def litellm() -> ModuleType:
    """The package, imported when it is first needed: that takes seconds."""
    os.environ["LITELLM_OFFLINE_MODE"] = "true"
    package = pytest.importorskip("litellm")
    package.suppress_debug_info = True
    return package


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of one request."""

    chunks: Sequence[Any]
    error: Any = None

    @property
    def steps(self) -> list[Body]:
        """Each chunk's delta, its finish_reason beside it; usage, which has a chunk of its own, last."""
        found: list[Body] = []
        for chunk in (one.model_dump(exclude_none=True) for one in self.chunks):
            if "usage" in chunk:
                found.append({"usage": chunk["usage"]})
            for choice in chunk["choices"]:
                reason = {"finish_reason": choice["finish_reason"]} if "finish_reason" in choice else {}
                found.append({**choice["delta"], **reason})
        return [{key: value for key, value in step.items() if key != "role"} for step in found]

    @property
    def calls(self) -> list[tuple[Any, Any, Any, Any]]:
        """The pieces of calls: index, id, name, arguments."""
        pieces = [piece for step in self.steps for piece in step.get("tool_calls", [])]
        return [
            (one.get("index"), one.get("id"), one["function"].get("name"), one["function"]["arguments"])
            for one in pieces
        ]

    @property
    def finish(self) -> list[str]:
        """Every finish_reason."""
        return [step["finish_reason"] for step in self.steps if "finish_reason" in step]

    @property
    def text(self) -> str:
        """The content."""
        return "".join(step.get("content", "") for step in self.steps)

    @property
    def reasoning(self) -> str:
        """The reasoning content."""
        return "".join(step.get("reasoning_content", "") for step in self.steps)

    @property
    def usage(self) -> Body:
        """The last usage, empty if there is none."""
        none: Body = {}
        return next((step["usage"] for step in reversed(self.steps) if "usage" in step), none)

    @property
    def message(self) -> Body:
        """The whole message as litellm puts it together, to be sent back."""
        whole = litellm().stream_chunk_builder(list(self.chunks), messages=[])
        return whole.choices[0].message.model_dump(exclude_none=True)

    @property
    def failure(self) -> tuple[str, int, str]:
        """The error's class, its status, and the class of the error within it."""
        within = getattr(self.error, "original_exception", None)
        inner = "" if within is None else type(within).__name__
        return type(self.error).__name__, self.error.status_code, inner


async def ask(server: Loopback, model: str, *messages: Body, **more: object) -> Heard:
    """One request; an error is part of what was heard, and the clients are closed after it."""
    base = "/v1beta" if model.startswith("gemini/") else "/v1"
    chunks: list[Any] = []
    error: Exception | None = None
    try:
        stream = await litellm().acompletion(
            model=model,
            messages=list(messages) or [HELLO],
            api_base=server.url + base,
            api_key="k",
            stream=True,
            stream_options={"include_usage": True},
            num_retries=0,
            max_retries=0,
            **more,
        )
        async for chunk in stream:
            chunks.append(chunk)
    except litellm().exceptions.openai.APIError as caught:
        error = caught
    finally:
        await close_clients()
    return Heard(chunks, error)


async def close_clients() -> None:
    """Close every client and forget it: litellm would go on using OpenAI's after it was closed."""
    await litellm().close_litellm_async_clients()
    litellm().in_memory_llm_clients_cache.flush_cache()


def results(message: Body) -> list[Body]:
    """A result for each call of a message."""
    return [
        {"role": "tool", "tool_call_id": call["id"], "content": "2"} for call in message.get("tool_calls", [])
    ]
