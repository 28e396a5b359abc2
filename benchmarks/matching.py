"""What reconciling a busy account costs, and how much of it is right.

    python benchmarks/matching.py [--lines 10000] [--seed 7]

A quarter of an account is made up with as many lines at the bank as in the books (`matching_month.py`), and
reconciled. Printed are seconds of each strategy, of the whole reconciliation, peak memory, the ratio to
half as many lines, and what of the planted truth was found.

A proposal of one with one is right when both lines are planted one to one with that amount: which of
several equal ones goes with which is not judged, since nothing hangs on it. Any other match is right when
its lines are exactly the planted ones and its kind is theirs. *Precision* is the share of the proposals
that are right, *recall* the share of what was planted that was found.

Seconds are of one machine, the least of three; the exit status is 0 whatever comes out.
"""

import argparse
import datetime
import time
import tracemalloc
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from matching_month import DAYS, START, Planted, Quarter, quarter

from offing.namespaces.bank.accounts import Account as BankAccount
from offing.namespaces.bank.accounts import Movement
from offing.namespaces.bank.statement import Entry
from offing.namespaces.ledger.accounts import Account as LedgerAccount
from offing.namespaces.ledger.accounts import Posting
from offing.namespaces.ledger.books import Line
from offing.namespaces.matching.items import Group
from offing.namespaces.matching.match import Pool, Proposed, Strategy, match
from offing.namespaces.matching.reconciliation import Period, Reconciliation, reconcile
from offing.namespaces.matching.rule import AccountRule
from offing.namespaces.matching.strategies import STRATEGIES
from offing.namespaces.tool import Record

SECONDS, MEGABYTES, PRECISION = 10, 300, 0.99
"""Goals at 10,000 lines a side."""
RULE = AccountRule()
END = START + datetime.timedelta(DAYS - 1)
_GROUPS = {Group.DUPLICATE: "duplicate", Group.FEE: "fee", Group.INTEREST: "interest"}


class Score(NamedTuple):
    """Of one kind, how many were planted, proposed, and right."""

    planted: int
    proposed: int
    right: int

    @property
    def precision(self) -> float:
        """1 when nothing was proposed."""
        return self.right / self.proposed if self.proposed else 1.0

    @property
    def recall(self) -> float:
        """1 when nothing was planted."""
        return self.right / self.planted if self.planted else 1.0


def reconciled(made: Quarter) -> Reconciliation:
    """The whole quarter, from two accounts without balances."""
    movements = tuple(Movement(_entry(each), each) for each in made.bank)
    bank = BankAccount(
        label="bank", name="bank", currency="EUR", files=(), movements=movements, balances=(), gaps=()
    )
    postings = tuple(Posting(_line(each), each) for each in made.books)
    books = LedgerAccount(
        label="books", name="books", currency="EUR", postings=postings, opening=None, closing=None
    )
    return reconcile(bank, books, Period(START, END), RULE)


def _entry(record: Record) -> Entry:
    return Entry(record.id, _day(record), _amount(record), record.currency, 1)


def _line(record: Record) -> Line:
    return Line(_day(record), "books", _amount(record), record.currency, "made up", 1)


def _day(record: Record) -> datetime.date:
    return record.date or START


def _amount(record: Record) -> Decimal:
    return record.amount or Decimal(0)


def by_strategy(made: Quarter) -> Mapping[str, float]:
    """Seconds of each strategy, each over what the former left; of one that runs twice together."""
    taken: dict[str, float] = {}

    def timed(strategy: Strategy) -> Strategy:
        def run(pool: Pool, rule: AccountRule) -> Proposed:
            start = time.perf_counter()
            found = strategy(pool, rule)
            spent = time.perf_counter() - start
            taken[strategy.__name__] = taken.get(strategy.__name__, 0.0) + spent
            return found

        return run

    match(made.bank, made.books, RULE, [timed(each) for each in STRATEGIES])
    return taken


def scores(made: Quarter, done: Reconciliation) -> Mapping[str, Score]:
    """What was found, by kind."""
    truth = {_ids(each.bank, each.books): each.kind for each in made.truth}
    single = {one.id for each in made.truth for one in _paired(each)}
    planted = Counter(each.kind for each in made.truth if not each.kind.endswith(" only"))
    planted["one to one"] += planted["duplicate"]
    proposed, right = Counter[str](), Counter[str]()
    for each in (*done.matches, *done.from_before, *done.into_next):
        plain = each.kind in {"exact", "timing"}
        kind = "one to one" if plain else each.kind
        proposed[kind] += 1
        known = (
            {one.id for one in each.records} <= single
            if plain
            else truth.get(_ids(each.bank, each.books)) == kind
        )
        right[kind] += known
    for group, kind in _GROUPS.items():
        alone = [item for item in done.of(group) if item.match is None]
        proposed[kind] += len(alone)
        right[kind] += sum(_is(kind, item.record, made) for item in alone)
    return {kind: Score(planted[kind], proposed[kind], right[kind]) for kind in sorted(planted | proposed)}


def _paired(of: Planted) -> Sequence[Record]:
    """The records that may be matched one with one."""
    return (*of.bank, *of.books) if of.kind in {"one to one", "duplicate"} else ()


def _is(kind: str, record: Record, made: Quarter) -> bool:
    return any(record in (*each.bank, *each.books) for each in made.truth if each.kind == kind)


def _ids(bank: Sequence[Record], books: Sequence[Record]) -> frozenset[str]:
    return frozenset(each.id for each in (*bank, *books))


def seconds(made: Quarter) -> float:
    """The least of three."""
    taken: list[float] = []
    for _ in range(3):
        start = time.perf_counter()
        reconciled(made)
        taken.append(time.perf_counter() - start)
    return min(taken)


def megabytes(made: Quarter) -> float:
    """Peak of what reconciling takes beside the lines themselves, for the first time in this process."""
    tracemalloc.start()
    reconciled(made)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1_000_000


def main() -> None:
    """Measures, and prints three tables and which goals hold."""
    options = argparse.ArgumentParser(description="Seconds, memory and accuracy of matching.")
    options.add_argument("--lines", type=int, default=10_000, help="lines of each side")
    options.add_argument("--seed", type=int, default=7)
    chosen = options.parse_args()
    made, half = quarter(chosen.lines, chosen.seed), quarter(chosen.lines // 2, chosen.seed)
    print(f"{len(made.bank):,} lines at the bank, {len(made.books):,} in the books, {DAYS} days\n")
    peak = megabytes(made)
    for name, took in by_strategy(made).items():
        print(f"{name:22}{took:8.2f} s")
    whole, part = seconds(made), seconds(half)
    print(f"{'reconciled in':22}{whole:8.2f} s")
    print(f"{'half of the lines in':22}{part:8.2f} s, ratio {whole / part:.2f}")
    print(f"{'peak memory':22}{peak:8.0f} MB\n")
    found = scores(made, reconciled(made))
    print(f"{'kind':14}{'planted':>9}{'proposed':>10}{'right':>8}{'precision':>11}{'recall':>8}")
    total = Score(*(sum(column) for column in zip(*found.values(), strict=True)))
    for kind, score in {**found, "all": total}.items():
        print(
            f"{kind:14}{score.planted:>9,}{score.proposed:>10,}{score.right:>8,}"
            f"{score.precision:>11.4f}{score.recall:>8.4f}"
        )
    print(f"\nunder {SECONDS} s: {_holds(whole < SECONDS)}")
    print(f"under {MEGABYTES} MB: {_holds(peak < MEGABYTES)}")
    print(f"precision of {PRECISION}: {_holds(total.precision >= PRECISION)}")


def _holds(goal: bool) -> str:  # noqa: FBT001  the one thing it is told
    return "holds" if goal else "does not hold"


if __name__ == "__main__":
    main()
