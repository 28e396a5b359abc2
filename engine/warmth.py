"""Whether the provider's cache still holds what the newest request sent."""

from .state import State

LIFETIME_US = 5 * 60 * 1_000_000
"""How long it is kept after it was last read or written, for the markers that are sent."""


def is_cold(state: State) -> bool:
    """Whether the next request will find nothing in the cache, as far as time tells. Pure."""
    return bool(state.spoke.at) and state.at - state.spoke.at >= LIFETIME_US
