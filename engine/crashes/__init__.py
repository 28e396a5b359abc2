"""What survives a kill: a scenario over your own tools, killed at each point of its way and gone on with.

`sweep` is the whole of it; a scenario says how to work and how to see what was done.
"""

from .report import Killed, Report
from .scenario import Deed, EngineScenario, Place, Scenario, approve_all
from .sweep import Sample, sweep

__all__ = [
    "Deed",
    "EngineScenario",
    "Killed",
    "Place",
    "Report",
    "Sample",
    "Scenario",
    "approve_all",
    "sweep",
]
