"""The investigation that `cost.py` prices: sixty steps over the tools of real MCP servers.

What a model would say is scripted, one reply a request; everything else is real: the engine, the adapters and
their bytes, HTTP, and a server that computes from those bytes what its cache had.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

from beside_tests import ROOT
from pydantic import SecretStr

from loopback import Answer, AutomaticCache, Block, Loopback, OpenAI, PromptCache, Text, ToolUse
from offing.engine import Engine, MemoryStore, Result
from offing.engine.clock import Outside
from offing.engine.models.anthropic import AnthropicModel
from offing.engine.models.litellm import LiteLLMModel
from offing.engine.models.model import Model, Static, ToolDefinition
from offing.engine.store.facts import Replied
from offing.namespaces import Effect, FunctionNamespace, Tool, ToolContext, ToolOutput
from offing.namespaces.meta_tools import Call, Connected
from offing.tracing import Usage
from worlds import HandClock

CATALOGS = ROOT.parent / "shared" / "data" / "mcp-catalogs"
PACKAGING = frozenset(
    [
        "antv",
        "er",
        "larksuiteoapi",
        "linux",
        "mcp",
        "modelcontextprotocol",
        "notionhq",
        "server",
        "wonderwhy",
        "x64",
        "zereight",
    ]
)
"""Words of a package's name that a host would not call the system by."""
STEPS = 60
PHASES = 6
LOOKED_UP = 4
"""Tools whose schemas a phase begins with: each is looked up before it is called for the first time."""
BUSY = STEPS // PHASES - 1
"""Further steps of a phase, of one call and two in turn; the last phase ends in the answer instead."""
MINIMUM = 512
"""Tokens below which Claude's newer models cache nothing."""
MINUTE_US = 60_000_000
STRUCTURED = frozenset({"input", "input_schema", "parameters"})
"""Fields of a prompt that a model reads as JSON."""
MODELS = {"markers": "claude-opus-5-5", "automatic": "openai/gpt-4.1"}
"""By scheme, the model that is asked; prices are the scheme's, not the model's."""


@dataclass(frozen=True, slots=True)
class Played:
    """What one run sent, and what the server says of it."""

    bodies: Sequence[Mapping[str, Any]]
    usages: Sequence[Usage]
    outcomes: Sequence[str]
    """The engine's own verdict on each."""
    minutes: Sequence[float]
    """How long each request was sent after the one before."""


@dataclass(frozen=True, slots=True)
class Pauses:
    """How long people take to answer the two questions of the run, in minutes."""

    first: float = 0.5
    second: float = 0.5


@cache
def encode() -> Callable[[str], Sequence[int]]:
    """o200k, from the file that litellm ships: no network."""
    spec = find_spec("litellm")
    if spec is None or spec.origin is None:
        raise SystemExit("litellm is not installed, and with it the encoding that tokens are counted with")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(spec.origin).parent / "litellm_core_utils" / "tokenizers")
    from tiktoken import get_encoding

    encoding = get_encoding("o200k_base")
    return lambda text: encoding.encode(text, disallowed_special=())


def read(part: str) -> Sequence[int]:
    """A block or message, given as JSON, in tokens as a model reads it: texts as such, schemas as JSON."""
    return encode()("\n".join(_said(json.loads(part))))


def _said(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _said(item)
        case dict():
            for key, item in value.items():
                yield from [json.dumps(item, separators=(",", ":"))] if key in STRUCTURED else _said(item)
        case _:
            yield json.dumps(value)


@lru_cache(maxsize=20_000)
def tokens(data: bytes) -> float:
    """How many these are."""
    return len(read(data.decode()))


def catalogs(names: Sequence[str]) -> Mapping[str, list[dict[str, Any]]]:
    """The tools of each server, by a short name."""
    found = {}
    for path in sorted(CATALOGS.glob("*.json")):
        short = "-".join(word for word in re.split("__|-", path.stem) if word not in PACKAGING)
        if not names or short in names:
            found[short] = json.loads(path.read_text("utf-8"))["tools"]
    return found


def namespaces(names: Sequence[str]) -> list[FunctionNamespace]:
    """Each server as a connected system whose tools answer from memory."""
    return [
        FunctionNamespace(name, [_tool(name, one) for one in tools])
        for name, tools in catalogs(names).items()
    ]


def _tool(system: str, one: Mapping[str, Any]) -> Tool:
    async def answer(arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        return ToolOutput(rows(f"{system}.{one['name']}.{context.call}"))

    hints = one.get("annotations") or {}
    said = one.get("description") or one["name"]
    return Tool(
        one["name"],
        said,
        one["inputSchema"],
        answer,
        Effect.READ,
        destructive=hints.get("destructiveHint") is True and hints.get("readOnlyHint") is not True,
    )


def rows(seed: str) -> list[Any]:
    """What a system answers: four to twelve rows of some hundred characters, the same for the same seed."""
    number = sum(ord(letter) * (place + 7) for place, letter in enumerate(seed))
    return [
        {
            "id": f"{(number * 31 + row * 7919) % 10**9:09}",
            "title": f"{('Build', 'Payment', 'Deployment', 'Ticket')[(number + row) % 4]} {row} of {seed}",
            "state": ("open", "merged", "failed", "closed")[(number * 3 + row) % 4],
            "updated_at": f"2026-09-{1 + (number + row) % 28:02}T{row:02}:15:00Z",
            "author": f"user{(number + row * 13) % 97}",
        }
        for row in range(4 + number % 9)
    ]


@dataclass
class Script:
    """The replies, made of the tools that there are."""

    systems: Sequence[FunctionNamespace]
    replies: list[Answer] = field(default_factory=list[Answer])

    def write(self) -> list[Answer]:
        """Six phases: schemas of four tools, then calls of them; two questions to a person; the answer."""
        usable = self._usable()
        for phase in range(PHASES):
            tools = [next(usable) for _ in range(LOOKED_UP)]
            lookups = [ToolUse(f"{system}__get_tool_schema", {"tool": name}) for system, name, _ in tools]
            self._say(f"Phase {phase + 1}: I need the schemas of these first.", lookups)
            last = phase == PHASES - 1
            for step in range(BUSY - last):
                if step == BUSY // 2 and phase in {1, 3}:
                    self._say("This only a person can tell.", [ToolUse("ask_user", QUESTION)])
                    continue
                self._say(SAID, [self._call(tools[(step + n) % LOOKED_UP]) for n in range(1 + step % 2)])
        self.replies.append(Answer([Text(SAID * 4)]))
        return self.replies

    def _usable(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Tools that can be called with arguments made from their schemas, of each system in turn."""
        per_system = [_callable(one) for one in self.systems]
        while per_system:
            for each in list(per_system):
                found = next(each, None)
                if found is None:
                    per_system.remove(each)
                else:
                    yield found

    def _say(self, text: str, calls: Sequence[Block]) -> None:
        self.replies.append(Answer([Text(text), *calls]))

    @staticmethod
    def _call(tool: tuple[str, str, Mapping[str, Any]]) -> Block:
        system, name, arguments = tool
        return ToolUse(f"{system}__invoke_tool", {"tool": name, "arguments": dict(arguments)})


SAID = "The release broke between these two; I compare what each system has of that hour before I conclude. "
QUESTION: dict[str, Any] = {"question": "Which of the two releases did the customer report?"}


def _callable(system: FunctionNamespace) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    connected = Connected(system.name, system.tools)
    for tool in system.tools:
        arguments = sample(tool.schema)
        call = connected.resolve(f"{system.name}__invoke_tool", {"tool": tool.name, "arguments": arguments})
        if isinstance(call, Call) and not tool.destructive:
            yield system.name, tool.name, arguments


def sample(schema: Mapping[str, Any]) -> Any:  # noqa: ANN401  any JSON, one return a kind
    """The plainest value that a schema seems to ask for."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    match kind[0] if isinstance(kind, list) else kind:
        case "object":
            properties = schema.get("properties", {})
            return {key: sample(properties.get(key, {})) for key in schema.get("required", [])}
        case "array":
            return [sample(schema.get("items", {}))] * schema.get("minItems", 1)
        case "integer" | "number":
            return schema.get("minimum", 7)
        case "boolean":
            return True
        case _:
            return "release-2026.09.14"


async def play(scheme: str, names: Sequence[str], pauses: Pauses) -> Played:
    """Plays the investigation and gives what was sent."""
    clock = HandClock()

    def now() -> float:
        return clock.at / 1_000_000

    systems = namespaces(names)
    replies = Script(systems).write()
    cached = PromptCache(MINIMUM, now, tokens) if scheme == "markers" else False
    wire = None if scheme == "markers" else OpenAI(cache=AutomaticCache(read, now))
    with Loopback(replies, wire=wire, cache=cached) as server:
        model = _model(scheme, server.url)
        async with Engine(model, systems, store=MemoryStore(), outside=Outside(clock)) as engine:
            result = await _worked(engine, clock, pauses)
            rows = [row async for row in engine.store.journal.read("s")]
    if not result.answered or server.refusals:
        raise SystemExit(f"the run went wrong: {result} {server.refusals}")
    facts = [row.fact for row in rows if isinstance(row.fact, Replied)]
    at = [row.at for row in rows if isinstance(row.fact, Replied)]
    return Played(
        [seen.json for seen in server.requests],
        [fact.reply.usage for fact in facts],
        [fact.cached.outcome if fact.cached else "" for fact in facts],
        [0.0, *((later - former) / MINUTE_US for former, later in pairwise(at))],
    )


async def _worked(engine: Engine, clock: HandClock, pauses: Pauses) -> Result:
    """The run, with its two questions answered after a while."""
    result = await engine.session("s").ask("Why did the release of 14 September break?")
    for minutes in (pauses.first, pauses.second):
        for question in result.questions:
            clock.at += round(minutes * MINUTE_US)
            await engine.inbox.answer(result.run, question.call, "The one of the morning.")
        result = await (await engine.resume(result.run)).result()
    return result


def _model(scheme: str, url: str) -> Model:
    key = SecretStr("k")
    if scheme == "markers":
        return AnthropicModel(MODELS[scheme], key, base_url=url)
    return LiteLLMModel(MODELS[scheme], key, base_url=f"{url}/v1")


def is_lookup(name: str) -> bool:
    """Whether a call only asks for a schema."""
    return name.endswith("__get_tool_schema")


def definitions(scheme: str, names: Sequence[str]) -> list[Any]:
    """Every tool of the servers, its schema as its server gives it, in the words of the scheme's adapter."""
    made = [
        ToolDefinition(f"{name}__{tool['name']}", tool.get("description") or "", tool["inputSchema"])
        for name, tools in catalogs(names).items()
        for tool in tools
    ]
    segment = _model(scheme, "http://127.0.0.1").encode(Static("", tuple(made)))
    whole = b"{%b]}" % segment if scheme == "markers" else segment
    tools: list[Any] = json.loads(whole)["tools"]
    return tools
