"""What went wrong in a trace, and in which iteration. Pure; it is drawn and shown elsewhere."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .span import Span


class Trouble(NamedTuple):
    """A part that failed, or came to nothing that one can rely on."""

    span: Span
    iteration: int | None
    """Of the top run, from 1; None where it is part of none."""

    @property
    def why(self) -> str:
        """In words."""
        return self.span.error or str(self.span.attributes.get("offing.outcome", ""))


def is_trouble(span: Span) -> bool:
    """Whether it failed, may have failed in silence, or nobody knows."""
    return bool(span.error) or span.attributes.get("offing.outcome") in {"suspect", "unknown"}


def troubles(spans: Sequence[Span]) -> list[Trouble]:
    """All of them, the earliest first. What only contains a failure is none."""
    by_id = {span.id: span for span in spans}
    found = [span for span in spans if is_trouble(span) and "offing.why" not in span.attributes]
    found.sort(key=lambda span: (span.start_us, span.end_us))
    return [Trouble(span, _iteration(span, by_id)) for span in found]


def _iteration(span: Span, by_id: Mapping[str, Span]) -> int | None:
    """That of the outermost run that it is part of: a run is forked as a whole."""
    number: int | None = None
    here: Span | None = span
    while here is not None:
        told = here.attributes.get("offing.iteration")
        number = told if isinstance(told, int) else number
        here = by_id.get(here.parent)
    return number
