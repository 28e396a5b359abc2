"""What happens for each fault on each wire: the cells of the table in docs/faults.md, really run.

    python tests/fault_matrix.py      writes the table anew, to be read before it is committed

Each cell is one run: the model call fails that way once, and is answered if it is tried again.
"""

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from loopback import (
    Answer,
    Anthropic,
    Attempts,
    Drop,
    ErrorEvent,
    Gemini,
    HttpError,
    Loopback,
    NoStop,
    OpenAI,
    Reply,
    Responses,
    Stall,
    Text,
    ToolUse,
    Wire,
)
from offing.engine import Engine, Limits
from offing.engine.answer import Result
from offing.engine.models import anthropic, litellm
from offing.engine.models.model import Model
from offing.engine.models.retry import RetryPolicy
from offing.engine.roles import Role, Roles
from offing.engine.store.facts import Faulted
from worlds import HandClock, outside

PAGE = Path(__file__).parents[1] / "docs" / "faults.md"
_STALL_S = 0.3
_KEY = SecretStr("sk-loopback")


def _claude(url: str) -> Model:
    options = anthropic.Options(stall_s=_STALL_S)
    return anthropic.AnthropicModel("claude-opus-5-5", _KEY, base_url=url, options=options)


def _through_litellm(name: str, path: str) -> Callable[[str], Model]:
    options = litellm.Options(stall_s=_STALL_S)
    return lambda url: litellm.LiteLLMModel(name, _KEY, base_url=f"{url}{path}", options=options)


@dataclass(frozen=True, slots=True)
class Column:
    """One wire: its server and a model that speaks it."""

    wire: Callable[[], Wire]
    model: Callable[[str], Model]


COLUMNS: Mapping[str, Column] = {
    "Anthropic": Column(Anthropic, _claude),
    "OpenAI chat": Column(OpenAI, _through_litellm("openai/some-model", "/v1")),
    "OpenAI Responses": Column(Responses, _through_litellm("openai/gpt-5.3-codex", "/v1")),
    "Gemini": Column(Gemini, _through_litellm("gemini/gemini-3.1-pro-preview", "/v1beta")),
}

HALF = Answer([Text("Half of what I know is this and the rest is", deltas=6)])
CALLING = Answer([Text("I look."), ToolUse("tasks", {"items": []})])


def _slow(wait: str) -> HttpError:
    return HttpError(429, "rate_limit_error", "slow down", {"retry-after": wait})


ROWS: Mapping[str, Reply] = {
    "400, the request is wrong": HttpError(400, "invalid_request_error", "no such field"),
    "400, the prompt is too long": HttpError(
        400,
        "invalid_request_error",
        "prompt is too long: 300000 tokens > 200000 maximum; the input token count (300000) exceeds the "
        "maximum number of tokens allowed (200000); maximum context length is 200000 tokens",
        code="context_length_exceeded",
    ),
    "401, the key is wrong": HttpError(401, "authentication_error", "invalid key"),
    "403, not allowed": HttpError(403, "permission_error", "not yours"),
    "404, no such model": HttpError(404, "not_found_error", "no such model"),
    "408, timeout": HttpError(408, "timeout_error", "late"),
    "429": HttpError(429, "rate_limit_error", "slow down"),
    "429, come back in 30 seconds": _slow("30"),
    "429, come back in three days": _slow("259200"),
    "the quota is spent": HttpError(
        429, "insufficient_quota", "You exceeded your current quota", code="insufficient_quota"
    ),
    "500": HttpError(500, "api_error", "oops"),
    "502": HttpError(502, "api_error", "bad gateway"),
    "503": HttpError(503, "api_error", "unavailable"),
    "529, overloaded": HttpError(529, "overloaded_error", "Overloaded"),
    "an error in the stream": ErrorEvent(1, "api_error", "oops", HALF),
    "an overload in the stream": ErrorEvent(1, "overloaded_error", "Overloaded", HALF),
    "cut before the first byte": Drop(),
    "cut in the middle of a text": Drop(5, answer=HALF),
    "cut in the middle of a call": Drop(9, answer=CALLING),
    "silence before the first byte": Stall(),
    "silence in the middle": Stall(5, HALF),
    "clean end in the middle": NoStop(5, HALF),
    "clean end without a reason": NoStop(None, HALF),
    "clean end of nothing": NoStop(0, HALF),
}


ON_ONE_WIRE: Mapping[tuple[str, str], Reply] = {
    ("the quota is spent", "Anthropic"): HttpError(402, "billing_error", "Your credit is used up"),
}
"""Faults that a wire has a way of its own to tell."""


async def outcome(row: str, column: str) -> str:
    """What a run makes of the fault, in the words of the table."""
    of = COLUMNS[column]
    fault = ON_ONE_WIRE.get((row, column), ROWS[row])
    script = [Attempts([fault, Answer([Text("Done.")])])]
    with Loopback(script, wire=of.wire(), check=False) as server:
        limits = Limits(retry=RetryPolicy(attempts=2))
        roles = Roles(run=Role(of.model(server.url)))
        async with Engine(roles, limits=limits, outside=outside(HandClock())) as engine:
            result = await engine.session("s").ask("Go.")
            kinds = [
                row.fact.fault
                async for row in engine.store.journal.read("s")
                if isinstance(row.fact, Faulted)
            ]
    return _told(result, kinds)


def _told(result: Result, kinds: Sequence[str]) -> str:
    kind = f" ({kinds[0]})" if kinds else ""
    if result.why == "answered":
        return f"tried again{kind}" if kinds else f"taken as whole: {result.answer!r}"
    return {"unavailable": "pauses", "window": "stops, for nothing can leave the prompt"}.get(
        result.why, "stops"
    ) + kind


def table(cells: Mapping[tuple[str, str], str]) -> str:
    """The table as Markdown."""
    lines = [f"| fault | {' | '.join(COLUMNS)} |", f"|---|{'---|' * len(COLUMNS)}"]
    lines += [f"| {row} | {' | '.join(cells[row, column] for column in COLUMNS)} |" for row in ROWS]
    return "\n".join(lines)


def cells_of(page: str) -> dict[tuple[str, str], str]:
    """The cells of the table in a page."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith("|")
    ]
    head, body = rows[0][1:], rows[2:]
    return {(row[0], column): cell for row in body for column, cell in zip(head, row[1:], strict=True)}


async def _all() -> dict[tuple[str, str], str]:
    return {(row, column): await outcome(row, column) for row in ROWS for column in COLUMNS}


if __name__ == "__main__":
    before, _, rest = PAGE.read_text().partition("<!-- table -->\n")
    after = rest.partition("<!-- end -->")[2]
    made = table(asyncio.run(_all()))
    PAGE.write_text(f"{before}<!-- table -->\n{made}\n<!-- end -->{after}")
    sys.stdout.write(f"{made}\n")
