"""Where a moment stands on the page: time in which nobody worked is left out."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from ..span import Span


class Axis:
    """From microseconds to percent of the width, with the gaps between stretches of work cut out.

    A run that waited a day for a person would else be a line at either end.
    """

    def __init__(self, spans: Iterable[Span]) -> None:
        """The spans say when somebody worked."""
        self._stretches = _merged(sorted((span.start_us, max(span.end_us, span.start_us)) for span in spans))
        self._starts = [start for start, _ in self._stretches]
        self._before = [0]
        for start, end in self._stretches:
            self._before.append(self._before[-1] + end - start)

    @property
    def worked_us(self) -> int:
        """How long somebody worked."""
        return self._before[-1]

    @property
    def breaks(self) -> Sequence[float]:
        """Where time was cut out, in percent."""
        return [self._percent(before) for before in self._before[1:-1]]

    def at(self, moment_us: int) -> float:
        """Where a moment stands, in percent; one in a gap stands at the gap."""
        place = bisect_right(self._starts, moment_us) - 1
        if place < 0:
            return 0.0
        start, end = self._stretches[place]
        return self._percent(self._before[place] + min(moment_us, end) - start)

    def _percent(self, worked_us: int) -> float:
        return round(100 * worked_us / self.worked_us, 3) if self.worked_us else 0.0


def _merged(times: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in times:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
