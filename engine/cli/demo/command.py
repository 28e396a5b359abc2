"""`offing demo`: works one month of the bundled files and writes the report and the statement."""

from pathlib import Path

from ...errors import ConfigurationError
from ..commands import ExitCode, begin
from ..delivered import write_files
from ..screen import Screen
from ..systems import DEMO_MODEL, Systems
from . import ACCOUNTS, MONTHS, DemoMonth

_REQUEST = (
    "Reconcile all five accounts for {title}, each by itself: what ties, what does not, and why? Make the"
    " reconciliation statement, and post the entry for what the bank took and gave and the books of"
    " Harbour & Vale Ltd lack. Report what each account comes to."
)


async def investigate(month: str, model: str, out: Path, store: str, screen: Screen) -> ExitCode:
    """Runs the reference investigation of one month.

    Raises:
        ConfigurationError: the month before has no statement in `out`, or there is no such model.
        OffingError: the run cannot begin, or the store failed.
    """
    worked = MONTHS[month]
    systems = _systems(worked, model, out)
    if model != DEMO_MODEL:
        screen.line(f"{model} does the work, and its provider bills for it")
    code = await begin(systems, _REQUEST.format(title=worked.title), store, screen)
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
