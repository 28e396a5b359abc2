"""How much of the window a session takes, as its facts tell: a part of the fold in `state.py`."""

from dataclasses import replace
from typing import TYPE_CHECKING

from ..compaction.gauge import Counted
from .models.model import Reply
from .run_state import Spoke
from .store.facts import Compacted

if TYPE_CHECKING:
    from .state import State


def count_reply(state: "State", reply: Reply, *, is_kept: bool) -> None:
    """What a reply says of the size of the view; it is the last message, if it is one.

    One that ended for want of room is no use of a pass: after another one like it the run stops.
    """
    messages, usage = state.conversation.messages, reply.usage
    counted = Counted(usage.prompt, usage.output, usage.reasoning, is_kept)
    frame = 0 if state.room is None else state.room.frame
    passed = state.gauge.passed and reply.stop == "window"
    state.gauge = replace(state.gauge.replied(messages, frame, counted), passed=passed)
    state.spoke = Spoke(state.model, state.at)
    if is_kept and usage.output:
        state.written[len(messages) - 1] = counted


def take_pass(state: "State", compacted: Compacted) -> None:
    """What a pass changes. A call that was refused for want of room is made anew; what it showed is kept."""
    run = state.current
    state.conversation.passes.append(compacted.done)
    state.artifacts.update((stored.handle, stored) for stored in compacted.stored)
    state.gauge = state.gauge.compacted(compacted.after, compacted.done.end)
    run.digest_calls += compacted.calls
    if compacted.why != "refused" or compacted.done.is_empty:
        return
    run.fault, run.faults = None, 0
    if run.last is not None and run.last.stop == "window":
        run.last = None
    if state.room is not None:
        window = min(state.room.window, compacted.before - 1 + state.room.reply)
        state.room = replace(state.room, window=window)
