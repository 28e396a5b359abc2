"""Questions with one right answer each, over bundled files, to judge a model by.

The companies and people in the files are invented.
"""

from . import cleared, difference, not_there, outstanding, paid_twice, takings
from .scenario import Scenario

__all__ = ["SCENARIOS", "Scenario"]

SCENARIOS: tuple[Scenario, ...] = (
    cleared.SCENARIO,
    takings.SCENARIO,
    outstanding.SCENARIO,
    difference.SCENARIO,
    not_there.SCENARIO,
    paid_twice.SCENARIO,
)
"""From the plainest to the most demanding."""
