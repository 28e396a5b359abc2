"""What `offing reconcile` is asked."""

import argparse
import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path

from ....namespaces.matching.rule import AccountRule
from ...configuration.kinds.files import FileSettings, files_of
from ...configuration.kinds.matching import MatchingSettings
from ...configuration.systems import BadSetting, Site
from ...errors import ConfigurationError
from ..command import completes_files
from ..ground import Ground
from ..work.conventions import Said, add_conventions, said_of

_NOTHING = Said(day_first=None, decimal=None, currency=None, columns={})
_OUT = "offing-statement"
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
    said: Said = field(default_factory=lambda: _NOTHING)
    """How the command line says that files are to be read."""
    bank_said: Said = field(default_factory=lambda: _NOTHING)
    """The same of statements, with what the configuration says of them."""
    ledger_said: Said = field(default_factory=lambda: _NOTHING)
    """The same of the books."""
    store: str | None = None
    """Where decisions about files are kept; None to keep none and use none."""
    tenant: str = "local"
    """Whose they are."""
    company: str = ""
    preparer: str = ""
    json: bool = False
    """Whether the result is to be one JSON object instead of lines."""


def add_arguments(asked: argparse.ArgumentParser) -> None:
    """Adds what a request is made of."""
    add = functools.partial(asked.add_argument, metavar="FILE")
    none: list[str] = []
    files = (
        add("--bank", nargs="+", default=none, action="extend", help="bank statements, of any format"),
        add("--ledger", nargs="+", default=none, action="extend", help="exports of the books"),
        add(
            "--carried", help="the statement of the period before, as CSV: its open items are carried forward"
        ),
        asked.add_argument(
            "--out", default=_OUT, metavar="FOLDER", help="folder for the statement (default: %(default)s)"
        ),
    )
    for each in files:
        completes_files(each)
    asked.add_argument(
        "--period",
        default="",
        metavar="PERIOD",
        help="2026-09, or 2026-09-01..2026-09-30; default: the last full month that both sides have",
    )
    asked.add_argument(
        "--pair",
        action="append",
        default=[],
        metavar="BANK=LEDGER",
        help="which account of the books is which bank account, where it is not plain",
    )
    _add_rule(asked)
    asked.add_argument(
        "--company", default="", metavar="NAME", help="whose accounts these are, for the statement"
    )
    asked.add_argument("--preparer", default="", metavar="NAME", help="who prepares the statement")
    asked.add_argument("--json", action="store_true", help="the result as one JSON object")
    add_conventions(asked)


def _add_rule(asked: argparse.ArgumentParser) -> None:
    add = asked.add_argument
    add("--window-days", metavar="DAYS", help="days that two dates may be apart (default: 5)")
    add("--tolerance", metavar="AMOUNT", help="by how much amounts may differ (default: 0)")
    add("--materiality", metavar="AMOUNT", help="items of less are summed only (default: 0)")


def request_of(given: argparse.Namespace, ground: Ground) -> Request:
    """The request that a command line makes, over the configuration where it says nothing.

    Raises:
        ConfigurationError: a number of it is none, or below 0, or a side has no files.
    """
    said, about = said_of(given), ground.configuration.settings.about
    matching = ground.configuration.systems.get("matching", MatchingSettings())
    configured = matching if isinstance(matching, MatchingSettings) else MatchingSettings()
    carried = given.carried or (configured.carried and str(ground.configuration.folder / configured.carried))
    return Request(
        bank=_files(given.bank, "bank", ground),
        ledger=_files(given.ledger, "ledger", ground),
        out=Path(given.out),
        period=given.period,
        pairs=tuple(given.pair),
        carried=Path(carried) if carried else None,
        rule=_rule(given, configured.default),
        said=said,
        bank_said=_said(said, "bank", ground),
        ledger_said=_said(said, "ledger", ground),
        store=ground.store,
        tenant=ground.tenant,
        company=given.company or about.company,
        preparer=given.preparer,
        json=given.json,
    )


def _files(given: Sequence[str], side: str, ground: Ground) -> tuple[Path, ...]:
    """Those of the command line, else the configuration's."""
    if given:
        return tuple(map(Path, given))
    settings = ground.configuration.systems.get(side)
    if not isinstance(settings, FileSettings):
        raise ConfigurationError(f"there is nothing to reconcile: name files with --{side}")
    try:
        return tuple(files_of(settings, Site(ground.configuration.folder)))
    except BadSetting as error:
        key = ("namespaces", side, *error.key)
        raise ground.configuration.source.unusable(key, str(error)) from None


def _said(said: Said, side: str, ground: Ground) -> Said:
    """How the files of one side are to be read: the command line's word counts first."""
    own = ground.configuration.systems.get(side)
    if not isinstance(own, FileSettings):
        return said
    return Said(
        day_first=own.day_first if said["day_first"] is None else said["day_first"],
        decimal=said["decimal"] or own.decimal,
        currency=said["currency"] or own.currency,
        columns=said["columns"] or own.columns,
    )


def _rule(given: argparse.Namespace, configured: AccountRule) -> AccountRule:
    rule = configured
    if given.window_days is not None:
        rule = replace(rule, window_days=int(_number(given.window_days, "--window-days", whole=True)))
    if given.tolerance is not None:
        rule = replace(rule, tolerance=_number(given.tolerance, "--tolerance"))
    if given.materiality is not None:
        rule = replace(rule, materiality=_number(given.materiality, "--materiality"))
    return rule


def _number(text: str, option: str, *, whole: bool = False) -> Decimal:
    kind = "a whole number, such as 5" if whole else "a number with a decimal point, such as 0.05"
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise ConfigurationError(f"{option} {text!r} is no number: give {kind}") from None
    if not number.is_finite() or number < 0 or (whole and number % 1) or number > _MOST:
        raise ConfigurationError(f"{option} {text!r} cannot be: give {kind}, and none below 0")
    return number
