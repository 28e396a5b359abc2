"""Which records are the same movement: by example, and by what holds for all of them."""

import datetime
from collections.abc import Sequence
from decimal import Decimal
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offing.namespaces.matching.match import Outcome, match
from offing.namespaces.matching.rule import AccountRule
from offing.namespaces.matching.strategies import STRATEGIES
from offing.namespaces.records import amount_of
from offing.namespaces.tool import Record


def record(
    name: str, amount: str | None, day: int | None, text: str = "", currency: str | None = "GBP"
) -> Record:
    date = None if day is None else datetime.date(2026, 9, day)
    return Record(name, None if amount is None else Decimal(amount), currency, date, text)


def matched(bank: Sequence[Record], books: Sequence[Record], rule: AccountRule | None = None) -> Outcome:
    return match(bank, books, rule or AccountRule(), STRATEGIES)


def pairs(outcome: Outcome) -> dict[str, str]:
    return {
        " ".join(one.id for one in each.bank): f"{' '.join(one.id for one in each.books)} {each.kind}"
        for each in outcome.matches
    }


def test_same_amount_and_day_is_exact_and_another_day_is_timing() -> None:
    bank = [record("b1", "10.00", 1), record("b2", "20.00", 5), record("b3", "30.00", 9)]
    books = [record("l1", "10.00", 1), record("l2", "20.00", 3), record("l3", "30.00", 12)]
    done = matched(bank, books)
    assert pairs(done) == {"b1": "l1 exact", "b2": "l2 timing", "b3": "l3 timing"}
    assert [each.days for each in done.matches] == [0, 2, -3]


def test_the_window_ends_on_its_last_day() -> None:
    bank, books = [record("b", "10.00", 9)], [record("l", "10.00", 4)]
    assert pairs(matched(bank, books, AccountRule(window_days=5))) == {"b": "l timing"}
    assert pairs(matched(bank, books, AccountRule(window_days=4))) == {}


def test_equal_amounts_of_a_day_go_one_to_one_and_the_surplus_is_left() -> None:
    bank = [record(f"b{n}", "75.00", 11, f"JOB 331{n}") for n in (1, 2)]
    books = [record(f"l{n}", "75.00", 11, f"Courier job 331{n}") for n in (3, 2, 1)]
    done = matched(bank, books, AccountRule(window_days=0))
    assert pairs(done) == {"b1": "l1 exact", "b2": "l2 exact"}
    assert [each.id for each in done.books_only] == ["l3"]


def test_a_shared_reference_goes_before_the_day() -> None:
    bank = [record("b", "-100.00", 5, "CHEQUE 001043")]
    books = [
        record("l1", "-100.00", 3, "Chq 1043"),
        record("l2", "-100.00", 5, "Chq 1044"),
    ]
    (found,) = matched(bank, books).matches
    assert (found.books[0].id, found.reason) == ("l1", "both have the reference 1043")
    assert found.alternatives == ("l2",)


def test_a_reference_that_many_have_says_nothing() -> None:
    bank = [record("b", "-100.00", 5, "Customer 55123")]
    books = [record("l1", "-100.00", 3, "55123"), record("l2", "-100.00", 4, "55123")]
    assert pairs(matched(bank, books)) == {"b": "l2 timing"}


def test_currencies_never_mix() -> None:
    bank = [record("b1", "10.00", 1, currency="EUR"), record("b2", "5.00", 1, currency=None)]
    books = [record("l1", "10.00", 1), record("l2", "5.00", 1, currency=None)]
    assert pairs(matched(bank, books, AccountRule(5, Decimal(1)))) == {"b2": "l2 exact"}


def test_amounts_differ_only_within_a_tolerance_that_was_given() -> None:
    bank = [record("b1", "100.00", 1), record("b2", "-50.00", 1)]
    books = [record("l1", "100.02", 1), record("l2", "50.00", 1)]
    assert pairs(matched(bank, books)) == {}
    done = matched(bank, books, AccountRule(tolerance=Decimal("0.02")))
    assert pairs(done) == {"b1": "l1 near"}
    assert done.matches[0].difference == Decimal("-0.02")


def test_a_record_without_amount_or_day_stays_unmatched() -> None:
    done = matched([record("b", None, 1)], [record("l", "1.00", None)])
    assert (done.bank_only[0].id, done.books_only[0].id) == ("b", "l")


def test_a_record_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="same id"):
        matched([record("b", "1.00", 1), record("b", "1.00", 1)], [])


@pytest.mark.parametrize(("spread", "found"), [(1, 3000), (20, 2850)])
def test_thousands_of_equal_amounts_are_matched(spread: int, found: int) -> None:
    bank = [record(f"b{n}", "10.00", 1 + n % spread) for n in range(3000)]
    books = [record(f"l{n}", "10.00", 2 + n % spread) for n in range(3000)]
    assert len(matched(bank, books).matches) == found


def sides(side: str) -> st.SearchStrategy[list[Record]]:
    one = st.builds(
        record,
        st.just(""),
        st.sampled_from(["1.00", "1.01", "2.00", "-1.00", "1"]) | st.none(),
        st.integers(1, 12) | st.none(),
        st.sampled_from(["", "inv 1001", "inv 1002", "rent"]),
        st.sampled_from(["GBP", "EUR", None]),
    )
    return st.lists(one, max_size=12).map(
        lambda found: [
            Record(f"{side}{n}", each.amount, each.currency, each.date, each.text)
            for n, each in enumerate(found)
        ]
    )


RULES = st.builds(AccountRule, st.integers(0, 6), st.sampled_from([Decimal(0), Decimal("0.01")]))


@given(sides("b"), sides("l"), RULES, st.randoms())
def test_what_holds_for_every_matching(
    bank: list[Record],
    books: list[Record],
    rule: AccountRule,
    random: Random,
) -> None:
    done = matched(bank, books, rule)

    from_bank = [*(one for each in done.matches for one in each.bank), *done.bank_only]
    from_books = [*(one for each in done.matches for one in each.books), *done.books_only]
    assert sorted(each.id for each in from_bank) == sorted(each.id for each in bank)
    assert sorted(each.id for each in from_books) == sorted(each.id for each in books)

    for each in done.matches:
        assert len({one.currency for one in each.records}) == 1
        assert abs(each.days) <= rule.window_days
        if each.kind in {"exact", "timing", "batched", "split", "cancelled"}:
            assert each.difference == 0
        if each.kind == "near":
            assert abs(each.difference) <= rule.tolerance

    assert done.difference == amount_of(bank) - amount_of(books)

    random.shuffle(bank)
    random.shuffle(books)
    assert matched(bank, books, rule) == done
