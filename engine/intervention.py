"""When a run that is within its limits should be looked at by a person: one number, from three signs.

Each sign alone is no reason to stop. A run that goes in circles, has spent most of its money and says
itself that it is unsure is.
"""

from dataclasses import dataclass

LOOPS, COST, DOUBT = 0.4, 0.4, 0.2
"""What each sign weighs; together 1."""


@dataclass(frozen=True, slots=True)
class Concern:
    """The signs, each from 0 to 1; None where it is not known."""

    loops: float | None = None
    """How often in a row the same call failed the same way, as a share of how often it may."""
    cost: float | None = None
    """Money spent, as a share of what was granted."""
    doubt: float | None = None
    """1 less the confidence that the model stated with its newest task list."""

    @property
    def score(self) -> float:
        """From 0 to 1. What is not known counts 0; a sign that has reached its hard limit makes it 1.

        Doubt has no hard limit: a model may well be unsure.
        """
        if any(sign is not None and sign >= 1 for sign in (self.loops, self.cost)):
            return 1.0
        weighed = (LOOPS * (self.loops or 0), COST * (self.cost or 0), DOUBT * (self.doubt or 0))
        return round(sum(weighed), 6)

    @property
    def told(self) -> str:
        """The signs in words, those that are not known too."""
        signs = (
            ("the same call failing again", self.loops, LOOPS),
            ("cost", self.cost, COST),
            ("doubt", self.doubt, DOUBT),
        )
        return ", ".join(
            f"{name} unknown" if sign is None else f"{name} {sign:.0%} x {weight}"
            for name, sign, weight in signs
        )
