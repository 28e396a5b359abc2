"""A trace as lines for a terminal: which part took how long, what it cost, what failed.

Pure: spans in, text out. What is drawn of a span is read from its attributes, so a trace that another
process wrote, or a collector handed out, is drawn alike.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .span import Attributes, Span

_NAME = 44
"""Columns of a name with its branches, before the figures."""
_SECOND = 1_000_000
_MINUTE = 60 * _SECOND
_HOUR = 60 * _MINUTE
_LONGEST = 100
"""Characters of an error, or of arguments."""
_UNSAID = frozenset({None, "done", "failed", "retry"})
"""What goes without saying, or is said by the error."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which spans are drawn; with each, those that it is part of. Nothing said draws all."""

    failed: bool = False
    tool: str = ""
    """Calls of tools with this in their names."""
    slowest: int = 0
    """The slowest model calls and calls of tools, so many; 0 for no such choice."""


def draw(spans: Sequence[Span], wanted: Wanted | None = None) -> Iterator[str]:
    """The trace as a tree, a line a span."""
    kept = chosen(spans, wanted or Wanted())
    known = {span.id for span in spans}
    children: Mapping[str, list[Span]] = defaultdict(list)
    for span in sorted(spans, key=lambda one: (one.start_us, one.end_us)):
        if span.id in kept:
            children[span.parent if span.parent in known else ""].append(span)
    for root in children[""]:
        yield _line(root, "")
        yield from _below(root, "", children)


def chosen(spans: Sequence[Span], wanted: Wanted) -> set[str]:
    """Ids of the spans that are wanted and of those that they are part of."""
    by_id = {span.id: span for span in spans}
    found = [span for span in spans if all(test(span) for test in _tests(wanted))]
    if wanted.slowest:
        work = (span for span in found if _operation(span) in {"chat", "execute_tool"})
        found = sorted(work, key=lambda one: -one.duration_us)[: wanted.slowest]
    kept: set[str] = set()
    for span in found:
        here: Span | None = span
        while here is not None and here.id not in kept:
            kept.add(here.id)
            here = by_id.get(here.parent)
    return kept


def _tests(wanted: Wanted) -> Iterator[Callable[[Span], bool]]:
    if wanted.failed:
        yield lambda span: bool(span.error) or span.attributes.get("offing.outcome") in {"suspect", "unknown"}
    if wanted.tool:
        yield lambda span: wanted.tool.lower() in str(span.attributes.get("gen_ai.tool.name", "")).lower()


def _below(span: Span, indent: str, children: Mapping[str, list[Span]]) -> Iterator[str]:
    below = children.get(span.id, [])
    for place, child in enumerate(below):
        is_last = place == len(below) - 1
        yield _line(child, f"{indent}{'└─ ' if is_last else '├─ '}")
        yield from _below(child, f"{indent}{'   ' if is_last else '│  '}", children)


def _line(span: Span, branch: str) -> str:
    mark = "✗ " if span.error else "? " if span.attributes.get("offing.outcome") == "suspect" else ""
    name = f"{branch}{mark}{span.name}"
    figures = [duration(span.duration_us).rjust(8), *_figures(span.attributes)]
    if span.error not in {"", *figures}:
        figures.append(short(span.error))
    return f"{name:<{_NAME}} {'  '.join(figures)}".rstrip()


def _figures(told: Attributes) -> Iterator[str]:
    yield from _tokens(told)
    yield from _prompt(told)
    for key in ("offing.why", "offing.outcome", "offing.waited_for", "offing.who", "offing.title"):
        if told.get(key) not in _UNSAID:
            yield short(str(told[key]))
    arguments = told.get("gen_ai.tool.call.arguments")
    if arguments is not None:
        yield short(str(arguments))


def _tokens(told: Attributes) -> Iterator[str]:
    prompt, written, cached = (
        told.get(f"gen_ai.usage.{kind}", told.get(f"offing.sum.{short}"))
        for kind, short in (
            ("input_tokens", "input_tokens"),
            ("output_tokens", "output_tokens"),
            ("cache_read.input_tokens", "cache_read"),
        )
    )
    if prompt or written:
        yield f"{prompt:,} in{f' ({cached:,} cached)' if cached else ''}, {written:,} out"
    cost = told.get("llm.cost.total", told.get("offing.sum.cost_usd"))
    if isinstance(cost, float) and cost:
        yield f"${cost:.4f}"


def _prompt(told: Attributes) -> Iterator[str]:
    """What is told of a model call beside its tokens, and of a pass over its prompt."""
    first, share = told.get("gen_ai.response.time_to_first_chunk"), told.get("offing.context_share")
    if isinstance(first, float):
        yield f"first word {duration(int(first * 1_000_000))}"
    if isinstance(share, float):
        yield f"window {share:.0%}"
    if told.get("offing.cache_missed"):
        layer = f" in {told['offing.cache_layer']}" if "offing.cache_layer" in told else ""
        yield f"{told['offing.cache_missed']:,} cached tokens missed ({told['offing.cache_outcome']}{layer})"
    if "offing.tokens_before" in told:
        yield f"{told['offing.tokens_before']:,} to {told['offing.tokens_after']:,} tokens"


def _operation(span: Span) -> str:
    return str(span.attributes.get("gen_ai.operation.name", ""))


def short(text: str) -> str:
    """A text as a part of a line."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


def duration(time_us: int) -> str:
    """A time as a person reads it: `0.4 ms`, `3.1 s`, `2 min 05 s`, `3 h 10 min`."""
    if time_us < _SECOND:
        return f"{time_us / 1000:.1f} ms"
    if time_us < _MINUTE:
        return f"{time_us / _SECOND:.1f} s"
    if time_us < _HOUR:
        return f"{time_us // _MINUTE} min {time_us % _MINUTE // _SECOND:02d} s"
    return f"{time_us // _HOUR:,} h {time_us % _HOUR // _MINUTE:02d} min"
