"""A run as lines: what was said, called, noted and decided, in the journal's order."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ....compaction.conversation import ToolCall
from ...scrub import scrub
from ...store.branches import Forked, Moved
from ...store.facts import (
    Began,
    Checked,
    Faulted,
    Linked,
    Noted,
    Remembered,
    Replied,
    Resumed,
    Settled,
    SkillActivated,
    Stopped,
    TasksSet,
    Unknown,
)
from ...store.journal import Row
from ...store.people import Answered, CancelAsked, Decided, Expired, Questioned, Refused, Requested, Said

_WIDTH = 160
"""Characters of arguments, results and texts that a line shows."""


def lines_of(row: Row) -> Iterator[str]:
    """The lines of one fact; none for facts that say nothing to a person."""
    tell = _TOLD.get(type(row.fact))
    if tell is not None:
        yield from tell(row.fact)


def short(text: str, width: int = _WIDTH) -> str:
    """A text on one line, shortened."""
    line = " ".join(scrub(text).split())
    return line if len(line) <= width else f"{line[: width - 3]}..."


def arguments_of(call: ToolCall) -> str:
    """A call's arguments as JSON; what the model wrote where they are none."""
    return call.malformed or json.dumps(call.arguments, ensure_ascii=False)


def _began(fact: Began) -> Iterator[str]:
    yield f"> {short(fact.message.text)}"
    yield from (f"       file {stored.handle}, {stored.size:,} bytes" for stored in fact.files)


def _resumed(fact: Resumed) -> Iterator[str]:
    more = "" if fact.more is None else ", with more to spend"
    yield f"       driven by {fact.owner}{more}"


def _replied(fact: Replied) -> Iterator[str]:
    message, usage = fact.reply.message, fact.reply.usage
    cost = "" if fact.cost is None else f", ${fact.cost:.4f}"
    yield f"  reply: {usage.prompt:,} tokens read, {usage.output:,} written{cost}"
    if message.text.strip():
        yield f"       {short(message.text)}"
    for call in message.calls:
        yield f"{call.id:>6} {call.name} {short(arguments_of(call))}"


def _settled(fact: Settled) -> Iterator[str]:
    result = fact.result
    mark = "?" if fact.unknown else "!" if result.error else "="
    records = f" [{len(fact.records)} records]" if fact.records else ""
    yield f"{result.call:>6} {mark} {short(result.content)}{records}"


def _noted(fact: Noted) -> Iterator[str]:
    yield f"       note: {short(fact.text)}"


def _faulted(fact: Faulted) -> Iterator[str]:
    yield f"    ! the model failed ({fact.fault}): {short(fact.message)}"


def _tasks(fact: TasksSet) -> Iterator[str]:
    sure = "" if fact.confidence is None else f" (confidence {fact.confidence:g})"
    yield f"       tasks{sure}: {short('; '.join(f'{each.title} ({each.status})' for each in fact.tasks))}"


def _linked(fact: Linked) -> Iterator[str]:
    yield f"       {fact.figure} is linked to {short(', '.join(fact.records))}"


def _checked(fact: Checked) -> Iterator[str]:
    if fact.problem:
        yield f"    ! the answer does not fit: {short(fact.problem)}"
    yield from (f"    ! in doubt: {short(each)}" for each in fact.doubts)


def _skill(fact: SkillActivated) -> Iterator[str]:
    yield f"       works by {fact.name} ({fact.version}), chosen by {fact.how}"


def _remembered(fact: Remembered) -> Iterator[str]:
    yield f"       remembered as {fact.id}: {short(fact.text)}"


def _requested(fact: Requested) -> Iterator[str]:
    yield f"{fact.call:>6} waits for approval of {fact.tool}: {short(fact.why)}"


def _questioned(fact: Questioned) -> Iterator[str]:
    yield f"{fact.call:>6} asks: {short(fact.question)}"


def _decided(fact: Decided) -> Iterator[str]:
    reason = f": {short(fact.reason)}" if fact.reason else ""
    yield f"{fact.call:>6} {'approved' if fact.approved else 'denied'} by {_who(fact)}{reason}"


def _answered(fact: Answered) -> Iterator[str]:
    yield f"{fact.call:>6} answered by {_who(fact)}: {short(fact.text)}"


def _expired(fact: Expired) -> Iterator[str]:
    yield f"{fact.call:>6} was not approved in time"


def _said(fact: Said) -> Iterator[str]:
    yield f"> {_who(fact)}: {short(fact.message.text)}"


def _cancelled(fact: CancelAsked) -> Iterator[str]:
    yield f"       {_who(fact)} asks to stop: {short(fact.reason)}"


def _refused(fact: Refused) -> Iterator[str]:
    yield f"    ! what {_who(fact)} said changes nothing: {short(fact.why)}"


def _stopped(fact: Stopped) -> Iterator[str]:
    detail = f": {short(fact.detail)}" if fact.detail else ""
    yield f"  stopped, {fact.why}{detail}"


def _forked(fact: Forked) -> Iterator[str]:
    yield f"       copied from {fact.run} of {fact.stream}, up to iteration {fact.iteration}"


def _moved(fact: Moved) -> Iterator[str]:
    yield f"       rolled back: goes on in {fact.stream}"


def _unknown(fact: Unknown) -> Iterator[str]:
    yield f"       a fact of kind {fact.kind!r}, version {fact.version}, of a later release"


def _who(fact: Decided | Answered | Said | CancelAsked | Refused) -> str:
    return fact.posted.who or "somebody"


_TOLD: Mapping[type, Callable[[Any], Iterator[str]]] = {
    Began: _began,
    Resumed: _resumed,
    Replied: _replied,
    Settled: _settled,
    Noted: _noted,
    Faulted: _faulted,
    TasksSet: _tasks,
    Linked: _linked,
    Checked: _checked,
    SkillActivated: _skill,
    Remembered: _remembered,
    Requested: _requested,
    Questioned: _questioned,
    Decided: _decided,
    Answered: _answered,
    Expired: _expired,
    Said: _said,
    CancelAsked: _cancelled,
    Refused: _refused,
    Stopped: _stopped,
    Forked: _forked,
    Moved: _moved,
    Unknown: _unknown,
}
