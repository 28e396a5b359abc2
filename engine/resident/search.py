"""Finding tools, records and earlier outputs by words."""

import re
from collections.abc import AsyncIterator, Iterable
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from ...namespaces.functions import tool
from ...namespaces.tool import Effect, ToolContext, ToolOutput
from ..memory import found
from .desk import Desk, desk
from .remember import line_of

_MOST = 20
_LINE = 200
_SEARCHED_BYTES = 20_000_000
"""Of the newest stored outputs, and of what left the conversation, how much is searched."""


class Hit(NamedTuple):
    """Something found."""

    score: int
    line: str


@tool(effect=Effect.READ)
async def search(
    query: Annotated[str, Field(min_length=1, description="Words; more of them found ranks higher.")],
    context: ToolContext,
    where: Literal["tools", "records", "outputs", "all"] = "all",
) -> ToolOutput:
    """Finds tools of the connected systems, records, and stored outputs by words."""
    at = desk(context)
    words = [word for word in re.split(r"\W+", query.lower()) if word]
    hits: list[Hit] = []
    if where in {"tools", "all"}:
        hits += _hits("tool", words, (f"{name}: {text}" for name, text in at.toolbox.summaries()))
    if where in {"records", "all"}:
        hits += _hits("record", words, (_record_line(at, record) for record in at.state.records))
    if where in {"outputs", "all"}:
        hits += _hits("output", words, [line async for line in _output_lines(at)])
    if at.memory is not None and where == "all":
        items = found(await at.memory.items.items(at.state.current.began.by), query, at.state.at, _MOST)
        hits += _hits("memory", words, map(line_of, items))
    best = sorted(hits, key=lambda hit: (-hit.score, hit.line))[: _most(at)]
    if not best:
        return ToolOutput(f"nothing found for {query!r} in {where}")
    return ToolOutput("\n".join(hit.line for hit in best))


def _most(at: Desk) -> int:
    """Lines that a search gives, so that its result is shown whole."""
    return max(1, min(_MOST, at.state.current.began.limits.result_chars // (_LINE + 20) - 1))


def _hits(kind: str, words: list[str], lines: Iterable[str]) -> list[Hit]:
    matching: list[Hit] = []
    for line in lines:
        lower = line.lower()
        score = sum(word in lower for word in words)
        if score:
            matching.append(Hit(score, f"{kind} {line[:_LINE]}"))
    return matching


def _record_line(at: Desk, identity: str) -> str:
    record = at.state.records[identity]
    amount = "" if record.amount is None else f"{record.amount} {record.currency or ''}"
    return f"{identity}: {record.date or ''} {amount} {record.text}"


async def _output_lines(at: Desk) -> AsyncIterator[str]:
    left = _SEARCHED_BYTES
    for stored in reversed(at.state.artifacts.values()):
        left -= stored.size
        if left < 0:
            return
        text = (await at.read(stored.handle)).decode("utf-8", "replace")
        for line in text.splitlines():
            yield f"{stored.handle}: {line}"
