"""What recurs over several closes is found and named, with its records."""

import datetime

import pytest

from matching_accounts import bank_account, day, ledger_account, line
from offing.namespaces.errors import NamespaceError
from offing.namespaces.matching.items import Group
from offing.namespaces.matching.recurring import Recurring, in_turn, months, recurring
from offing.namespaces.matching.rule import AccountRule
from offing.namespaces.tool import Record

BANK = [
    *(
        line(f"fee{n}", "-12.00", date, f"ACCOUNT FEE {n}")
        for n, date in enumerate(("07-31", "08-31", "09-30"))
    ),
    *(
        line(f"int{n}", amount, date, "INTEREST PAID GROSS TO DATE")
        for n, (amount, date) in enumerate([("41.87", "07-30"), ("39.02", "08-28"), ("44.10", "09-29")])
    ),
    line("once", "-99.00", "08-12", "OFFICE WORLD"),
    line("end", "1.00", "12-31", "last line"),
]
BOOKS = [
    # The fees of July and August were entered days into the next month.
    line("l1", "-12.00", "08-03", "Account fee July"),
    line("l2", "-12.00", "09-04", "Account fee August"),
    *(line(f"ret{n}", "-55.00", date, "Retainer Whitefield") for n, date in enumerate(("07-03", "08-21"))),
]


def found(
    bank: list[Record], books: list[Record], last: str = "09-30", least: int = 2
) -> tuple[Recurring, ...]:
    rule = AccountRule(window_days=2)
    done = in_turn(bank_account(bank), ledger_account(books), months(day("07-01"), day(last)), rule)
    return recurring(done, least)


def test_what_recurs_is_named_with_its_amounts_days_and_what_becomes_of_it() -> None:
    assert [each.name for each in found(BANK, BOOKS)] == [
        "interest: INTEREST PAID GROSS TO DATE around the 29th, 39.02 to 44.10 GBP, 3 of 3 closes, never in"
        " the books in these closes",
        "fee: ACCOUNT FEE around the 31st, -12.00 GBP, 3 of 3 closes, 2 of them in the books 3 to 4 days"
        " later",
        "missing at bank: Retainer Whitefield between the 3rd and the 21st, -55.00 GBP, 2 of 3 closes, never"
        " at the bank in these closes",
    ]


def test_each_pattern_has_the_records_it_is_made_of() -> None:
    interest, fee, retainer = found(BANK, BOOKS)
    assert (fee.group, fee.side, fee.later_days) == (Group.FEE, "bank", (3, 4))
    assert [each.id for each in fee.records] == ["fee0", "fee1", "fee2"]
    assert (interest.least.id, interest.most.id) == ("int1", "int2")
    assert (retainer.group, retainer.side) == (Group.MISSING_AT_BANK, "books")


def test_what_came_once_or_too_seldom_is_no_pattern() -> None:
    assert "once" not in {record.id for each in found(BANK, BOOKS) for record in each.records}
    assert [each.closes for each in found(BANK, BOOKS, least=3)] == [3, 3]


def test_twice_in_one_close_is_no_pattern_either() -> None:
    bank = [line(f"b{n}", "-7.00", f"09-{n:02}", "TOLL ROAD") for n in (10, 20)]
    assert found([*bank, BANK[-1]], []) == ()


def test_the_end_of_the_month_is_one_time_of_the_month() -> None:
    bank = [line("b1", "-7.00", "07-31", "TOLL ROAD"), line("b2", "-7.00", "09-01", "TOLL ROAD"), BANK[-1]]
    (pattern,) = found(bank, [])
    assert "TOLL ROAD around the end of the month, -7.00 GBP, 2 of 3 closes" in pattern.name


def test_months_are_whole_and_bounded() -> None:
    assert months(datetime.date(2025, 12, 20), datetime.date(2026, 2, 3)) == (
        (datetime.date(2025, 12, 1), datetime.date(2025, 12, 31)),
        (datetime.date(2026, 1, 1), datetime.date(2026, 1, 31)),
        (datetime.date(2026, 2, 1), datetime.date(2026, 2, 28)),
    )
    for start, end, count in (("09-01", "09-30", 1), ("09-01", "08-30", 0)):
        with pytest.raises(NamespaceError, match=f"there are {count} months: give 2 to 24"):
            months(day(start), day(end))
