"""How much a model is to think, where it does not decide that by itself.

"What cleared on the 14th?" is worth little thought, "what keeps recurring over the last three closes?"
much. Models with adaptive thinking weigh that themselves, turn by turn. For the others it is done here,
by what the run has shown so far: every run begins as a lookup, and rises with each sign that it is none.

Pure over state, and never lowered inside a run: each rule reads a quantity that only grows, and the
highest of the rules holds.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from .models.catalog import info_of
from .models.model import EFFORTS, Effort, Model, SaysHowItThinks, Thinking, clamp
from .run_state import RunState
from .state import State


@dataclass(frozen=True, slots=True)
class Rule:
    """One sign of difficulty, and from which values on it asks for how much."""

    why: str
    measure: Callable[[RunState], float]
    medium: float
    high: float
    xhigh: float | None = None
    """None where the sign alone never asks for so much. "max" is the host's to choose, never ours."""

    def effort(self, run: RunState) -> Effort:
        """What this sign asks for."""
        value = self.measure(run)
        if self.xhigh is not None and value >= self.xhigh:
            return "xhigh"
        if value >= self.high:
            return "high"
        return "medium" if value >= self.medium else "low"


RULES: tuple[Rule, ...] = (
    Rule("a lookup is two or three replies, the answer included", lambda run: run.iterations, 3, 10, 40),
    Rule("a lookup reads one or two things", lambda run: len(run.signs.operations), 4, 8),
    Rule("comparing systems is no lookup", lambda run: run.signs.systems, 2, 4),
    Rule("a failed call has to be understood", lambda run: run.signs.failed, 1, 4, 10),
    Rule("a reply that could not be used has to be made better", lambda run: run.signs.unfit, 1, 2, 3),
    Rule("who plans so many steps has a way to go", lambda run: run.signs.tasks, 3, 6),
    Rule("the model itself says that it is not sure", lambda run: run.signs.doubt, 0.4, 0.7),
    Rule("several files are there to be brought together", lambda run: len(run.began.files), 2, 5),
)
"""The length of a request is not among them: it says little of how hard it is."""


def effort_for(state: State) -> Effort:
    """How much thought the next reply of the current run is worth."""
    run = state.current
    asked: list[Effort] = [rule.effort(run) for rule in RULES]
    return max(asked, key=EFFORTS.index)


def thinking_of(model: Model) -> Thinking:
    """How a model thinks: as it says itself, else as the catalog knows it."""
    if isinstance(model, SaysHowItThinks):
        return model.thinking
    info = info_of(model.name)
    return Thinking(info.adaptive_thinking, info.efforts)


@dataclass(frozen=True, slots=True)
class EffortChoice:
    """Who decides the effort of a run's model calls."""

    fixed: Effort | None = None
    """The host's choice; None for none."""
    thinking: Thinking = field(default_factory=Thinking)
    """The model's."""

    def of(self, state: State) -> Effort | None:
        """The effort of the next request: the host's, else the model's own judgement, else the policy's.

        None leaves it to the model. So it does for one of which no effort is known: to send it one
        might make it refuse every request.
        """
        if self.fixed is not None:
            return self.fixed
        if self.thinking.adaptive:
            return None
        return clamp(effort_for(state), self.thinking.efforts)
