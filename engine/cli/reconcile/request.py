"""What `offing reconcile` is asked."""

import argparse
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path

from ....namespaces.matching.rule import AccountRule
from ...errors import ConfigurationError
from ..conventions import Said, said_of

_MOST = Decimal(10) ** 12
"""More than any amount or number of days can be meant to be."""


@dataclass(frozen=True, slots=True)
class Request:
    """The files, how they are to be read, and how strictly they are compared."""

    bank: tuple[Path, ...]
    ledger: tuple[Path, ...]
    out: Path
    """Folder that the statement is written to."""
    period: str = ""
    """A month, or days from .. to; empty for the last full month of both sides."""
    pairs: tuple[str, ...] = ()
    """Each `BANK=LEDGER`."""
    carried: Path | None = None
    """The statement of the period before, as CSV; None where there is none."""
    rule: AccountRule = field(default_factory=AccountRule)
    said: Said = field(default_factory=lambda: Said(day_first=None, decimal=None, currency=None, columns={}))
    """How the files are to be read."""
    store: str | None = None
    """Where decisions about files are kept; None to keep none and use none."""
    company: str = ""
    preparer: str = ""
    json: bool = False
    """Whether the result is to be one JSON object instead of lines."""


def request_of(given: argparse.Namespace) -> Request:
    """The request that a command line makes.

    Raises:
        ConfigurationError: a number of it is none, or below 0.
    """
    rule = AccountRule(
        window_days=int(_number(given.window_days, "--window-days", whole=True)),
        tolerance=_number(given.tolerance, "--tolerance"),
        materiality=_number(given.materiality, "--materiality"),
    )
    return Request(
        bank=tuple(map(Path, given.bank)),
        ledger=tuple(map(Path, given.ledger)),
        out=Path(given.out),
        period=given.period,
        pairs=tuple(given.pair),
        carried=Path(given.carried) if given.carried else None,
        rule=rule,
        said=said_of(given),
        store=given.store,
        company=given.company,
        preparer=given.preparer,
        json=given.json,
    )


def _number(text: str, option: str, *, whole: bool = False) -> Decimal:
    kind = "a whole number, such as 5" if whole else "a number with a decimal point, such as 0.05"
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise ConfigurationError(f"{option} {text!r} is no number: give {kind}") from None
    if not number.is_finite() or number < 0 or (whole and number % 1) or number > _MOST:
        raise ConfigurationError(f"{option} {text!r} cannot be: give {kind}, and none below 0")
    return number
