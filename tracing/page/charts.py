"""Charts of numbers over iterations, as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass

from .html import Html, escaped, tag

_WIDTH, _HEIGHT, _LEFT, _BELOW = 960, 120, 80, 18
_MOST = 400
"""Bars of a chart; of more iterations, neighbours share one."""


@dataclass(frozen=True, slots=True)
class Series:
    """One number an iteration."""

    name: str
    look: str
    """A class of the style sheet."""
    values: Sequence[float]


def stacked(series: Sequence[Series], unit: str) -> Html:
    """Bars on top of each other, and what their colours mean."""
    thin = [Series(each.name, each.look, _thinned(each.values)) for each in series]
    totals = [sum(values) for values in zip(*(each.values for each in thin), strict=True)]
    top = max(totals, default=0) or 1
    step = (_WIDTH - _LEFT) / max(1, len(totals))
    bars: list[Html] = []
    below = [0.0] * len(totals)
    for each in thin:
        for place, value in enumerate(each.values):
            height = value / top * _HEIGHT
            y = _HEIGHT - below[place] - height
            below[place] += height
            if height:
                bars.append(_bar(each, _LEFT + place * step, y, max(0.5, step * 0.85), height))
    return _framed(bars, top, unit, len(series[0].values) if series else 0) + _legend(series)


def line(series: Series, top: float, unit: str) -> Html:
    """A line, on a scale up to `top`; what is above it is drawn at the edge."""
    values = _thinned(series.values)
    step = (_WIDTH - _LEFT) / max(1, len(values))
    points = " ".join(
        f"{_LEFT + (place + 0.5) * step:.1f},{_HEIGHT - min(value, top) / (top or 1) * _HEIGHT:.1f}"
        for place, value in enumerate(values)
    )
    drawn = tag("polyline", points=points, class_=f"line {series.look}")
    return _framed([drawn], top, unit, len(series.values)) + _legend([series])


def _bar(series: Series, x: float, y: float, width: float, height: float) -> Html:
    return tag(
        "rect", x=f"{x:.1f}", y=f"{y:.1f}", width=f"{width:.1f}", height=f"{height:.1f}", class_=series.look
    )


def _thinned(values: Sequence[float]) -> list[float]:
    """At most so many: of neighbours that share a bar the largest is shown."""
    share = -(-len(values) // _MOST) or 1
    return [max(values[place : place + share]) for place in range(0, len(values), share)]


def _framed(inner: Sequence[Html], top: float, unit: str, count: int) -> Html:
    axis = [
        tag("line", x1=_LEFT, x2=_WIDTH, y1=_HEIGHT, y2=_HEIGHT, class_="axis"),
        tag("line", x1=_LEFT, x2=_WIDTH, y1=0, y2=0, class_="grid"),
        tag("text", escaped(f"{_amount(top)} {unit}"), x=0, y=10),
        tag("text", "0", x=_LEFT - 14, y=_HEIGHT),
        tag("text", "1", x=_LEFT, y=_HEIGHT + _BELOW - 4),
        tag("text", f"{count:,}", x=_WIDTH, y=_HEIGHT + _BELOW - 4, text_anchor="end"),
    ]
    box = f"0 0 {_WIDTH} {_HEIGHT + _BELOW}"
    return tag("svg", [*axis, *inner], viewBox=box, role="img")


def _amount(value: float) -> str:
    """As much of a number as a scale needs."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.4g}"  # noqa: PLR2004


def _legend(series: Sequence[Series]) -> Html:
    return tag("p", [tag("span", escaped(each.name), class_=f"key {each.look}") for each in series])
