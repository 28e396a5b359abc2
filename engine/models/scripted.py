"""A model that follows a script: for tests, demonstrations and offline use, over real tools.

Two kinds of script. *Steps* are replies in order, one a model call. A *playbook* is a coroutine that
is given each tool result and decides the next call, so that a whole investigation runs offline. It is
driven anew through the recorded replies at each call, so it survives a kill; in return it may await
nothing but its book, and has to take the same path each time.
"""

import functools
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from typing import Any, cast, get_args

from pydantic import JsonValue, TypeAdapter

from ...compaction.conversation import Block, Message, Reasoning, Text, ToolCall, ToolResult
from ...tracing import Usage
from ..errors import PlaybookError
from ..scrub import json_bytes
from .model import Context, Delta, Effort, Part, Reply, Request, Static, StopReason, Thinking

_WORDS_A_DELTA = 8


@dataclass(frozen=True, slots=True)
class Call:
    """One call that a script makes."""

    name: str
    arguments: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True)
class Step:
    """One reply: words, calls, or both."""

    text: str = ""
    calls: Sequence[Call] = ()
    reasoning: str = ""
    stop: StopReason | None = None
    """None for "tools" when there are calls, else "end"."""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a call of a playbook came to."""

    text: str
    error: bool

    @property
    def json(self) -> Any:  # noqa: ANN401  whatever the tool's JSON is; a playbook knows its tools
        """The text read as JSON.

        Raises:
            PlaybookError: it is none.
        """
        try:
            return _json().validate_json(self.text)
        except ValueError as error:
            raise PlaybookError(f"the tool's answer is no JSON: {self.text[:300]!r}") from error


@functools.cache
def _json() -> TypeAdapter[JsonValue]:
    """A reader of any JSON, made once: a playbook reads each result again at each of its calls."""
    return TypeAdapter(JsonValue)


class Playbook:
    """What a playbook may await."""

    async def call(self, name: str, /, **arguments: JsonValue) -> CallResult:
        """Makes one call and waits for its result."""
        (result,) = await self.calls(Call(name, arguments))
        return result

    async def calls(self, *calls: Call, say: str = "") -> Sequence[CallResult]:
        """Makes calls in one reply, which therefore may run in parallel, and waits for all results."""
        return await _Turn(Step(say, calls))


PlaybookFunction = Callable[[Playbook, str], Coroutine[object, object, str]]
"""Takes the book and the user's message; returns the answer."""


class _Turn(Awaitable[Sequence[CallResult]]):
    def __init__(self, step: Step) -> None:
        self._step = step

    def __await__(self) -> Generator["Step", Sequence[CallResult], Sequence[CallResult]]:
        return (yield self._step)


class Scripted:
    """A model that follows steps or a playbook."""

    def __init__(self, script: Sequence[Step | str] | PlaybookFunction, *, name: str = "scripted") -> None:
        """Takes replies in order (a text stands for a final answer), or a playbook."""
        self._script = script
        self.name = name
        self._reached = 0
        self.requests: list[Request] = []
        """The requests it was sent in this process, for tests to look at."""
        self.thinking = Thinking(efforts=get_args(Effort))
        """It takes any effort, and minds none; so that a test sees what would be asked of a model."""

    def encode(self, part: Part, before: Message | None = None) -> bytes:
        """The part as JSON."""
        return json_bytes(_plain(part))

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply]:
        """Yields the scripted reply, in deltas and whole.

        Raises:
            PlaybookError: there is no step left, or the playbook took another path before.
        """
        self.requests.append(request)
        step = self._next(request)
        words = step.text.split(" ")
        for place in range(0, len(words) if step.text else 0, _WORDS_A_DELTA):
            piece = " ".join(words[place : place + _WORDS_A_DELTA])
            yield Delta("text", piece if place == 0 else f" {piece}")
        yield _reply(step)

    def check_finished(self) -> None:
        """Raises when steps were not used: a test that passes without them tests something else.

        Raises:
            PlaybookError: names the first unused step.
        """
        if not callable(self._script) and self._reached < len(self._script):
            unused = self._script[self._reached]
            raise PlaybookError(f"step {self._reached + 1} of the script was not used: {unused!r}")

    def _next(self, request: Request) -> Step:
        if callable(self._script):
            return _replay(self._script, request.said or request.view)
        place = request.turn - 1
        if place >= len(self._script):
            raise PlaybookError(f"the script has {len(self._script)} steps, and one more was asked for")
        self._reached = max(self._reached, place + 1)
        step = self._script[place]
        return Step(step) if isinstance(step, str) else step


def _replay(playbook: PlaybookFunction, view: Sequence[Message]) -> Step:
    """The reply that comes after those recorded since the user last spoke."""
    asked = max(place for place, message in enumerate(view) if message.role == "user")
    recorded = [message for message in view[asked:] if message.role in {"assistant", "tool"}]
    coroutine = playbook(Playbook(), view[asked].text)
    results: Sequence[CallResult] | None = None
    try:
        for reply, answers in zip(recorded[::2], recorded[1::2], strict=False):
            _same_path(cast("Step", coroutine.send(results)), reply)
            results = [CallResult(one.content, one.error) for one in answers.results]
        return cast("Step", coroutine.send(results))
    except StopIteration as finished:
        return Step(str(finished.value))
    finally:
        coroutine.close()


def _same_path(step: Step, recorded: Message) -> None:
    now = [(call.name, dict(call.arguments)) for call in step.calls]
    then = [(call.name, dict(call.arguments)) for call in recorded.calls]
    if now != then:
        raise PlaybookError(
            f"the playbook took another path: it calls {now} where {then} is recorded; it has to "
            "decide by what it is given alone"
        )


def _reply(step: Step) -> Reply:
    blocks: list[Block] = []
    if step.reasoning:
        blocks.append(Reasoning(step.reasoning))
    if step.text:
        blocks.append(Text(step.text))
    blocks += [ToolCall("", call.name, call.arguments) for call in step.calls]
    stop = step.stop or ("tools" if step.calls else "end")
    return Reply(Message("assistant", tuple(blocks)), stop, step.usage)


def _plain(part: Part) -> JsonValue:
    if isinstance(part, Context):
        return {"context": part.text}
    if isinstance(part, Static):
        tools = [f"{tool.name}: {tool.description}" for tool in part.tools]
        return {"system": part.system, "tools": cast("JsonValue", tools)}
    return {"role": part.role, "content": [_plain_block(block) for block in part.blocks]}


def _plain_block(block: Block) -> JsonValue:
    if isinstance(block, ToolCall):
        return {"call": block.id, "name": block.name, "arguments": dict(block.arguments)}
    if isinstance(block, ToolResult):
        return {"result": block.call, "content": block.content, "error": block.error}
    if isinstance(block, (Text, Reasoning)):
        return {block.kind: block.text}
    return {"media": block.name, "mime": block.mime}
