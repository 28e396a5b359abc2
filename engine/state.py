"""The heart: what a session is now, as the fold of its facts, and what it does next.

`apply` is the fold and `next_step` the decision. Both are pure: no clock, no I/O, no randomness. To
resume a run is to fold its journal and ask for the next step; there is no other code for it.
"""

import hashlib
import json
from collections.abc import AsyncIterable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import assert_never

from ..compaction.conversation import Conversation, Message, Text
from ..compaction.gauge import Counted, Gauge
from ..namespaces.tool import Record
from ..tracing import Usage
from .limits import Room
from .models.model import Reply
from .prefix_state import Pauses, Prefix, take_reply, take_warmed
from .run_state import ActiveSkill, Draft, Failure, RunState, Spoke
from .space import count_reply, take_pass
from .store.branches import Forked, Moved
from .store.cached import Warmed
from .store.facts import (
    Began,
    Checked,
    Compacted,
    Faulted,
    Linked,
    Noted,
    Opened,
    Remembered,
    Replied,
    Resumed,
    Settled,
    SkillActivated,
    Started,
    Stopped,
    Stored,
    Task,
    TasksSet,
    Waited,
)
from .store.journal import Row
from .store.people import (
    Answered,
    CancelAsked,
    Decided,
    Expired,
    PeopleFact,
    Questioned,
    Refused,
    Requested,
    Said,
)
from .waiting import Waiting


@dataclass(slots=True)
class State:
    """All that is known of a session."""

    seq: int = 0
    """Sequence number of the last row."""
    at: int = 0
    """Time of the last row: the only time that decisions know."""
    opened: Opened | None = None
    opened_at: int = 0
    conversation: Conversation = field(default_factory=Conversation)
    turn: int = 0
    """Replies so far, over all runs: calls are numbered by it."""
    runs: int = 0
    run: RunState | None = None
    noted: set[str] = field(default_factory=set[str])
    """Keys of the notes the model was given."""
    records: dict[str, Record] = field(default_factory=dict[str, Record])
    artifacts: dict[str, Stored] = field(default_factory=dict[str, Stored])
    """What each handle of this session stands for."""
    tasks: tuple[Task, ...] = ()
    confidence: float | None = None
    links: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Figures of the coming answer and the records they are tied to."""
    skills: dict[str, ActiveSkill] = field(default_factory=dict[str, ActiveSkill])
    """By name, the skills that the model has."""
    model: str = ""
    """The model that works; empty in old journals."""
    room: Room | None = None
    """What it takes; None where that is not recorded."""
    spoke: Spoke = field(default_factory=Spoke)
    gauge: Gauge = field(default_factory=Gauge)
    """How much of it the view takes."""
    written: dict[int, Counted] = field(default_factory=dict[int, Counted])
    """By place in the conversation, what replies were counted as."""
    forked: Forked | None = None
    """What its stream is a copy of; None when it is none."""
    moved: str | None = None
    """The stream that the session goes on in; None when it goes on in this one."""
    prefix: Prefix | None = None
    """What the newest request left in the provider's cache; None when nothing is known of that."""
    pauses: Pauses = field(default_factory=Pauses)

    @property
    def current(self) -> RunState:
        """The run being worked on; an error of the caller when there is none."""
        if self.run is None:
            raise LookupError("no run has begun in this session")
        return self.run


async def fold(rows: AsyncIterable[Row], state: State | None = None) -> State:
    """The state that the rows lead to, from the beginning or from `state` on.

    Raises:
        JournalUnreadable: a row is damaged or of a newer release.
    """
    state = State() if state is None else state
    async for row in rows:
        apply(state, row)
    return state


def apply(state: State, row: Row) -> None:  # noqa: C901, PLR0912
    """Takes one fact into the state.

    Raises:
        JournalUnreadable: this release does not know the fact.
    """
    fact, idle_us = row.known, max(0, row.at - state.at)
    _follow(state, row)
    match fact:
        case Opened() | Forked() | Moved():
            _place(state, row, fact)
        case Began() as began:
            _begin(state, row, began)
        case Resumed() | Warmed():
            _end_pause(state, fact, idle_us)
        case Noted() as noted:
            _note(state, noted)
        case Replied() | Faulted() | Compacted():
            _call(state, fact, row.at - idle_us)
        case Settled() as settled:
            _settle(state, settled)
        case TasksSet(tasks, confidence):
            state.tasks, state.confidence = tasks, confidence
        case Linked(figure, records):
            state.links[figure] = records
        case SkillActivated() as skill:
            _activate(state, skill)
        case Started() | Checked() | Waited() | Stopped() | Remembered():
            _mark(state.current, fact)
        case (
            Requested()
            | Questioned()
            | Expired()
            | Decided()
            | Answered()
            | Said()
            | CancelAsked()
            | Refused()
        ):
            _hear(state, state.current, fact)
        case _ as never:
            assert_never(never)


def _place(state: State, row: Row, fact: Opened | Forked | Moved) -> None:
    match fact:
        case Opened():
            state.opened, state.opened_at = fact, row.at
        case Forked():
            state.forked = fact
        case Moved(stream):
            state.moved = stream
        case _ as never:
            assert_never(never)


def _call(state: State, fact: Replied | Faulted | Compacted, asked_at: int) -> None:
    match fact:
        case Replied():
            _reply(state, fact, asked_at)
        case Faulted():
            _fault(state, fact)
        case Compacted():
            _compact(state, fact)
        case _ as never:
            assert_never(never)


def _mark(run: RunState, fact: Started | Checked | Waited | Stopped | Remembered) -> None:
    match fact:
        case Started(call):
            run.started.add(call)
        case Checked():
            run.checked = fact
            run.doubted += bool(fact.doubts)
            if fact.doubts and run.draft is None:
                run.draft = Draft(run.answer, fact)
        case Waited():
            run.waited, run.retried = True, run.retried + 1
        case Stopped():
            run.stopped = fact
        case Remembered():
            pass  # it is in the store's memory, and nothing that comes next depends on it
        case _ as never:
            assert_never(never)


def _hear(state: State, run: RunState, fact: PeopleFact) -> None:
    match fact:
        case Requested(call) | Questioned(call):
            run.waiting[call] = Waiting(fact)
            run.started.discard(call)  # a call that asks has come back, and begins anew with the answer
            run.questions += isinstance(fact, Questioned)
        case Decided() | Answered() | Expired():
            waiting = run.waiting.get(fact.call)
            if waiting is not None and waiting.is_open:  # the first word counts
                run.waiting[fact.call] = replace(waiting, said=fact)
        case Said(_, message, files):
            state.artifacts.update((stored.handle, stored) for stored in files)
            run.said.append(message)
            _deliver(state, run)
        case CancelAsked():
            run.cancel = fact
        case Refused():
            pass
        case _ as never:
            assert_never(never)


def _deliver(state: State, run: RunState) -> None:
    """Messages go behind the results of a batch, and never into a paused turn.

    What the model said before one is no answer to it.
    """
    paused = run.last is not None and run.last.stop == "pause"
    if run.calls or paused or not run.said:
        return
    state.conversation.messages.extend(run.said)
    run.said = []
    run.last = run.checked = None
    run.goes_on = False


def _follow(state: State, row: Row) -> None:
    if row.seq != state.seq + 1:
        raise ValueError(f"row {row.seq} cannot follow row {state.seq}")
    state.seq, state.at = row.seq, row.at
    if state.run is not None:
        state.run.signs = state.run.signs.after(row.known)


def _begin(state: State, row: Row, began: Began) -> None:
    state.runs += 1
    if state.run is not None:
        state.conversation.messages.extend(state.run.said)
    limits = began.limits
    state.run = RunState(row.run, row.seq, began, row.at, limits.iterations, limits.budget)
    state.links.clear()
    state.artifacts.update((stored.handle, stored) for stored in began.files)
    state.conversation.messages.append(began.message)


def _end_pause(state: State, fact: Resumed | Warmed, idle_us: int) -> None:
    """The time in which nobody worked on the run is none of its own; what keeps it warm costs its money."""
    state.current.idle_us += idle_us
    if isinstance(fact, Warmed):
        _spend(state.current, fact.usage, fact.cost)
        take_warmed(state)
        return
    state.model, state.room = fact.model or state.model, fact.room or state.room
    if state.current.stopped is not None:
        state.gauge = replace(state.gauge, passed=False)
    _go_on(state.current, fact)


def _go_on(run: RunState, resumed: Resumed) -> None:
    """A stop, and what led to it, is forgotten; what is recorded as done, or spent, stays so."""
    _grant(run, resumed)
    run.trace = resumed.trace or run.trace
    if run.stopped is None or run.stopped.why != "budget":  # else the retry that it stopped at is next
        run.fault, run.faults = None, 0
    if run.stopped is None:
        return
    run.stopped = run.cancel = None
    run.unsupervised = 0
    if run.calls:
        return  # it waited for a person, and goes on where it was
    run.repeated = None
    run.unfinished = run.pauses = 0
    run.failures.clear()
    if run.last is not None and run.last.stop != "pause":
        run.last = None


def _grant(run: RunState, resumed: Resumed) -> None:
    run.granted += resumed.iterations
    if resumed.more is None:
        return
    run.budget += resumed.more
    if resumed.more.cost is not None:
        run.unpriced = 0


def _note(state: State, noted: Noted) -> None:
    state.noted.add(noted.key)
    state.current.last = state.current.checked = None
    state.conversation.messages.append(Message("note", (Text(noted.text),)))


def _activate(state: State, skill: SkillActivated) -> None:
    run = state.current
    run.sections = run.sections or skill.sections
    if skill.how != "start" and not skill.call and not skill.text:
        return
    place = None
    if skill.text:
        place = len(state.conversation.messages)
        state.conversation.messages.append(Message("note", (Text(skill.text),)))
    state.skills[skill.name] = ActiveSkill(skill.version, skill.call, place)


def _spend(run: RunState, usage: Usage, cost: Decimal | None) -> None:
    run.usage += usage
    run.cost = None if run.cost is None or cost is None else run.cost + cost
    run.known_cost += cost or 0
    run.unpriced += cost is None


def _reply(state: State, replied: Replied, asked_at: int) -> None:
    take_reply(state, replied, asked_at)
    run, reply = state.current, replied.reply
    state.turn += 1
    run.iterations += 1
    run.unsupervised += 1
    _spend(run, reply.usage, replied.cost)
    run.last, run.checked, run.fault, run.faults = reply, None, None, 0
    run.calls = {call.id: call for call in reply.message.calls}
    run.started, run.results, run.repeated = set(), {}, None
    _allow(run, reply)
    if reply.message.text.strip():
        run.answer = f"{run.answer if run.goes_on else ''}{reply.message.text}"
    run.goes_on = reply.stop in {"length", "pause"} and not run.calls
    if reply.stop != "pause":
        run.unfinished = 0 if reply.stop == "tools" and run.calls else run.unfinished + 1
    run.pauses = run.pauses + 1 if reply.stop == "pause" else 0
    is_kept = bool(reply.message.blocks) or reply.message.raw is not None
    if is_kept:
        state.conversation.messages.append(reply.message)
    count_reply(state, reply, is_kept=is_kept)
    _deliver(state, run)


def _compact(state: State, compacted: Compacted) -> None:
    _spend(state.current, compacted.usage, compacted.cost)
    take_pass(state, compacted)


def _allow(run: RunState, reply: Reply) -> None:
    """Which calls of a reply its budget covers. A reply that was cut is not executed, and uses nothing up."""
    asked, most = (tuple(run.calls) if reply.stop == "tools" else ()), run.budget.tool_calls
    allowed = len(asked) if most is None else min(len(asked), max(0, most - run.tool_calls))
    run.beyond = frozenset(asked[allowed:])
    run.tool_calls += allowed


def _fault(state: State, fault: Faulted) -> None:
    run = state.current
    run.fault, run.fault_at, run.waited = fault, state.at, False
    run.faults += 1
    run.retries += 1
    _spend(run, fault.usage, fault.cost)


def _settle(state: State, settled: Settled) -> None:
    run = state.current
    run.results[settled.result.call] = settled.result
    state.records.update((record.id, record) for record in settled.records)
    state.artifacts.update((stored.handle, stored) for stored in settled.stored)
    if settled.unknown:
        run.unknown.append(settled.result.call)
    _count_failure(run, settled)
    if len(run.results) == len(run.calls):
        in_order = tuple(run.results[call] for call in run.calls)
        state.conversation.messages.append(Message("tool", in_order))
        run.calls, run.waiting = {}, {}
        _deliver(state, run)


def _count_failure(run: RunState, settled: Settled) -> None:
    call = run.calls[settled.result.call]
    same_call = f"{call.name} {call.malformed or json.dumps(call.arguments, sort_keys=True)}"
    digest = hashlib.sha256(same_call.encode()).hexdigest()
    known = run.failures.pop(digest, None)
    if not settled.result.error:
        return
    error = hashlib.sha256(settled.result.content.encode()).hexdigest()
    failure = Failure(settled.tool, error, 1, call.id)
    if known is not None and known.error == error:
        failure = replace(known, times=known.times + 1)
    run.failures[digest] = failure
    if run.repeated is None or failure.times > run.repeated.times:
        run.repeated = failure
