"""Which rows a fork copies, and how: a pure function from the rows of a stream to those of another.

A fork goes on from a settled iteration: a reply and the results of all its calls. What was recorded after
it is left out, notes included: the fork's next step says again what is still true.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from ...compaction.conversation import Message, Text
from ..errors import ConfigurationError, NotFound
from ..scrub import scrub
from ..store.branches import Edited, Forked, NotUndone
from ..store.facts import (
    Began,
    Checked,
    Fact,
    Noted,
    Replied,
    Resumed,
    Settled,
    SkillActivated,
    Started,
    Stopped,
)
from ..store.journal import Row


@dataclass(frozen=True, slots=True)
class MessageEdit:
    """Another message of the user in place of the one that the run began with. Its files stay.

    It can be changed before the first reply alone: what was replied to is as it was.
    """

    text: str


@dataclass(frozen=True, slots=True)
class ResultEdit:
    """Another text in place of what a call of the settled iteration came to.

    The records that the call registered stay: figures are still compared with them.
    """

    call: str
    content: str


Edit = MessageEdit | ResultEdit


@dataclass(frozen=True, slots=True)
class Point:
    """Where a fork goes on from."""

    stream: str
    run: str
    iteration: int
    """Of the run: the settled one, from 1; 0 is before the run's first reply."""


@dataclass(frozen=True, slots=True)
class Target:
    """What becomes of the copy."""

    session: str
    """Its runs are `<session>.1` and so on."""
    at: int
    """When it is made; microseconds since 1970 in UTC."""
    edit: Edit | None = None
    model: str = ""
    """The model that is to go on; empty for the host's choice."""


def forked(rows: Sequence[Row], point: Point, target: Target) -> tuple[Row, ...]:
    """The rows of the new stream: what it is a fork of, then the copy.

    Raises:
        NotFound: the rows have no such run.
        ConfigurationError: the iteration is not there or not settled, or the edit does not fit it.
        JournalUnreadable: this release does not know a row.
    """
    start, end = _reach(rows, point)
    copied: list[tuple[Row, Fact]] = [
        (row, row.known) for row in rows[:end] if not isinstance(row.known, Forked)
    ]
    if target.edit is not None:
        place, fact = _edited(rows[:end], start, point, target.edit)
        copied = [(row, fact if row.seq == place else known) for row, known in copied]
    old, new = point.run.rpartition(".")[0], target.session
    names = {row.run: f"{new}.{row.run.removeprefix(f'{old}.')}" for row in rows}
    origin = Forked(
        point.stream,
        point.run,
        rows[end - 1].seq,
        point.iteration,
        _edits(target),
        not_undone(rows, end),
        _trace(rows, point.run),
    )
    first = Row(1, names[point.run], target.at, origin)
    return (
        first,
        *(
            Row(seq, names[row.run], row.at, _renamed(fact, names))
            for seq, (row, fact) in enumerate(copied, start=2)
        ),
    )


def not_undone(rows: Sequence[Row], end: int) -> tuple[NotUndone, ...]:
    """The effects that a fork which copies up to row `end` leaves as they are."""
    outcomes: dict[str, NotUndone] = {}
    for row in rows[end:]:
        match row.known:
            case Started(call, tool):
                outcomes[call] = NotUndone(call, tool, "unknown")
            case Settled(result, unknown=unknown) if result.call in outcomes and not unknown:
                started = outcomes[result.call]
                outcomes[result.call] = NotUndone(
                    started.call, started.tool, "failed" if result.error else "done"
                )
            case _:
                pass
    return (*_untold(rows[:end]), *outcomes.values())


def _untold(copied: Sequence[Row]) -> tuple[NotUndone, ...]:
    """Of a fork of a fork: what the first one left as it was, and no copied note tells the model."""
    origin = copied[0].known if copied else None
    if not isinstance(origin, Forked):
        return ()
    told = any(isinstance(row.known, Noted) and row.known.key == origin.note for row in copied)
    return () if told else origin.effects


def _reach(rows: Sequence[Row], point: Point) -> tuple[int, int]:
    """Places in `rows`: where the settled iteration begins, and where the copy ends."""
    if point.iteration < 0:
        raise ConfigurationError(f"there is no iteration {point.iteration}: the first one is 1")
    began = next((n for n, row in enumerate(rows) if _begins(row, point.run)), None)
    if began is None:
        raise NotFound(f"there is no run {point.run!r} in stream {point.stream!r}")
    replies = [n for n, row in enumerate(rows) if row.run == point.run and isinstance(row.known, Replied)]
    if point.iteration > len(replies):
        raise ConfigurationError(
            f"run {point.run!r} has {len(replies)} iterations: it can be forked at 0 to {len(replies)},"
            f" not at {point.iteration}"
        )
    if point.iteration == 0:
        return began, _after_kinds(rows, began + 1, (SkillActivated,))
    start = replies[point.iteration - 1]
    return start, _verdict(rows, _settled(rows, start, point))


def _begins(row: Row, run: str) -> bool:
    return row.run == run and isinstance(row.known, Began)


def _settled(rows: Sequence[Row], start: int, point: Point) -> int:
    """The place after the last result of the reply at `start`."""
    replied = rows[start].known
    waiting = (
        {call.id for call in replied.reply.message.calls} if isinstance(replied, Replied) else set[str]()
    )
    if not waiting:
        return start + 1
    for place in range(start + 1, len(rows)):
        fact = rows[place].known
        if isinstance(fact, Settled):
            waiting.discard(fact.result.call)
            if not waiting:
                return place + 1
    raise ConfigurationError(
        f"iteration {point.iteration} of run {point.run!r} is not settled:"
        f" {', '.join(sorted(waiting))} has no result yet. Fork at {point.iteration - 1}, or resume it first"
    )


def _verdict(rows: Sequence[Row], end: int) -> int:
    """The place after what was made of an answer: it follows from the answer alone."""
    end = _after_kinds(rows, end, (Checked,))
    stopped = rows[end].known if end < len(rows) else None
    return end + 1 if isinstance(stopped, Stopped) and stopped.why == "answered" else end


def _after_kinds(rows: Sequence[Row], place: int, kinds: tuple[type, ...]) -> int:
    while place < len(rows) and isinstance(rows[place].known, kinds):
        place += 1
    return place


def _edits(target: Target) -> tuple[Edited, ...]:
    edits: list[Edited] = []
    match target.edit:
        case MessageEdit():
            edits.append(Edited("message"))
        case ResultEdit(call):
            edits.append(Edited("result", call))
        case None:
            pass
        case _ as never:
            assert_never(never)
    return (*edits, *([Edited("model", target.model)] if target.model else []))


def _edited(copied: Sequence[Row], start: int, point: Point, edit: Edit) -> tuple[int, Fact]:
    """The sequence number of the row that the edit changes, and what it says then."""
    match edit:
        case MessageEdit(text):
            return _other_message(copied[start], point, text)
        case ResultEdit():
            return _other_result(copied, start, point, edit)
        case _ as never:
            assert_never(never)


def _other_message(row: Row, point: Point, text: str) -> tuple[int, Fact]:
    began = row.known
    if point.iteration or not isinstance(began, Began):
        raise ConfigurationError(
            f"the message of run {point.run!r} cannot be changed at iteration {point.iteration}:"
            " the model has replied to it. Fork at 0"
        )
    if not text.strip():
        raise ConfigurationError(f"a message has to say something; got {text!r}")
    words = began.message.blocks
    rest = words[1:] if words and isinstance(words[0], Text) else words
    return row.seq, replace(began, message=Message("user", (Text(scrub(text)), *rest)))


def _other_result(copied: Sequence[Row], start: int, point: Point, edit: ResultEdit) -> tuple[int, Fact]:
    most = next(
        row.known.limits for row in copied if _begins(row, point.run) and isinstance(row.known, Began)
    )
    if len(edit.content) > most.result_chars:
        raise ConfigurationError(
            f"the result of {edit.call} cannot have {len(edit.content):,} characters:"
            f" results of run {point.run!r} have at most {most.result_chars:,}"
        )
    for row in copied[start:]:
        settled = row.known
        if isinstance(settled, Settled) and settled.result.call == edit.call:
            result = replace(settled.result, content=scrub(edit.content), error=False, media=(), handle=None)
            return row.seq, replace(settled, result=result)
    calls = list(_calls(copied[start]))
    there = f"its calls are {', '.join(calls)}" if calls else "it made no calls"
    raise ConfigurationError(
        f"there is no call {edit.call!r} in iteration {point.iteration} of run {point.run!r}: {there}"
    )


def _calls(row: Row) -> Iterator[str]:
    if isinstance(row.known, Replied):
        yield from (call.id for call in row.known.reply.message.calls)


def _trace(rows: Sequence[Row], run: str) -> str:
    """The trace of a run; empty where it was not traced."""
    driven = [row.known for row in rows if row.run == run]
    return next((fact.trace for fact in driven if isinstance(fact, Resumed) and fact.trace), "")


def _renamed(fact: Fact, names: Mapping[str, str]) -> Fact:
    """The keys of some notes name the run that they were told in; a copy has a trace of its own."""
    if isinstance(fact, Resumed):
        return replace(fact, trace="", host="")
    if not isinstance(fact, Noted):
        return fact
    return replace(fact, key=":".join(names.get(part, part) for part in fact.key.split(":")))
