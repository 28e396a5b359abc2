"""When room is made in the context window, and when there is none left: pure functions of state."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..compaction.estimate import coarse
from .limits import Limits, Room
from .models.catalog import ModelInfo
from .state import State
from .store.facts import PassWhy, Stopped
from .warmth import is_cold

UNKNOWN_WINDOW = 128_000
"""Tokens of a model of which nothing is known and nothing is said (`Limits.window`)."""
_REPLY = 32_000
"""Tokens kept free for a reply at most, unless the host says so: what the adapters ask for by default."""
_REPLY_SHARE = 4
"""Of a small window, no more than one in so many is kept free."""
_WORTH_A_PASS = 0.1
"""Share of the room that has to be used anew after a pass before the next one: each costs the cache."""


@dataclass(frozen=True, slots=True)
class Compact:
    """Make room before the model is called."""

    why: PassWhy
    used: int
    """Tokens of the view, estimated."""
    target: int
    """What it is to come down to."""
    bound: int
    """What it has to come below, if it can."""


def room_of(limits: Limits, info: ModelInfo, frame: Sequence[bytes]) -> Room:
    """What a model takes: as the host says, else as the catalog does, else a careful guess."""
    window = limits.window or info.window or UNKNOWN_WINDOW
    reply = limits.reply_tokens
    if reply is None:
        reply = min(info.max_output or _REPLY, _REPLY, window // _REPLY_SHARE)
    return Room(window, reply, sum(coarse(layer.decode("utf-8", "replace")) for layer in frame))


def used(state: State) -> int:
    """Tokens of the next request, as far as they are known."""
    frame = 0 if state.room is None else state.room.frame
    return state.gauge.used(state.conversation.messages, frame)


def is_other_model(state: State) -> bool:
    """Whether another model than the one that goes on gave the newest reply."""
    return bool(state.spoke.model) and state.spoke.model != state.model


def make_room(state: State) -> Compact | Stopped | None:
    """What is to be done before the model may be asked; None when there is room.

    One trigger is one pass: until the model has replied there is no second one.
    """
    room, last = state.room, state.current.last
    if room is None:
        return None
    taken = used(state)
    is_paused = last is not None and last.stop == "pause"  # it is resent as it is
    why = None if state.gauge.passed or is_paused else _why(state, room, taken)
    if why is not None:
        return _compact(state, room, why, taken)
    return _full(room, taken) if taken > room.most else None


def after_refusal(state: State, told: str) -> Compact | Stopped:
    """What is to be done when the provider says that the window is exceeded: a pass, once."""
    last = state.current.last
    is_paused = state.current.fault is not None and last is not None and last.stop == "pause"
    if state.gauge.passed or is_paused:
        return Stopped("window", f"the context window is full, {_in_vain(state)}: {told}. {_HELP}")
    taken = used(state)
    return _compact(state, state.room or Room(taken, 0), "refused", taken)


def _in_vain(state: State) -> str:
    """Why no room is made any more."""
    if not state.gauge.passed:
        return "in the middle of a paused turn"
    is_empty = state.conversation.passes[-1].is_empty
    return "and nothing can leave it" if is_empty else "although room was made"


_HELP = "Start a new session with what is known, or go on with a model that takes more"


def _full(room: Room, taken: int) -> Stopped:
    return Stopped(
        "window",
        f"the context window is full: about {taken:,} tokens, where a prompt may have {room.most:,} of"
        f" {room.window:,}, and nothing more can leave it. {_HELP}",
    )


def _why(state: State, room: Room, taken: int) -> PassWhy | None:
    limits, gauge = state.current.began.limits, state.gauge
    above = max(limits.compact_above * room.most, min(room.most, gauge.floor + _WORTH_A_PASS * room.most))
    if is_other_model(state):
        return "model"
    if taken > above:
        return "full"
    if is_cold(state) and taken > max(limits.compact_cold_above * room.most, gauge.floor):
        return "cold"
    return None


def _compact(state: State, room: Room, why: PassWhy, taken: int) -> Compact:
    """Where the provider refused, the window is no larger than what it was sent."""
    limits = state.current.began.limits
    most = min(room.most, taken) if why == "refused" else room.most
    target, bound = int(limits.compact_to * most), int(limits.compact_above * most)
    if why == "model" and taken <= limits.compact_cold_above * most:
        target = bound = max(most, taken)  # only the other model's reasoning goes
    return Compact(why, taken, target, bound)
