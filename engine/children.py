"""Working on the strands of a call: a run of its own for each, by the same loop, under the same lease.

A call hands its work on once, with the fact that reserves what its strands may use. From there on each step
is as in any run, so whoever resumes finds the strands where they are: not begun, in the middle, waiting for
people, or done. The call has its result once all of them have stopped.
"""

import asyncio
from collections import deque
from dataclasses import replace

from ..compaction.conversation import Message, Text
from ..namespaces.tool import Arguments, ToolOutput
from .breakers import spent_of, worked_s
from .halting import end
from .hearing import addressee
from .limits import Limits
from .lineage import child_of, lineage
from .prompts import prompt
from .reached import reached
from .reservation import planned
from .resident.delegate import parts_of
from .run import Run
from .scrub import scrub
from .steps import has_ended
from .store.facts import Began, Fact, SkillActivated
from .store.inbox import word_of
from .store.strands import Delegated, Overdue, Strand


async def delegated(run: Run, call: str, arguments: Arguments) -> ToolOutput | None:
    """Brings the strands of a call to their ends, and gives what they came to.

    None when all that are left wait for people: the call stays open.

    Raises:
        StoreError: the store failed.
    """
    refused = await _reserve(run, call, arguments)
    if refused:
        return ToolOutput(refused, error=True)
    strands = run.state.current.strands[call]
    names = [child_of(run.id, call, number) for number in range(1, len(strands) + 1)]
    children = [run.descendant(each) for each in names]
    await _Attended(run).work([each for each in children if not has_ended(each.state)])
    left = [each for each in children if each.state.run is not None and not has_ended(each.state)]
    return None if left else reached(run.state, call)


async def _reserve(run: Run, call: str, arguments: Arguments) -> str:
    """Reserves what the strands may use, unless it was done before; else says why it cannot be."""
    async with run.reserving:
        if call in run.state.current.strands:
            return ""
        strands = planned(run, parts_of(arguments))
        if isinstance(strands, str):
            return strands
        await run.record(Delegated(call, strands))
        return ""


class _Attended:
    """The children of one call: at work, or aside until something is said to them."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._places = asyncio.Semaphore(run.state.current.began.limits.strands)
        self._at_work: dict[asyncio.Task[None], Run] = {}
        self._done: deque[asyncio.Task[None]] = deque()
        self._parked: list[Run] = []
        self._news = asyncio.Event()

    async def work(self, children: list[Run]) -> None:
        """Drives them until each has stopped, or waits for people while no other is at work."""
        for child in children:
            self._begin(child)
        listening = asyncio.create_task(self._listen())
        try:
            while self._at_work:
                await self._news.wait()
                self._news.clear()
                while self._done:
                    self._put_aside(self._done.popleft())
                await self._call_back()
        finally:
            await end((*self._at_work, listening))
            self._run.mail.drivers.difference_update(child.id for child in self._at_work.values())

    def _begin(self, child: Run) -> None:
        self._run.mail.drivers.add(child.id)
        task = asyncio.create_task(_work(child, self._places))
        task.add_done_callback(self._has_ended)
        self._at_work[task] = child

    def _has_ended(self, task: "asyncio.Task[None]") -> None:
        self._done.append(task)
        self._news.set()

    async def _listen(self) -> None:
        while True:
            await self._run.mail.rung(self._run.mail.rings)
            self._news.set()

    def _put_aside(self, task: "asyncio.Task[None]") -> None:
        child = self._at_work.pop(task)
        self._run.mail.drivers.discard(child.id)
        task.result()
        if child.state.run is not None and not has_ended(child.state):
            self._parked.append(child)

    async def _call_back(self) -> None:
        """Those to whom something was said, or who are to stop, go on."""
        items = await self._run.mail.items() if self._parked else ()
        named = {addressee(self._run.session, item.run, word_of(item)) for item in items}
        families = {each for identity in named for each in lineage(identity)}
        aside, self._parked = self._parked, []
        for child in aside:
            if child.id in families or child.state.current.cancel is not None:
                self._begin(child)
            else:
                self._parked.append(child)


async def _work(child: Run, places: asyncio.Semaphore) -> None:
    """Drives one child as far as it comes; one that never began because its parent is to stop, not at all."""
    from .loop import drive  # the loop runs calls, so it is not there yet when this is loaded

    async with places:
        if child.state.run is None and not await _began(child):
            return
        timer = asyncio.create_task(_time(child))
        try:
            await drive(child)
        finally:
            await end((timer,))


async def _began(child: Run) -> bool:
    parent, strand = child.parent, child.state.strand
    if parent is None or strand is None:
        raise LookupError(f"run {child.id!r} is nobody's child")
    above = parent.state.current
    if parent.halt.halting or above.cancel is not None or above.overdue:
        return False
    limits = _in_time(strand.limits, parent)
    message = Message("user", (Text(_told(strand, limits, child.id)),))
    facts: list[Fact] = [Began(message, limits, check=above.began.check, by=above.began.by)]
    skill = child.means.skills.find(strand.skill) if strand.skill else None
    if skill is not None:
        text = scrub(child.means.skills.content(skill))
        sections = skill.structure.sections
        facts.append(SkillActivated(skill.name, skill.version, "strand", sections, text=text))
    await child.record(*facts)
    return True


def _in_time(limits: Limits, parent: Run) -> Limits:
    """The limits of a strand that begins now: it has no more time than its parent has left."""
    granted = parent.state.current.budget.wall_s
    if granted is None:
        return limits
    left = max(0.0, granted - spent_of(parent.state).wall_s)
    return replace(limits, budget=replace(limits.budget, wall_s=left))


def _told(strand: Strand, limits: Limits, run: str) -> str:
    """The first message of a child: its task, in its parent's words, and what holds for it."""
    lines: list[str] = []
    if strand.namespaces is not None:
        systems = ", ".join(strand.namespaces)
        lines.append(prompt("strand_systems", systems=systems) if systems else prompt("strand_no_systems"))
    minutes = "" if limits.strand_s is None else f" and {limits.strand_s / 60:,.0f} minutes"
    lines.append(prompt("strand_limits", steps=f"{limits.iterations}", time=minutes))
    if len(lineage(run)) > limits.depth:
        lines.append(prompt("strand_last"))
    return prompt("strand", task=strand.task, title=strand.title, limits="\n".join(lines))


async def _time(child: Run) -> None:
    """Records that the child's time is up, if it comes to that."""
    most = child.state.current.began.limits.strand_s
    if most is None or child.state.current.overdue:
        return
    left = most - worked_s(child.state)
    await child.clock.sleep_until(child.clock.now_us() + max(0, int(left * 1_000_000)))
    if not has_ended(child.state):
        await child.record(Overdue())
        child.mail.ring()
