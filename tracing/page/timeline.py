"""The timeline: a row a span, below what it is part of, its bar where it was at work."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ..drawn import duration
from ..span import Span
from .axis import Axis
from .html import Html, escaped, tag

_LEAST = 0.15
"""Percent of the width that a bar has at least, to be seen."""
_SHOWN = 40
"""Attributes that a span's details list."""
_TWICE = (
    "agent.",
    "gen_ai.input.",
    "gen_ai.output.",
    "gen_ai.tool.call.",
    "graph.",
    "input.mime_type",
    "llm.",
    "openinference.",
    "output.mime_type",
    "session.",
    "tool.",
)
"""How names begin that say again what another one says, for another viewer."""
_OPEN = 12
"""Iterations up to which all are unfolded at first."""


def timeline(spans: Sequence[Span]) -> Html:
    """All spans as a tree that folds."""
    axis = Axis(span for span in spans if span.attributes.get("gen_ai.operation.name") == "invoke_agent")
    known = {span.id for span in spans}
    children: Mapping[str, list[Span]] = defaultdict(list)
    for span in sorted(spans, key=lambda one: (one.start_us, one.end_us)):
        children[span.parent if span.parent in known else ""].append(span)
    many = sum(span.name.startswith("iteration") for span in spans) > _OPEN
    rows = [_row(root, 0, axis, children, many=many) for root in children[""]]
    return tag("div", rows, class_="timeline")


def _row(span: Span, depth: int, axis: Axis, children: Mapping[str, list[Span]], *, many: bool) -> Html:
    below = [_row(child, depth + 1, axis, children, many=many) for child in children.get(span.id, [])]
    line = _line(span, depth, axis)
    if not below:
        return tag("details", [tag("summary", line), _details(span)], id=span.id, class_="leaf")
    is_folded = many and span.name.startswith("iteration") and not _has_error(span, children)
    opened = {} if is_folded else {"open": "open"}
    return tag("details", [tag("summary", line), _details(span), *below], id=span.id, **opened)


def _has_error(span: Span, children: Mapping[str, list[Span]]) -> bool:
    return bool(span.error) or any(_has_error(child, children) for child in children.get(span.id, []))


def _line(span: Span, depth: int, axis: Axis) -> Html:
    start = axis.at(span.start_us)
    width = max(_LEAST, axis.at(span.end_us) - start)
    bar = tag("i", style=f"left:{start}%;width:{width}%", class_=f"bar {look(span)}")
    name = tag("span", escaped(span.name), class_="name", style=f"padding-left:{depth}em")
    return "".join(
        [name, tag("span", bar, class_="track"), tag("span", duration(span.duration_us), class_="time")]
    )


def look(span: Span) -> str:
    """How a span is coloured: what it is, and whether it failed."""
    kind = str(span.attributes.get("openinference.span.kind", "CHAIN")).lower()
    if span.name.startswith("wait"):
        kind = "wait"
    return f"{kind} failed" if span.error else f"{kind} {span.attributes.get('offing.outcome', '')}".strip()


def _details(span: Span) -> Html:
    return tag("dl", list(_told(span)))


def _told(span: Span) -> Iterator[Html]:
    if span.error:
        yield tag("dt", "error") + tag("dd", escaped(span.error), class_="error")
    once = [(key, value) for key, value in span.attributes.items() if not key.startswith(_TWICE)]
    if "llm.cost.total" in span.attributes:
        once.append(("cost in US dollars", span.attributes["llm.cost.total"]))
    for key, value in once[:_SHOWN]:
        shown = ", ".join(value) if isinstance(value, tuple) else value
        yield tag("dt", escaped(key)) + tag("dd", escaped(shown))
