"""What a person decided about a file that leaves something open, and how it is kept."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from .source import Conventions


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided; the fields are those of `Conventions`."""

    day_first: bool | None = None
    decimal: Literal[".", ","] | None = None
    currency: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    on: datetime.date | None = None
    """The day it was decided on; None before it is kept."""

    @property
    def given(self) -> frozenset[str]:
        """Names of the fields that it decides."""
        names = ("day_first", "decimal", "currency", "columns")
        return frozenset(name for name in names if getattr(self, name) not in (None, {}))

    def to_json(self) -> str:
        """As it is kept."""
        return _DECISION.dump_json(self).decode()

    def over(self, conventions: Conventions) -> Conventions:
        """The conventions with what was decided in place of what they say."""
        return replace(
            conventions,
            day_first=conventions.day_first if self.day_first is None else self.day_first,
            decimal=self.decimal or conventions.decimal,
            currency=self.currency or conventions.currency,
            columns=self.columns or conventions.columns,
        )

    def after(self, other: "Decision") -> "Decision":
        """This decision with what an earlier one says besides."""
        return Decision(
            other.day_first if self.day_first is None else self.day_first,
            self.decimal or other.decimal,
            self.currency or other.currency,
            {**other.columns, **self.columns},
            self.on,
        )


_DECISION = TypeAdapter(Decision)


def decision_in(kept: str | None) -> Decision | None:
    """A kept decision; None when nothing is kept, or nothing that this release can read."""
    if kept is None:
        return None
    try:
        return _DECISION.validate_json(kept)
    except ValidationError:
        return None
