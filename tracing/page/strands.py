"""Child runs side by side: one row each, on the same axis."""

from collections.abc import Sequence

from ..drawn import duration
from ..span import Span
from .axis import Axis
from .html import Html, escaped, tag

_LEAST = 0.15
"""Percent of the width that a bar has at least, to be seen."""


def strands(spans: Sequence[Span]) -> Html:
    """A row a child, its stretches as bars; nothing where there is no child."""
    children: dict[str, list[Span]] = {}
    for span in sorted(spans, key=lambda one: one.start_us):
        if "offing.strand" in span.attributes:
            children.setdefault(str(span.attributes["offing.run"]), []).append(span)
    if not children:
        return ""
    axis = Axis(span for stretches in children.values() for span in stretches)
    return tag("div", [_row(run, stretches, axis) for run, stretches in children.items()], class_="timeline")


def _row(run: str, stretches: Sequence[Span], axis: Axis) -> Html:
    last = stretches[-1]
    title = str(last.attributes.get("offing.title", run))
    name = tag("a", escaped(f"{title}: {last.attributes.get('offing.why', '')}"), href=f"#{last.id}")
    bars = [_bar(span, axis) for span in stretches]
    took = duration(sum(span.duration_us for span in stretches))
    cells = [
        tag("span", name, class_="name"),
        tag("span", bars, class_="track"),
        tag("span", took, class_="time"),
    ]
    return tag("div", cells, class_="strand")


def _bar(span: Span, axis: Axis) -> Html:
    start = axis.at(span.start_us)
    width = max(_LEAST, axis.at(span.end_us) - start)
    look = "agent failed" if span.error else "agent"
    return tag("i", style=f"left:{start}%;width:{width}%", class_=f"bar {look}")
