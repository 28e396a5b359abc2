"""Whether what the last request left in its provider's cache is still there: pure functions of state.

Time is that of the state's last row, so a resume sees the pause before it. A cache lives from when it was
last read: that is when the request was sent, not when its reply came.
"""

from .state import State
from .store.cached import LIFETIME_US


def is_cold(state: State) -> bool:
    """Whether the history is read from no cache any more, so that changing it loses nothing.

    So it is after a pause of five minutes and for a model that was not asked before; not before the first
    request, when there is nothing to lose.
    """
    if state.prefix is None and not state.spoke.at:
        return False
    return _age_us(state) >= LIFETIME_US["5m"]


def is_frame_cold(state: State) -> bool:
    """The same of the first two layers, whose lifetime was planned."""
    prefix = state.prefix
    return prefix is None or _age_us(state) >= LIFETIME_US[prefix.cached.lifetime]


def expires_at(state: State) -> int | None:
    """When the history is cold, in microseconds since 1970 in UTC; None when nothing is cached."""
    return None if state.prefix is None else state.prefix.read_at + LIFETIME_US["5m"]


def _age_us(state: State) -> int:
    """Microseconds since the cache was last read; more than any lifetime when it is another model's."""
    prefix = state.prefix
    if prefix is None:  # a journal that does not tell of caches
        return state.at - state.spoke.at
    return LIFETIME_US["1h"] if prefix.cached.model != state.model else state.at - prefix.read_at
