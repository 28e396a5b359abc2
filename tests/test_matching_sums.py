"""Sums: a batch, a split, and amounts that add up by chance."""

from collections import Counter
from decimal import Decimal
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matching_accounts import line, matched, named
from offing.namespaces.matching.rule import AccountRule, SubsetBounds
from offing.namespaces.matching.strategies.subset_sum import MOST_WAYS, count_of_sums, ways_to
from offing.namespaces.matching.strategies.swapped_digits import swaps
from offing.namespaces.tool import Record


def kinds(bank: list[Record], books: list[Record], rule: AccountRule | None = None) -> list[str]:
    return [named(each) for each in matched(bank, books, rule).matches]


def test_a_deposit_is_the_receipts_of_its_slip() -> None:
    bank = [line("b", "1240.17", "09-15", "DEPOSIT SLIP 40127")]
    books = [
        line("l1", "400.00", "09-14", "Receipt Smith, slip 40127"),
        line("l2", "420.00", "09-14", "Receipt Jones, slip 40127"),
        line("l3", "420.17", "09-14", "Receipt Brown, slip 40127"),
        line("l4", "99.50", "09-14", "Receipt Green, slip 40128"),
    ]
    (found,) = matched(bank, books).matches
    assert named(found) == "b = l1 + l2 + l3, batched"
    assert found.evidence == (
        "none of the group is left out",
        "both sides say 40127",
        "3 records add up to 1240.17",
        "dates 1 day apart",
        "same reference 40127",
        "both texts say slip",
    )


def test_all_receipts_of_a_day_are_a_deposit_where_nothing_else_is_left() -> None:
    bank = [line("b", "1240.17", "09-15", "CASH AND CHEQUES")]
    books = [
        line("l1", "400.00", "09-14", "Smith"),
        line("l2", "420.00", "09-14", "Jones"),
        line("l3", "420.17", "09-14", "Brown"),
    ]
    assert kinds(bank, books) == ["b = l1 + l2 + l3, batched"]


def test_an_invoice_paid_in_parts_is_a_split() -> None:
    bank = [
        line("b1", "-1000.00", "09-14", "PEMBERTON SAWMILLS"),
        line("b2", "-3455.90", "09-16", "PEMBERTON SAWMILLS"),
        line("b3", "-120.00", "09-16", "HULL COURIERS"),
    ]
    books = [line("l", "-4455.90", "09-14", "Pemberton Sawmills INV 7752")]
    (found,) = matched(bank, books).matches
    assert named(found) == "b1 + b2 = l, split"
    assert found.evidence[:2] == (
        "the only way among 2 records of the same party or reference",
        "2 records add up to -4455.90",
    )


def test_some_invoices_of_one_party_are_paid_together() -> None:
    bank = [line("b", "9731.42", "09-15", "BALTIC TIMBER AS REMITTANCE")]
    books = [
        line("l1", "3120.17", "09-11", "Baltic Timber INV 4471"),
        line("l2", "6611.25", "09-14", "Baltic Timber INV 4482"),
        line("l3", "2875.40", "09-14", "Baltic Timber INV 4490"),
    ]
    assert kinds(bank, books) == ["b = l1 + l2, batched"]


def test_receipts_of_other_parties_that_add_up_by_chance_are_left() -> None:
    # 300.00 + 450.00 and 250.00 + 500.00: with round amounts there is always some sum.
    bank = [line("b", "750.00", "09-15", "OAK AND IVY DESIGN")]
    books = [
        line(f"l{n}", amount, f"09-{11 + n}", text)
        for n, (amount, text) in enumerate(
            [
                ("300.00", "Meridian Joinery"),
                ("450.00", "Kestrel Power"),
                ("250.00", "Hull Couriers"),
                ("500.00", "Leasewell"),
                ("125.00", "Dockside Waste"),
            ]
        )
    ]
    assert kinds(bank, books) == []


def test_the_only_sum_of_round_amounts_is_told_and_not_taken() -> None:
    bank = [line("b", "600.00", "09-15", "OAK AND IVY DESIGN")]
    amounts = ("100.00", "200.00", "300.00", "45.00")
    books = [line(f"l{n}", each, "09-14", f"Party {'abcd'[n]}xy") for n, each in enumerate(amounts)]
    done = matched(bank, books)
    assert done.matches == ()
    assert done.findings == (
        "600.00 of 2026-09-15 (b) is the sum of l0, l1, l2, as round amounts are of some of 4 by chance, so"
        " it is left open",
    )
    assert kinds(bank, books[:3]) == ["b = l0 + l1 + l2, batched"]


def test_two_sums_that_want_the_same_record_are_both_left_open() -> None:
    bank = [line("b1", "80000.01", "09-14", "CASH"), line("b2", "90000.04", "09-14", "CASH")]
    books = [
        line("l1", "30000.00", "09-14", "Ash"),
        line("l2", "50000.01", "09-14", "Birch"),
        line("l3", "40000.03", "09-14", "Cedar"),
        line("l4", "123.45", "09-14", "Elm"),
    ]
    done = matched(bank, books)
    assert done.matches == ()
    assert done.findings == (
        "80000.01 of 2026-09-14 (b1) is the sum of l1, l2, and another amount is a sum of some of them too,"
        " so it is left open",
        "90000.04 of 2026-09-14 (b2) is the sum of l2, l3, and another amount is a sum of some of them too,"
        " so it is left open",
    )


def test_one_sum_of_many_candidates_shows_nothing() -> None:
    # 17.00 + 13.07 n: the amounts of n = 3, 8 and 9 add up to 312.40, as those of many other threes do.
    books = [
        line(f"l{n}", str(17 + n * Decimal("13.07")), "09-14", f"Party {chr(97 + n)}xy") for n in range(26)
    ]
    bank = [line("b", "312.40", "09-15", "CASH")]
    assert sum(Decimal(17) + n * Decimal("13.07") for n in (3, 8, 9)) == Decimal("312.40")
    assert kinds(bank, books) == []


def test_two_ways_that_nothing_tells_apart_are_left_open_and_told() -> None:
    bank = [line("b", "80000.01", "09-14", "CASH")]
    books = [
        line("l1", "30000.00", "09-14", "Ash"),
        line("l2", "50000.01", "09-14", "Birch"),
        line("l3", "30000.01", "09-14", "Cedar"),
        line("l4", "50000.00", "09-14", "Dogwood"),
        line("l5", "123.45", "09-14", "Elm"),
    ]
    done = matched(bank, books)
    assert done.matches == ()
    assert done.findings == (
        "80000.01 of 2026-09-14 (b) is the sum of other records in 2 ways and nothing tells them apart, so it"
        " is left open: l1, l2; l3, l4",
    )


def test_two_ways_of_one_party_are_proposed_and_marked() -> None:
    bank = [line("b", "80000.01", "09-14", "BALTIC TIMBER")]
    books = [
        line("l1", "30000.00", "09-14", "Baltic Timber"),
        line("l2", "50000.01", "09-14", "Baltic Timber"),
        line("l3", "30000.01", "09-12", "Baltic Timber"),
        line("l4", "50000.00", "09-12", "Baltic Timber"),
    ]
    (found,) = matched(bank, books).matches
    assert (named(found), found.ambiguous) == ("b = l1 + l2, batched", True)
    assert found.alternatives == ("l3", "l4")
    assert "2 groups fit, this one is the nearest" in found.evidence


def test_which_of_equal_amounts_it_is_makes_nothing_ambiguous() -> None:
    bank = [line("b", "80000.01", "09-14", "BALTIC TIMBER")]
    books = [
        line("l1", "30000.00", "09-14", "Baltic Timber"),
        line("l2", "50000.01", "09-13", "Baltic Timber"),
        line("l3", "30000.00", "09-12", "Baltic Timber"),
    ]
    (found,) = matched(bank, books).matches
    assert (named(found), found.ambiguous) == ("b = l2 + l1, batched", False)
    assert found.alternatives == ("l3",)


def test_a_bound_that_is_reached_is_told() -> None:
    books = [line(f"l{n:02}", f"{1000 + n * n}.00", f"09-{10 + n % 9}", "Baltic Timber") for n in range(85)]
    bank = [line("b", "999999.99", "09-14", "BALTIC TIMBER")]
    done = matched(bank, books)
    assert done.matches == ()
    assert done.findings == (
        "for 999999.99 of 2026-09-14 (b) there were 85 candidates for a sum, 40 were looked at: give a window"
        " of less than 5 days",
    )


def test_a_search_that_runs_out_of_steps_tells_how_far_it_came() -> None:
    books = [line(f"l{n:02}", f"{10000 + n * n}.01", "09-14", "Baltic Timber") for n in range(16)]
    bank = [line("b", "99999.99", "09-14", "BALTIC TIMBER")]
    (finding,) = matched(bank, books, AccountRule(subset=SubsetBounds(steps=100))).findings
    assert finding.startswith(
        "for 99999.99 of 2026-09-14 (b) sums of up to 2 of 16 records were looked through"
    )


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_found_among_lines_that_have_nothing_to_do_with_each_other(seed: int) -> None:
    random = Random(seed)

    def lines(side: str, parties: str) -> list[Record]:
        return [
            line(
                f"{side}{n}",
                str(Decimal(random.randrange(500, 200_000) // step * step).scaleb(-2)),
                f"09-{random.randrange(1, 31):02}",
                f"{random.choice(parties)}xy Trading {side}{random.randrange(10_000, 99_999)}",
            )
            for n, step in enumerate([1, 1, 500] * 100)
        ]

    found = matched(lines("b", "ABCDEFGH"), lines("l", "pqrstuvw")).matches
    # Each bank line has some 110 others within the window: so 4 in 10,000 is what chance gives.
    assert [named(each) for each in found] == []


def test_an_amount_of_nothing_is_in_no_sum() -> None:
    bank = [line("b", "0.00", "09-14", "Amber"), line("b2", "10.17", "09-14", "Amber")]
    books = [
        line("l1", "0.00", "09-14", "Oak"),
        line("l2", "0.00", "09-14", "Oak"),
        line("l3", "10.17", "09-14", ""),
    ]
    assert kinds(bank, books) == ["b2 = l3, exact"]


def test_an_amount_that_no_account_has_is_left_alone() -> None:
    done = matched(
        [line("b", "1E+900000", "09-14"), line("b2", "NaN", "09-14")], [line("l", "1E+900000", "09-14")]
    )
    assert (done.matches, [each.id for each in done.bank_only]) == ((), ["b", "b2"])


VALUES = st.lists(st.integers(1, 30), min_size=2, max_size=9)


@given(VALUES, st.integers(1, 60), st.integers(1, 5))
def test_every_sum_there_is_is_found(values: list[int], target: int, most: int) -> None:
    right = [
        found
        for size in range(1, most + 1)
        for found in combinations(range(len(values)), size)
        if sum(values[index] for index in found) == target
    ]
    ways = ways_to(target, values, most, steps=100_000)
    assert ways.reached == most
    found = [tuple(sorted(each)) for each in ways.found]
    assert len(found) == min(len(right), MOST_WAYS)
    assert Counter(found) <= Counter(right)
    sizes = [len(each) for each in ways.found]
    assert sizes == sorted(sizes) == sorted(map(len, right))[: len(sizes)]


@given(VALUES, st.integers(1, 60), st.integers(0, 40))
def test_what_a_cut_search_says_it_has_seen_it_has_seen(values: list[int], target: int, steps: int) -> None:
    ways = ways_to(target, values, 4, steps)
    whole = ways_to(target, values, ways.reached, 100_000)
    assert (ways.found, ways.reached) == (whole.found, whole.reached)


@given(st.integers(0, 12), st.integers(0, 5))
def test_sums_are_counted_as_they_are_made(numbers: int, most: int) -> None:
    assert count_of_sums(numbers, most) == sum(
        len(list(combinations(range(numbers), size))) for size in range(2, most + 1)
    )


@given(st.integers(-10_000_000, 10_000_000))
def test_swapping_digits_changes_an_amount_by_a_multiple_of_nine(amount: int) -> None:
    for swapped in swaps(amount):
        assert (swapped - amount) % 9 == 0
        assert amount in set(swaps(swapped))
        assert Counter(str(swapped)) == Counter(str(amount))
