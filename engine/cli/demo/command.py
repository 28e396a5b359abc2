"""`offing demo`: works one month of the bundled files and writes the report and the statement."""

import argparse
from collections.abc import Awaitable
from pathlib import Path

from ...budget import Budget
from ...errors import ConfigurationError
from ..command import Command, completes_files
from ..exits import ExitCode
from ..ground import Ground
from ..work.delivered import write_files
from ..work.systems import DEMO_MODEL, Systems
from ..work.watching import OnScreen
from ..work.working import begin
from . import ACCOUNTS, MONTHS, DemoMonth

_REQUEST = (
    "Reconcile all five accounts for {title}, one after another: what ties, what does not, and why? Make the"
    " reconciliation statement, and post the entry for what the bank took and gave and the books of"
    " Harbour & Vale Ltd lack. Report what each account comes to."
)


async def investigate(month: str, model: str, out: Path, ground: Ground) -> ExitCode:
    """Runs the reference investigation of one month.

    Raises:
        ConfigurationError: the month before has no statement in `out`, or there is no such model.
        OffingError: the run cannot begin, or the store failed.
    """
    worked, screen = MONTHS[month], ground.screen
    systems = _systems(worked, model, out)
    if model != DEMO_MODEL:
        screen.line(f"{model} does the work, and its provider bills for it")
    code = await begin(systems, _REQUEST.format(title=worked.title), ground, OnScreen(ground), Budget())
    if model == DEMO_MODEL:
        screen.line("a playbook stood in for a model; --model NAME uses one, which its provider bills for")
    for later in MONTHS.values():
        if code == 0 and later.before == month:
            screen.line(f"carry forward what is open: offing demo --month {later.name}")
    return code


def _systems(month: DemoMonth, model: str, out: Path) -> Systems:
    carried = _carried(month, out)
    return Systems(
        model=model,
        bank=tuple(map(str, month.bank)),
        ledger=_own_books(month, out),
        company="Harbour & Vale",
        entities=tuple(
            f"{each.entity}: {each.title} {each.bank}, in the books {each.ledger!r}" for each in ACCOUNTS
        ),
        period=month.title,
        skills=("period-end-reconciliation",),
        month=month.name,
        carried=carried,
        out=str(out.absolute()),
    )


def _own_books(month: DemoMonth, out: Path) -> tuple[str, ...]:
    """Copies of the month's books, fresh ones each time: an entry is posted to them once it is approved.

    Raises:
        ConfigurationError: the folder cannot be written to.
    """
    books = {path.name: path.read_bytes() for path in month.ledger}
    return tuple(str(path.absolute()) for path in write_files(books, out / f"books-{month.name}"))


def _carried(month: DemoMonth, out: Path) -> str:
    """The statement that the month begins with."""
    if month.before is None:
        return ""
    statement = out / f"statement-{month.before}.csv"
    if not statement.is_file():
        raise ConfigurationError(
            f"{month.name} carries forward what {month.before} left open, and {str(statement)!r} is not"
            f" there: run `offing demo --month {month.before} --out {out}` first"
        )
    return str(statement.absolute())


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--month",
        choices=tuple(MONTHS),
        default=next(iter(MONTHS)),
        help="the second one carries the first one's open items forward (default: %(default)s)",
    )
    out = made.add_argument(
        "--out",
        default="offing-demo",
        metavar="FOLDER",
        help="folder for what is written (default: %(default)s)",
    )
    completes_files(out)
    made.add_argument(
        "--model",
        default=DEMO_MODEL,
        help="a real model, which its provider bills, instead of the playbook; a key alone changes nothing",
    )


def _work(given: argparse.Namespace, ground: Ground) -> Awaitable[ExitCode]:
    return investigate(given.month, given.model, Path(given.out), ground)


DEMO = Command(
    "demo",
    "the reference investigation: five bundled accounts of three companies, offline",
    _arguments,
    _work,
    "Reconciles five bundled accounts of three companies, one after another, without a key and without the"
    " network, and writes a report and a reconciliation statement.",
)
