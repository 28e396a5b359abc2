"""What a run does next: a pure function of its state.

The order of the questions is the order of the rules: first settle what was asked for, then judge the
reply, then see whether the model may be asked again and what it has to be told before.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import assert_never

from pydantic import JsonValue

from ..compaction.conversation import ToolCall
from .breakers import left, not_again, tripped
from .models.model import Reply, StopReason
from .models.retry import decide
from .prompts import prompt
from .restated import restated
from .run_state import RunState
from .state import State
from .store.facts import Faulted, Noted, Stopped
from .store.people import Expired, Questioned
from .waiting import Waiting
from .window import Compact, after_refusal, make_room

_DOUBTS = 30
"""Doubts about an answer that the model is told one by one."""
_SHORT = 120
"""Characters of a question or a task that a detail quotes."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Call the model."""


@dataclass(frozen=True, slots=True)
class Execute:
    """Bring each of these calls to a result."""

    calls: tuple[ToolCall, ...]
    in_doubt: tuple[ToolCall, ...]
    """Calls that were started by somebody who did not live to record the outcome."""
    executable: bool
    """False when the reply ended in a way that forbids running its calls, or the run is cancelled."""


@dataclass(frozen=True, slots=True)
class Check:
    """Check the answer against what was asked for."""

    answer: str
    schema: Mapping[str, JsonValue] | None
    """JSON Schema that it has to fit; None for an answer in words, whose figures need sources."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait before the model is called again."""

    until: int
    """Microseconds since 1970 in UTC."""


Step = Ask | Compact | Execute | Check | Wait | Noted | Expired | Stopped


def next_step(state: State) -> Step:
    """What the current run does next. A stopped run stays stopped."""
    run = state.current
    if run.stopped is not None:
        return run.stopped
    if run.calls:
        return _settle_calls(state, run)
    if run.cancel is not None:
        return Stopped("cancelled", _cancelled(state, run))
    if run.fault is not None and not run.waited:
        return _after_fault(state, run, run.fault)
    verdict = _JUDGES[run.last.stop](state, run, run.last) if run.last is not None else None
    return verdict or tripped(state) or make_room(state) or _note(state, run) or Ask()


def _settle_calls(state: State, run: RunState) -> Step:
    """What can be settled is; then what a person has to say is waited for. Cancelling waits for nobody."""
    open_calls = [call for call in run.calls.values() if call.id not in run.results]
    waited_for = [run.waiting[call.id] for call in open_calls if call.id in run.waiting]
    waited_for = [each for each in waited_for if each.is_open and run.cancel is None]
    held = {each.asked.call for each in waited_for}
    ready = [call for call in open_calls if call.id not in held]
    if ready:
        return Execute(
            tuple(call for call in ready if call.id not in run.started),
            tuple(call for call in ready if call.id in run.started),
            executable=run.cancel is None and run.last is not None and run.last.stop == "tools",
        )
    due = next((Expired(each.asked.call) for each in waited_for if each.is_due(state.at)), None)
    return due or Stopped("waiting", f"waits for {'; '.join(map(_waited_for, waited_for))}")


def _waited_for(waiting: Waiting) -> str:
    asked = waiting.asked
    if isinstance(asked, Questioned):
        return f"an answer to {asked.call}: {_short(asked.question)}"
    until = "" if asked.expires_at is None else f" until {_time_of(asked.expires_at)}"
    return f"approval of {asked.call} ({asked.tool}){until}"


def _cancelled(state: State, run: RunState) -> str:
    """Who cancelled it, what is done and what is not."""
    cancel = run.cancel
    by = f" by {cancel.posted.who}" if cancel is not None and cancel.posted.who else ""
    why = f": {cancel.reason}" if cancel is not None and cancel.reason else ""
    left = [task.title for task in state.tasks if task.status in {"pending", "active"}]
    parts = [f"cancelled{by}{why}"]
    if state.tasks:
        parts.append(f"{len(state.tasks) - len(left)} of {len(state.tasks)} tasks are dealt with")
    if left:
        parts.append(f"left to do: {', '.join(map(_short, left))}")
    if run.unknown:
        parts.append(f"of unknown outcome: {', '.join(run.unknown)}")
    return "; ".join(parts)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHORT else f"{line[: _SHORT - 3]}..."


def _after_fault(state: State, run: RunState, fault: Faulted) -> Step:
    decision = decide(
        run.began.limits.retry,
        fault.fault,
        failed=run.faults,
        told_us=fault.told_us,
        chance=fault.chance,
    )
    until = run.fault_at + decision.wait_us
    told = f"({fault.fault}) {fault.message}"
    match decision.verdict:
        case "again":
            return not_again(state) or Wait(until)
        case "later":
            when = f"; it asks to come back at {_time_of(until)}" if decision.wait_us else ""
            return Stopped(
                "unavailable", f"the model is not available after {run.faults} attempts{when}: {told}"
            )
        case "window":
            return tripped(state) or after_refusal(state, told)
        case "never":
            return Stopped("fault", f"the model could not be asked: {told}")
        case _ as never:
            assert_never(never)


def _judge_end(state: State, run: RunState, reply: Reply) -> Step | None:
    if reply.message.calls:
        return _unfinished(run, "repeating", None)
    if not reply.message.text.strip():
        return _unfinished(run, "empty", Noted(f"empty:{state.turn}", prompt("note_empty")))
    if run.checked is None:
        return Check(run.answer, run.began.output) if _is_checked(state, run) else Stopped("answered")
    if run.checked.problem:
        text = prompt("note_unfit", problem=run.checked.problem)
        return _unfinished(run, "unfit", Noted(f"unfit:{state.turn}", text))
    if run.checked.doubts and run.doubted == 1 and tripped(state) is None:
        return Noted(f"doubts:{state.turn}", prompt("note_doubts", doubts=_listed(run.checked.doubts)))
    return Stopped("answered")


def _is_checked(state: State, run: RunState) -> bool:
    began = run.began
    if began.output is not None or began.check == "required":
        return True
    return began.check == "auto" and bool(state.records or run.sections)


def _listed(lines: Sequence[str]) -> str:
    shown = [f"- {line}" for line in lines[:_DOUBTS]]
    more = [f"- and {len(lines) - _DOUBTS} more"] if len(lines) > _DOUBTS else []
    return "\n".join((*shown, *more))


def _judge_tools(state: State, run: RunState, reply: Reply) -> Step | None:
    return None if reply.message.calls else _judge_end(state, run, reply)


def _judge_length(state: State, run: RunState, reply: Reply) -> Step | None:
    note = None if reply.message.calls else Noted(f"length:{state.turn}", prompt("note_length"))
    return _unfinished(run, "length", note)


def _judge_pause(state: State, run: RunState, reply: Reply) -> Step | None:
    if run.pauses <= run.began.limits.pauses:
        return None
    return Stopped("paused", f"the provider paused its turn {run.pauses} times in a row")


def _judge_refusal(state: State, run: RunState, reply: Reply) -> Step | None:
    return Stopped("refused", reply.detail or "the model declined to answer")


def _judge_window(state: State, run: RunState, reply: Reply) -> Step | None:
    return tripped(state) or after_refusal(state, "the reply ended for want of room")


_JUDGES: Mapping[StopReason, Callable[[State, RunState, Reply], Step | None]] = {
    "end": _judge_end,
    "tools": _judge_tools,
    "length": _judge_length,
    "pause": _judge_pause,
    "refusal": _judge_refusal,
    "window": _judge_window,
}


def _unfinished(run: RunState, why: str, note: Noted | None) -> Step | None:
    """Lets the model try again, within bounds."""
    if run.unfinished <= run.began.limits.unfinished_replies:
        return note
    told = {
        "length": "replies kept being cut off by their length: grant longer ones (max_tokens)",
        "empty": "replies kept being empty",
        "unfit": f"answers kept not fitting what was asked for: {run.checked and run.checked.problem}",
        "repeating": "replies kept asking for calls and ending at the same time",
    }
    return Stopped(why, told[why])  # type: ignore[arg-type]


def _note(state: State, run: RunState) -> Noted | None:
    """The first thing that the model should know and was not told yet."""
    if run.last is not None and run.last.stop == "pause":
        return None  # a paused turn is resent as it is
    said = (_go_on(state), restated(state), _not_undone(state), _repeated(state, run), _date(state))
    candidates = (*said, *left(state))
    return next((note for note in candidates if note and note.key not in state.noted), None)


def _go_on(state: State) -> Noted | None:
    """After a resume the last word may be the model's own: providers refuse to continue that."""
    if state.conversation.messages[-1].role != "assistant":
        return None
    return Noted(f"go on:{state.seq}", prompt("note_go_on"))


def _not_undone(state: State) -> Noted | None:
    """Of a fork: what was done after its point is still done, and nothing in the conversation says so."""
    forked = state.forked
    if forked is None or not forked.effects:
        return None
    calls = _listed([f"{effect.tool} ({effect.call}): {effect.outcome}" for effect in forked.effects])
    return Noted(forked.note, prompt("note_fork", calls=calls))


def _repeated(state: State, run: RunState) -> Noted | None:
    if run.repeated is None or run.repeated.times < run.began.limits.same_failures:
        return None
    text = prompt("note_repeated", tool=run.repeated.tool, times=str(run.repeated.times))
    return Noted(f"repeated:{run.repeated.since}", text)


def _date(state: State) -> Noted | None:
    today = day_of(state.at)
    if today == day_of(state.opened_at):
        return None
    return Noted(f"date:{today}", prompt("note_date", date=today))


def day_of(at_us: int) -> str:
    """The day of a time in UTC, as the model is told it."""
    return datetime.fromtimestamp(at_us / 1_000_000, tz=UTC).strftime("%A, %Y-%m-%d")


def _time_of(at_us: int) -> str:
    """A time as a person reads it."""
    return datetime.fromtimestamp(at_us / 1_000_000, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
