"""What the prompts of a long investigation cost, beside what they would have to cost at least.

    python benchmarks/cost.py [--servers gitlab notion sentry] [--all]

One investigation of sixty steps over at least 240 tools of real MCP servers. A step is a model call: in each
of six phases one that looks up four schemas, then eight or nine of one or two calls each, two questions to a
person, and the answer. What the model says is scripted. All else is real: the engine, its adapters and their
bytes, HTTP; the server computes from the bytes, the markers and the time what its cache had, by the rules of
its provider.

Two schemes: *markers*, Claude by its own wire, whose cache holds what markers ask for; *automatic*, OpenAI's
chat completions by way of litellm, whose server caches what prompts have in common, for five minutes. Prices,
with one token of plain input as 1: read 0.1; written, with markers, 1.25 for five minutes and 2 for an hour;
without, as plain input. Tokens are o200k's. What the model writes is left out: it is the same for all.

Beside it stand two floors:

- *once*: each token is paid once, at the scheme's cheapest price of writing, and read at 0.1 ever after; it
  is paid anew after each pause that outlasts its lifetime, five minutes, an hour for the first two layers;
- *flat*: the same floor for the same run with all schemas in the prompt, which then needs no lookups.

Goals: at most 1.1 of the first, at most a quarter of the second. The exit status is 0 whatever comes out; the
last lines say which goals hold.
"""

import argparse
import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cost_run import CATALOGS, Pauses, Played, catalogs, definitions, is_lookup, play, tokens

from loopback_prompt import canonical, rendered
from offing.tracing import Usage

SERVERS = ("azure", "github", "sentry")
"""What an engineer who looks for the cause of an incident would have connected: 283 tools."""
LEAST = 240
"""Tools from which on a catalog is called long."""
PAUSES: Mapping[str, Pauses] = {
    "none": Pauses(),
    "10 min": Pauses(10),
    "90 min": Pauses(90),
    "10 and 90 min": Pauses(10, 90),
}
READ = 0.1
ONCE_GOAL, FLAT_GOAL = 1.1, 0.25
FIVE_MINUTES, HOUR = 5.0, 60.0


class Prices(NamedTuple):
    """Of writing a token, in tokens of plain input."""

    five_minutes: float
    hour: float

    def of(self, usage: Usage) -> float:
        """What the prompt of a request cost."""
        written = self.five_minutes * usage.cache_write_5m + self.hour * usage.cache_write_1h
        return usage.input + READ * usage.cache_read + written


PRICES = {"markers": Prices(1.25, 2.0), "automatic": Prices(1.0, 1.0)}


class Size(NamedTuple):
    """How long a prompt is, in tokens."""

    frame: float
    """The first two layers."""
    history: float


@dataclass(frozen=True, slots=True)
class Cost:
    """One run, in tokens of plain input."""

    paid: float
    once: float
    flat: float
    requests: int
    prompt: float
    """Tokens of the last prompt."""
    frame: float
    """Of these, the first two layers."""


def sized(scheme: str, body: Mapping[str, Any], *, flat: Sequence[Any] | None = None) -> Size:
    """The size of a prompt; with `flat`, of the same one with these tools in the place of meta-tools."""
    if flat is None:
        parts, tools = list(body["messages"]), body["tools"]
    else:
        parts = list(_without_lookups(body["messages"]))
        tools = [*(tool for tool in body["tools"] if "__" not in _name(tool)), *flat]
    if scheme == "markers":
        frame = _measured({"tools": tools, "system": body["system"], "messages": []})
        return Size(frame, _measured({"messages": parts}))
    frame = sum(map(_plain, [*tools, parts[0]]))
    return Size(frame, sum(map(_plain, parts[1:])))


def _measured(body: Mapping[str, Any]) -> float:
    return sum(tokens(canonical(placed.value)) for placed in rendered(dict(body)))


def _plain(part: object) -> float:
    return tokens(json.dumps(part, ensure_ascii=False, separators=(",", ":")).encode())


def _name(tool: Mapping[str, Any]) -> str:
    return str(tool.get("name") or tool["function"]["name"])


def _without_lookups(messages: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The messages but for replies that only look schemas up, and what came of those."""
    skips = False
    for message in messages:
        if message["role"] == "assistant":
            skips = _looks_up(message)
        if not skips:
            yield message


def _looks_up(message: Mapping[str, Any]) -> bool:
    calls = [
        block["name"] for block in message["content"] or () if isinstance(block, dict) and "input" in block
    ]
    calls += [call["function"]["name"] for call in message.get("tool_calls") or ()]
    return any(map(is_lookup, calls))


def floor(sizes: Sequence[Size], minutes: Sequence[float], write: float) -> float:
    """Each token paid once and read ever after; anew after a pause that outlasts its lifetime."""
    paid = 0.0
    before = Size(0, 0)
    for size, pause in zip(sizes, minutes, strict=True):
        frame = 0 if pause >= HOUR else before.frame
        history = 0 if pause >= FIVE_MINUTES else before.history
        read = frame + history
        paid += READ * read + write * (size.frame + size.history - read)
        before = size
    return paid


def costed(scheme: str, played: Played, flat: Sequence[Any]) -> Cost:
    """What a run cost, beside its floors."""
    prices = PRICES[scheme]
    sizes = [sized(scheme, body) for body in played.bodies]
    asked = [sized(scheme, body, flat=flat) for body in played.bodies]
    kept = list(_business(played, asked))
    return Cost(
        paid=sum(map(prices.of, played.usages)),
        once=floor(sizes, played.minutes, prices.five_minutes),
        flat=floor([size for size, _ in kept], [pause for _, pause in kept], prices.five_minutes),
        requests=len(sizes),
        prompt=sizes[-1].frame + sizes[-1].history,
        frame=sizes[-1].frame,
    )


def _business(played: Played, sizes: Sequence[Size]) -> Iterator[tuple[Size, float]]:
    """The requests of the flat run, all but those that were answered by lookups; the time before each."""
    waited = 0.0
    for place, size in enumerate(sizes):
        waited += played.minutes[place]
        later = played.bodies[place + 1]["messages"] if place + 1 < len(sizes) else []
        reply = later[len(played.bodies[place]["messages"]) :][:1]
        if reply and _looks_up(reply[0]):
            continue
        yield size, waited
        waited = 0.0


def told(scheme: str, pause: str, cost: Cost) -> str:
    """A row of the table."""
    once, flat = cost.paid / cost.once, cost.paid / cost.flat
    return (
        f"| {scheme} | {pause} | {cost.paid / 1000:,.0f} | {cost.once / 1000:,.0f} | {once:.3f} |"
        f" {cost.flat / 1000:,.0f} | {flat:.3f} |"
    )


def _holds(goal: bool) -> str:  # noqa: FBT001
    return "holds" if goal else "does not hold"


def main() -> None:
    """Measures and prints."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--servers", nargs="+", default=list(SERVERS), help="short names of catalogs")
    arguments.add_argument("--all", action="store_true", help="all catalogs that there are")
    given = arguments.parse_args()
    if not CATALOGS.is_dir():
        print(f"skipped: there are no catalogs in {CATALOGS}")
        return
    names: Sequence[str] = () if given.all else given.servers
    count = sum(map(len, catalogs(names).values()))
    if count < LEAST:
        print(f"skipped: {count} tools are fewer than {LEAST}")
        return
    asyncio.run(measured(names, count))


async def measured(names: Sequence[str], count: int) -> None:
    """Prints a table, and which goals hold."""
    print(f"{count} tools of {len(catalogs(names))} servers; thousands of tokens of plain input\n")
    print("| scheme | pauses | paid | once | paid / once | flat | paid / flat |")
    print("|---|---|---:|---:|---:|---:|---:|")
    verdicts: list[str] = []
    for scheme in PRICES:
        flat = definitions(scheme, names)
        for pause, pauses in PAUSES.items():
            played = await play(scheme, names, pauses)
            cost = costed(scheme, played, flat)
            print(told(scheme, pause, cost), flush=True)
            once, flat_too = cost.paid <= ONCE_GOAL * cost.once, cost.paid <= FLAT_GOAL * cost.flat
            outcomes = ", ".join(f"{played.outcomes.count(o)} {o}" for o in dict.fromkeys(played.outcomes))
            verdicts.append(
                f"{scheme}, {pause}: once {_holds(once)}, flat {_holds(flat_too)};"
                f" {cost.requests} requests ({outcomes}), the last of {cost.prompt:,.0f} tokens,"
                f" {cost.frame:,.0f} of them the first two layers"
            )
    print("\n" + "\n".join(verdicts))


if __name__ == "__main__":
    main()
