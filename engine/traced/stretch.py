"""One stretch of work on a run as spans: from its beginning, or a resume, to its stop or its process's end.

Each stretch is an `invoke_agent` span with its iterations below it. The first one is the root of the run's
trace and the later ones are part of it: one run is one trace however often it was resumed, and what was
done can be looked at while the run waits for a person.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ...compaction.conversation import ToolCall
from ...tracing.span import Attribute, Link, Moment, Span, span_id
from ..store.facts import Faulted, Noted, Replied, Settled, Stopped
from ..store.people import Questioned, Requested
from . import parts
from .parts import Asking, Interval, Part, Within, Work

_MOMENTS = 32
"""Notes that an iteration's span holds."""


class Place(NamedTuple):
    """Where a run's spans belong."""

    trace: str
    parent: str
    """Id of the span that the run is part of; empty for a top run."""
    session: str
    content: bool
    """Whether what was said is told."""


@dataclass(slots=True)
class _Iteration:
    number: int
    start_us: int
    end_us: int = 0
    """The newest thing that belongs to it."""
    replied: bool = False
    attempts: int = 0
    fault_at: int = 0
    tools_end_us: int = 0
    work: Work = field(default_factory=Work)
    calls: Mapping[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    begun: dict[str, int] = field(default_factory=dict[str, int])
    """When each call began."""
    moments: list[Moment] = field(default_factory=list[Moment])


class Stretch:
    """The fold of one stretch: what happened in, finished spans out."""

    def __init__(self, run: str, place: Place, number: int, start_us: int, iteration: int) -> None:
        """`number` counts the stretches of the run, from 0; `iteration` is the run's that comes next."""
        self._run, self._place, self._number, self._start_us = run, place, number, start_us
        self._next = iteration
        self._here: _Iteration | None = None
        self._work = Work()

    def asks(self, at_us: int, iteration: int) -> list[Span]:
        """The model is asked: this begins an iteration, unless it is asked again after a failure."""
        if self._here is not None and not self._here.replied:
            return []
        done = self._end_iteration(0)
        self._here = _Iteration(iteration, at_us)
        return done

    def replied(self, replied: Replied, asking: Asking, at_us: int) -> Span:
        """The model gave a reply."""
        here = self._iteration(asking.start_us)
        here.replied, here.begun = True, {}
        here.calls = {call.id: call for call in replied.reply.message.calls}
        work = Work(replied.reply.usage, replied.cost, max(0, at_us - asking.start_us))
        return self._span(here, parts.chat(asking, replied), Interval(asking.start_us, at_us), work)

    def faulted(self, fault: Faulted, asking: Asking, at_us: int) -> Span:
        """The model gave none."""
        here = self._iteration(asking.start_us)
        here.attempts, here.fault_at = asking.attempt, at_us
        work = Work(fault.usage, fault.cost, max(0, at_us - asking.start_us), retries=1)
        return self._span(here, parts.failed_chat(asking, fault), Interval(asking.start_us, at_us), work)

    def waited(self, at_us: int) -> Span:
        """The wait after a failed call is over."""
        here = self._iteration(at_us)
        since = here.fault_at or at_us
        part = parts.backoff(here.number, here.attempts)
        return self._span(here, part, Interval(since, at_us), Work(waiting_us=max(0, at_us - since)))

    @property
    def attempt(self) -> int:
        """Which attempt at a reply the next model call is, from 1."""
        return 1 if self._here is None or self._here.replied else self._here.attempts + 1

    def begins(self, call: str, at_us: int) -> None:
        """A call of a tool begins."""
        self._iteration(at_us).begun.setdefault(call, at_us)

    def settled(self, settled: Settled, replied_at: int, at_us: int) -> Span:
        """A call of a tool has its result."""
        here, call = self._iteration(replied_at), settled.result.call
        since = here.begun.get(call, max(replied_at, here.start_us))
        busy = max(0, at_us - max(since, here.tools_end_us))  # calls that run side by side count once
        here.tools_end_us = at_us
        failed = settled.result.error and not settled.unknown
        work = Work(tools_us=busy, failed=int(failed), unknown=int(settled.unknown))
        part = parts.tool(here.calls.get(call), settled, content=self._place.content)
        return self._span(here, part, Interval(since, at_us), work)

    def heard(self, asked: Requested | Questioned, since: int, said: parts.Heard, at_us: int) -> Span:
        """A person decided or answered, or did not in time."""
        here = self._iteration(at_us)
        work = Work(waiting_us=max(0, at_us - max(since, self._start_us)))
        return self._span(here, parts.waited(asked, said), Interval(since, at_us), work)

    def did(self, part: Part, since: int, at_us: int) -> Span:
        """Something else that the run does by itself, such as checking its answer."""
        return self._span(self._iteration(since), part, Interval(since, at_us), Work())

    def noted(self, noted: Noted, at_us: int) -> None:
        """The model was told something."""
        if self._here is not None and len(self._here.moments) < _MOMENTS:
            self._here.moments.append(Moment("note", at_us, {"offing.note": noted.key[:200]}))

    def kept(self, took_us: int) -> None:
        """So long was waited for the journal."""
        if self._here is not None:
            self._here.work += Work(journal_us=took_us)

    def ends(
        self,
        at_us: int,
        stopped: Stopped | None,
        told: Mapping[str, Attribute | None],
        links: tuple[Link, ...],
    ) -> list[Span]:
        """The spans that were open; `stopped` is None when the process ended without a stop."""
        done = self._end_iteration(at_us)
        root = span_id(self._run, "stretch", 0)
        within = self._within(root if self._number else self._place.parent)
        part = parts.stretch(self._number, {**told, **self._work.told}, stopped)._replace(links=links)
        return [*done, within.span(part, Interval(self._start_us, at_us))]

    def _iteration(self, since: int) -> _Iteration:
        """The open one. What another stretch has begun, with a reply, goes on in a span of this one's."""
        if self._here is None:
            self._here = _Iteration(self._next, since, replied=True)
        return self._here

    def _span(self, here: _Iteration, part: Part, time: Interval, work: Work) -> Span:
        here.end_us = max(here.end_us, time.end_us)
        here.work += work
        parent = span_id(self._run, "iteration", here.number, self._number)
        return self._within(parent).span(part, time)

    def _end_iteration(self, at_us: int) -> list[Span]:
        here, self._here = self._here, None
        if here is None:
            return []
        self._work += here.work
        part = parts.iteration(here.number, self._number, here.work, here.moments)
        time = Interval(here.start_us, max(here.end_us, at_us))
        return [self._within(span_id(self._run, "stretch", self._number)).span(part, time)]

    def _within(self, parent: str) -> Within:
        return Within(self._place.trace, self._run, self._place.session, parent)
