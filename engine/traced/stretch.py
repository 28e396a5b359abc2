"""One stretch of work on a run as spans: from its beginning, or a resume, to its stop or its process's end.

Each stretch is an `invoke_agent` span with its iterations below it. The first one is the root of the run's
trace and the later ones are part of it: one run is one trace however often it was resumed, and what was
done can be looked at while the run waits for a person.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...compaction.conversation import ToolCall
from ...tracing.span import Link, Moment, Span
from ..store.facts import Compacted, Faulted, Replied, Settled
from ..store.people import Questioned, Requested
from . import calls, chats, parts
from .chats import Asking
from .parts import End, Interval, Part, Place, Told, Work

_MOMENTS = 32
"""Moments that an iteration's span holds."""


@dataclass(slots=True)
class _Iteration:
    number: int
    start_us: int
    end_us: int = 0
    """The newest thing that belongs to it."""
    replied: bool = False
    attempts: int = 0
    passes: int = 0
    fault_at: int = 0
    tools_end_us: int = 0
    work: Work = field(default_factory=Work)
    calls: Mapping[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    begun: dict[str, int] = field(default_factory=dict[str, int])
    """When each call began."""
    moments: list[Moment] = field(default_factory=list[Moment])


class Stretch:
    """The fold of one stretch: what happened in, finished spans out."""

    def __init__(self, place: Place, number: int, start_us: int, iteration: int) -> None:
        """`number` counts the stretches of the run, from 0; `iteration` is the run's that comes next."""
        self.place, self._number, self._start_us = place, number, start_us
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
        missed = 0 if replied.cached is None else replied.cached.missed
        took = max(0, at_us - asking.start_us)
        work = Work(replied.reply.usage, replied.cost, took, missed=missed)
        return self._span(here, chats.chat(asking, replied), Interval(asking.start_us, at_us), work)

    def faulted(self, fault: Faulted, asking: Asking, at_us: int) -> Span:
        """The model gave none."""
        here = self._iteration(asking.start_us)
        here.attempts, here.fault_at = asking.attempt, at_us
        work = Work(fault.usage, fault.cost, max(0, at_us - asking.start_us), retries=1)
        return self._span(here, chats.failed_chat(asking, fault), Interval(asking.start_us, at_us), work)

    def waited(self, at_us: int) -> Span:
        """The wait after a failed call is over."""
        here = self._iteration(at_us)
        since = here.fault_at or at_us
        part = chats.backoff(here.number, here.attempts)
        return self._span(here, part, Interval(since, at_us), Work(waiting_us=max(0, at_us - since)))

    def compacted(self, done: Compacted, since: int, at_us: int) -> Span:
        """Room was made: part of the iteration whose model call it makes room for."""
        here = self._iteration(since)
        here.passes += 1
        took = max(0, at_us - since) if done.calls else 0
        part = chats.compaction(here.number, here.passes, done)
        return self._span(here, part, Interval(since, at_us), Work(done.usage, done.cost, took))

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
        part = calls.tool(here.calls.get(call), settled, content=self.place.content)
        return self._span(here, part, Interval(since, at_us), work)

    def heard(self, asked: Requested | Questioned, since: int, said: calls.Heard, at_us: int) -> Span:
        """A person decided or answered, or did not in time."""
        here = self._iteration(at_us)
        work = Work(waiting_us=max(0, at_us - max(since, self._start_us)))
        return self._span(here, calls.waited(asked, said), Interval(since, at_us), work)

    def did(self, part: Part, since: int, at_us: int) -> Span:
        """Something else that the run does by itself, such as checking its answer."""
        return self._span(self._iteration(since), part, Interval(since, at_us), Work())

    def marked(self, moment: Moment) -> None:
        """Something happened that takes no time."""
        if self._here is not None and len(self._here.moments) < _MOMENTS:
            self._here.moments.append(moment)

    def adds(self, work: Work) -> None:
        """Work that is done elsewhere for it: by a child, or by the journal."""
        if self._here is None:
            self._work += work
        else:
            self._here.work += work

    def ends(self, at_us: int, end: End, told: Told, links: tuple[Link, ...], agent: str) -> list[Span]:
        """The spans that were open."""
        done = self._end_iteration(at_us)
        parent = self.place.id("stretch", 0) if self._number else self.place.parent
        part = parts.stretch(self._number, agent, end, {**told, **self._work.told}, links)
        return [*done, self.place.span(part, parent, Interval(self._start_us, at_us))]

    @property
    def work(self) -> Work:
        """What was done in it, once it has ended."""
        return self._work

    def _iteration(self, since: int) -> _Iteration:
        """The open one. What another stretch has begun, with a reply, goes on in a span of this one's."""
        if self._here is None:
            self._here = _Iteration(self._next, since, replied=True)
        return self._here

    def _span(self, here: _Iteration, part: Part, time: Interval, work: Work) -> Span:
        here.end_us = max(here.end_us, time.end_us)
        here.work += work
        return self.place.span(part, self.place.id("iteration", here.number, self._number), time)

    def _end_iteration(self, at_us: int) -> list[Span]:
        here, self._here = self._here, None
        if here is None:
            return []
        self._work += here.work
        part = parts.iteration(here.number, self._number, here.work, here.moments)
        time = Interval(here.start_us, max(here.end_us, at_us))
        return [self.place.span(part, self.place.id("stretch", self._number), time)]
