"""Writes the demo's files: the bank statements and the books of three entities for two months.

    cd tests && python -m demo_company.make

It writes the same bytes each time. Nothing here is used by the library or by what works out the expected
findings; all names are invented.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from demo_company import books, statements
from demo_company.books import Opened, Posted
from demo_company.germany import giro
from demo_company.limited import CHART, operating, receipts
from demo_company.movements import Account, Day, InBooks, Month
from demo_company.netherlands import current, dollar

FOLDER = Path(__file__).parents[2] / "engine" / "cli" / "demo" / "files"
_FIRST = {9: Day(2026, 9, 1), 10: Day(2026, 10, 1)}
_LAST = {9: Day(2026, 9, 30), 10: Day(2026, 10, 31)}
_BEGINS_AGAIN, _BREAKS_OFF = Day(2026, 9, 21), Day(2026, 9, 25)
"""The operating account's September comes in two files, and both have the days between these."""


def files() -> Mapping[str, bytes]:
    """Every file by its path under the demo's folder."""
    made: dict[str, bytes] = {}
    group = (operating(), receipts(), giro(), current(), dollar())
    for month in (9, 10):
        for name, content in (*_bank(group, month), *_books(group, month)):
            data = content if isinstance(content, bytes) else content.encode()
            made[f"2026-{month:02}/{name}"] = data
    return made


def _bank(group: Sequence[Account], month: int) -> Iterator[tuple[str, str]]:
    first, last = _FIRST[month], _LAST[month]
    one, two, three, four, five = group
    yield from _operating(one, month)
    yield "ltd_receipts.csv", statements.comma_separated(two.number, *_statement(two, month))
    yield "gmbh_giro.xml", statements.camt(three.number, *_statement(three, month), first, last)
    yield "bv_current.sta", statements.mt940(four.number, *_statement(four, month), first, last)
    yield "bv_dollar.bai", statements.bai2(five.number, *_statement(five, month), last)


def _operating(account: Account, month: int) -> Iterator[tuple[str, str]]:
    entries, opening = _statement(account, month)
    first, last = _FIRST[month], _LAST[month]
    closing = opening + sum(each.cents for each in entries)
    if month != 9:
        yield "ltd_operating.ofx", statements.ofx(account.number, entries, closing, first, last)
        return
    early = [each for each in entries if each.day <= _BREAKS_OFF]
    late = [each for each in entries if each.day >= _BEGINS_AGAIN]
    reached = opening + sum(each.cents for each in early)
    number = len(entries) - len(late) + 1
    yield "ltd_operating.ofx", statements.ofx(account.number, early, reached, first, _BREAKS_OFF)
    yield (
        "ltd_operating_late.ofx",
        statements.ofx(account.number, late, closing, _BEGINS_AGAIN, last, number),
    )


def _books(group: Sequence[Account], month: int) -> Iterator[tuple[str, str | bytes]]:
    first = _FIRST[month]
    limited, gmbh, company = group[:2], group[2:3], group[3:]
    opened, posted = _posted(limited, month)
    ledger = books.general_ledger("L", first, [*opened, *_chart(limited, month)], posted)
    yield "ltd_general_ledger.csv", ledger
    yield "gmbh.beancount", books.beancount("Harbour & Vale GmbH", first, *_posted(gmbh, month))
    title = f"Harbour & Vale BV, general ledger {first:%B %Y}"
    yield "bv_general_ledger.xlsx", books.workbook(title, "B", first, *_posted(company, month))


def _statement(account: Account, month: int) -> tuple[list[statements.AtBank], int]:
    opening = account.opening if month == 9 else account.bank_closing
    return statements.ordered(_month(account, month).bank), opening


def _posted(group: Sequence[Account], month: int) -> tuple[list[Opened], list[Posted]]:
    opened = [
        Opened(each.books, each.currency, each.opening if month == 9 else each.books_closing)
        for each in group
    ]
    lines: list[tuple[Account, InBooks]] = [(of, line) for of in group for line in _month(of, month).books]
    return opened, [Posted(of.books, of.currency, line) for of, line in lines]


def _chart(group: Sequence[Account], month: int) -> Iterator[Opened]:
    """The other accounts of the Ltd, with what they held before the month."""
    before = group if month != 9 else ()
    lines = [line for account in before for line in account.september.books]
    for name, cents in CHART.items():
        yield Opened(name, "GBP", cents - sum(line.cents for line in lines if line.contra == name))


def _month(account: Account, month: int) -> Month:
    return account.september if month == 9 else account.october


if __name__ == "__main__":
    for path, data in files().items():
        target = FOLDER / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
