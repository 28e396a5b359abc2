"""Which of what was said of all files one file needs, so that it is kept for that one alone."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from .decision import Decision
from .source import Conventions, UndecidedError

_CHANGES: tuple[Literal["columns", "currency"], ...] = ("columns", "currency")
"""What may change how a file is read that can be read without it."""


def needed_by(read: Callable[[Conventions], object], said: Conventions, kept: Decision) -> Decision | None:
    """What is kept for a file and what it needs besides; None when that is nothing.

    Args:
        read: Reads the file; what it gives is compared.
        said: Of all files, now; it counts before what is kept.
        kept: For this one, before; what is not said anew stays.

    Raises:
        SourceError: it cannot be read with what was said.
    """
    whole = _without(kept, said)
    while True:
        try:
            found = read(whole.over(Conventions()))
            break
        except UndecidedError as error:
            more = _only(said, error.argument).after(whole)
            if more == whole:
                raise
            whole = more
    for argument in _CHANGES:
        more = _only(said, argument)
        if argument not in whole.given and more.given:
            with_it = more.after(whole)
            other = read(with_it.over(Conventions()))
            if other != found:
                whole, found = with_it, other
    whole = replace(whole.after(kept), on=kept.on)
    return None if whole == kept else whole


def _without(kept: Decision, said: Conventions) -> Decision:
    """What is kept of what was not said anew."""
    return Decision(
        kept.day_first if said.day_first is None else None,
        None if said.decimal else kept.decimal,
        None if said.currency else kept.currency,
        {role: name for role, name in kept.columns.items() if role not in said.columns},
    )


def _only(said: Conventions, argument: str) -> Decision:
    match argument:
        case "day_first":
            return Decision(day_first=said.day_first)
        case "decimal":
            return Decision(decimal=said.decimal)
        case "currency":
            return Decision(currency=said.currency)
        case _:
            return Decision(columns=said.columns)
