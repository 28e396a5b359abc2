"""The page, put together: what the run came to, where time and money went, what failed, all its spans."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..drawn import duration
from ..span import Span
from ..troubles import Trouble, troubles
from . import charts
from .charts import Series
from .html import Html, escaped, table, tag
from .strands import strands
from .timeline import timeline

_TROUBLES = 200
"""Failures that are listed; all of them are in the timeline."""


@dataclass(frozen=True, slots=True)
class Head:
    """What stands on top."""

    title: str
    request: str
    """What was asked; empty where that is not told."""
    figures: Mapping[str, str]
    """Such as the status, tokens and cost, by what they are."""
    fork: str = ""
    """The command that goes on from an iteration, with `{}` for its number; empty for none."""


@dataclass(frozen=True, slots=True)
class Section:
    """A table of the host's, such as the figures of an answer with their sources."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    text: str = ""
    """Before the table."""


def page(spans: Sequence[Span], head: Head, sections: Sequence[Section] = ()) -> Html:
    """The whole document."""
    chats = [
        span for span in spans if span.attributes.get("gen_ai.operation.name") == "chat" and not span.error
    ]
    chats.sort(key=lambda span: span.start_us)
    body = [
        _head(head),
        *map(_section, sections),
        *_titled("What failed, or said so little that it may have", _troubles(spans, head)),
        *_titled("Where the time went", _times(spans)),
        *_titled("Prompt tokens of each model call", _tokens(chats)),
        *_titled("How full the window was", _pressure(chats)),
        *_titled("Cost, added up", _cost(spans)),
        *_titled("Strands, side by side", strands(spans)),
        *_titled("Timeline", timeline(spans)),
    ]
    style = tag("style", Path(__file__).with_name("page.css").read_text(encoding="utf-8"))
    meta = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    inner = tag("head", [meta, tag("title", escaped(head.title)), style]) + tag("body", tag("main", body))
    return "<!doctype html>" + tag("html", inner, lang="en")


def _head(head: Head) -> Html:
    facts = [
        tag("div", [tag("dt", escaped(what)), tag("dd", escaped(value))])
        for what, value in head.figures.items()
    ]
    asked = tag("p", escaped(head.request), class_="asked") if head.request else ""
    return tag("header", [tag("h1", escaped(head.title)), asked, tag("dl", facts)])


def _section(section: Section) -> Html:
    rows = ([escaped(cell) for cell in row] for row in section.rows)
    text = tag("pre", escaped(section.text)) if section.text else ""
    shown = table(section.headings, rows) if section.rows else ""
    return "".join(_titled(section.title, text + shown))


def _titled(title: str, content: Html) -> Iterator[Html]:
    if content:
        yield tag("section", [tag("h2", escaped(title)), content])


def _number(span: Span, key: str) -> float:
    value = span.attributes.get(key)
    return float(value) if isinstance(value, int | float) else 0.0


def _times(spans: Sequence[Span]) -> Html:
    # A child's times pass within the call of its parent that waits for it.
    stretches = [
        span for span in spans if "offing.why" in span.attributes and "offing.strand" not in span.attributes
    ]
    parts = {
        name: sum(_number(span, f"offing.time.{name}_ms") for span in stretches)
        for name in ("model", "tools", "waiting", "journal")
    }
    parts = {name: ms for name, ms in parts.items() if ms}
    total = sum(parts.values())
    if not total:
        return ""
    bar = [
        tag(
            "i",
            title=f"{name}: {duration(int(ms * 1000))}",
            class_=name,
            style=f"width:{100 * ms / total:.2f}%",
        )
        for name, ms in parts.items()
    ]
    keys = [
        tag("span", escaped(f"{name} {duration(int(ms * 1000))}"), class_=f"key {name}")
        for name, ms in parts.items()
    ]
    return tag("div", bar, class_="share") + tag("p", keys)


def _tokens(chats: Sequence[Span]) -> Html:
    if not chats:
        return ""
    read = [_number(span, "gen_ai.usage.cache_read.input_tokens") for span in chats]
    written = [_number(span, "gen_ai.usage.cache_write.input_tokens") for span in chats]
    prompt = [_number(span, "gen_ai.usage.input_tokens") for span in chats]
    fresh = [max(0.0, all_ - one - two) for all_, one, two in zip(prompt, read, written, strict=True)]
    series = [
        Series("read from the cache", "read", read),
        Series("written to the cache", "written", written),
        Series("not cached", "fresh", fresh),
    ]
    return charts.stacked(series, "tokens")


def _pressure(chats: Sequence[Span]) -> Html:
    shares = [100 * _number(span, "offing.context_share") for span in chats]
    return charts.line(Series("share of the window", "pressure", shares), 100, "%") if any(shares) else ""


def _cost(spans: Sequence[Span]) -> Html:
    total, sums = 0.0, list[float]()
    for span in sorted(spans, key=lambda one: one.end_us):
        if "llm.cost.total" in span.attributes:
            total += _number(span, "llm.cost.total")
            sums.append(total)
    return charts.line(Series("US dollars", "cost", sums), total, "$") if total else ""


def _troubles(spans: Sequence[Span], head: Head) -> Html:
    found = troubles(spans)
    if not found:
        return ""
    return table(_HEADINGS, (_trouble(each, head) for each in found[:_TROUBLES]))


_HEADINGS = ("what", "iteration", "why", "to go on another way")


def _trouble(trouble: Trouble, head: Head) -> list[Html]:
    number = trouble.iteration
    fork = head.fork.format(number - 1) if head.fork and number else ""
    return [
        tag("a", escaped(trouble.span.name), href=f"#{trouble.span.id}"),
        "" if number is None else str(number),
        escaped(trouble.why),
        tag("code", escaped(fork)) if fork else "",
    ]
