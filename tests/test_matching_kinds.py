"""Each kind of match by example: what is found, why, and what only looks like it."""

from decimal import Decimal

import pytest

from matching_accounts import line, matched, named
from offing.namespaces.matching.rule import AccountRule
from offing.namespaces.tool import Record


def kinds(bank: list[Record], books: list[Record], rule: AccountRule | None = None) -> list[str]:
    return [named(each) for each in matched(bank, books, rule).matches]


def test_a_match_lists_what_speaks_for_it_and_what_else_would_have_fitted() -> None:
    bank = [line("b", "-264.00", "09-04", "CHEQUE 001874")]
    books = [
        line("l1", "-264.00", "09-01", "Cheque to T. Fenwick CHQ 001874"),
        line("l2", "-264.00", "09-04", "Cheque to Marfleet CHQ 001875"),
    ]
    (found,) = matched(bank, books).matches
    assert (named(found), found.reason) == ("b = l1, timing", "both have the reference 1874")
    assert found.evidence == (
        "same amount -264.00",
        "dates 3 days apart",
        "same reference 1874",
        "both texts say cheque",
    )
    assert found.alternatives == ("l2",)


def test_texts_that_agree_go_before_amounts_that_do() -> None:
    # Amounts and days alone would pair b with l2.
    bank = [line("b", "75.00", "09-11", "HULL COURIERS")]
    books = [line("l1", "75.00", "09-09", "Hull Couriers"), line("l2", "75.00", "09-11", "Stationery")]
    assert kinds(bank, books) == ["b = l1, timing"]


def test_two_invoices_of_one_small_round_amount_are_not_the_same() -> None:
    bank = [line("b", "75.00", "09-11", "GLEN FARMS INV 654428")]
    assert kinds(bank, [line("l", "75.00", "09-11", "Amber Freight INV 667974")]) == []


def test_an_amount_that_is_rare_matches_in_spite_of_its_texts() -> None:
    bank = [line("b", "4321.17", "09-11", "STRIPE 88123771")]
    assert kinds(bank, [line("l", "4321.17", "09-11", "Sales of week 36, batch 5521")]) == ["b = l, exact"]


def test_interest_is_not_taken_for_a_receipt_of_the_same_amount() -> None:
    bank = [line("b", "5.00", "09-30", "INTEREST PAID")]
    assert kinds(bank, [line("l", "5.00", "09-30", "Glen Joinery INV 475273")]) == []


def test_a_payment_that_was_entered_as_a_receipt_is_reversed() -> None:
    bank = [line("b", "-310.20", "09-11", "KESTREL POWER DD")]
    books = [line("l", "310.20", "09-10", "Kestrel Power August")]
    (found,) = matched(bank, books).matches
    assert (named(found), found.difference) == ("b = l, reversed", Decimal("-620.40"))
    assert found.evidence == (
        "-310.20 at the bank, 310.20 in the books",
        "dates 1 day apart",
        "both texts say kestrel, power",
    )


@pytest.mark.parametrize("text", ["Refund Kestrel Power", "Kestrel Power Rückbuchung", "Stationery"])
def test_a_refund_or_another_party_is_not_reversed(text: str) -> None:
    bank = [line("b", "-310.20", "09-11", "KESTREL POWER DD")]
    assert kinds(bank, [line("l", "310.20", "09-10", text)]) == []


def test_swapped_digits_are_found_where_the_texts_agree() -> None:
    bank = [line("b", "1254.00", "09-11", "BALTIC TIMBER INV 4471")]
    books = [line("l", "1524.00", "09-10", "Baltic Timber INV 4471")]
    (found,) = matched(bank, books).matches
    assert (named(found), found.difference) == ("b = l, transposed", Decimal("-270.00"))
    assert found.evidence[0] == "the amounts differ by -270.00, which two neighbouring digits swapped make"


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("1524.00", "Oak and Ivy Design"),  # another party
        ("1524.00", "Baltic Timber INV 4482"),  # another invoice
        ("1452.00", "Baltic Timber INV 4471"),  # divisible by 9, and not neighbours
        ("1344.00", "Baltic Timber INV 4471"),  # divisible by 9, and no digit in its place
    ],
)
def test_what_only_looks_like_swapped_digits_is_left(amount: str, text: str) -> None:
    bank = [line("b", "1254.00", "09-11", "BALTIC TIMBER INV 4471")]
    assert kinds(bank, [line("l", amount, "09-10", text)]) == []


def test_a_card_settlement_comes_less_its_fee() -> None:
    bank = [line("b", "985.40", "09-08", "CARD SETTLEMENT MERCHANT 5519")]
    books = [line("l", "1000.00", "09-06", "Card takings to 6 September")]
    (found,) = matched(bank, books).matches
    assert (named(found), found.difference) == ("b = l, net_of_fee", Decimal("-14.60"))
    assert found.evidence[:2] == (
        "a fee of 14.60, 1.46 % of 1000.00",
        "the bank's text says card settlement",
    )


def test_a_settlement_is_the_takings_of_one_day_less_the_fee() -> None:
    bank = [line("b", "1183.00", "09-08", "CARD SETTLEMENT MERCHANT 5519")]
    books = [
        line("l1", "700.00", "09-06", "Card takings, shop"),
        line("l2", "500.00", "09-06", "Card takings, bar"),
        line("l3", "900.00", "09-07", "Card takings, shop"),
    ]
    (found,) = matched(bank, books).matches
    assert (named(found), found.difference) == ("b = l1 + l2, net_of_fee", Decimal("-17.00"))
    assert found.evidence[:3] == (
        "a fee of 17.00, 1.42 % of 1200.00",
        "the bank's text says card settlement",
        "all takings of the day, and no other day fits",
    )
    twice = [*books, line("l4", "310.00", "09-07", "Card takings, bar")]
    assert kinds(bank, twice) == []


def test_a_mistake_that_was_mended_is_no_difference_any_more() -> None:
    bank = [line("b", "-310.20", "09-11", "KESTREL POWER DD")]
    books = [
        line("l1", "310.20", "09-10", "Kestrel Power August"),
        line("l2", "-620.40", "09-22", "Correction Kestrel Power August"),
    ]
    (found,) = matched(bank, books).matches
    assert (named(found), found.difference) == ("b = l1 + l2, batched", Decimal(0))
    assert found.reason == (
        "the same amount and matter, with the other sign in the books, and l2 of 2026-09-22 corrects it"
    )


def test_a_fee_is_looked_for_within_its_bound_and_with_a_word_for_it() -> None:
    bank = [line("b", "985.40", "09-08", "CARD SETTLEMENT MERCHANT 5519")]
    books = [line("l", "1000.00", "09-06", "Card takings to 6 September")]
    assert kinds(bank, books, AccountRule(fee_share=Decimal("0.01"))) == []
    assert kinds(bank, books, AccountRule(fee_share=Decimal(0))) == []
    plain = [line("b", "985.40", "09-08", "BALTIC TIMBER")]
    assert kinds(plain, [line("l", "1000.00", "09-06", "Baltic Timber")]) == []


def test_a_payment_goes_out_with_the_fee_of_a_transfer() -> None:
    bank = [line("b", "-1015.00", "09-08", "BALTIC TIMBER AS INCL TRANSFER FEE")]
    assert kinds(bank, [line("l", "-1000.00", "09-08", "Baltic Timber AS")]) == ["b = l, net_of_fee"]


def test_a_difference_of_exchange_needs_a_text_or_a_rule_that_says_so() -> None:
    books = [line("l", "5630.25", "09-04", "Nordic Steel INV 4468")]
    told = [line("b", "5574.10", "09-04", "NORDIC STEEL INV 4468 USD 7200.00")]
    (found,) = matched(told, books).matches
    assert (named(found), found.difference) == ("b = l, exchange", Decimal("-56.15"))
    assert found.evidence[:2] == (
        "a text names USD",
        "a difference of -56.15, 1.00 %; up to 5.00 % is looked at",
    )
    untold = [line("b", "5674.10", "09-04", "NORDIC STEEL INV 4468")]
    assert kinds(untold, books) == []
    assert kinds(untold, books, AccountRule(foreign=True)) == ["b = l, exchange"]
    assert kinds(told, books, AccountRule(exchange_share=Decimal("0.005"), fee_share=Decimal(0))) == []


def test_a_payment_that_came_back_cancels_on_its_own_side() -> None:
    bank = [
        line("b1", "-842.15", "09-03", "NORTHSEA FREIGHT INV 90218"),
        line("b2", "842.15", "09-07", "RETURNED NORTHSEA FREIGHT INV 90218"),
    ]
    (found,) = matched(bank, []).matches
    assert (named(found), found.difference) == ("b1 + b2 = , cancelled", Decimal(0))
    assert found.evidence == (
        "a text says returned",
        "-842.15 and 842.15 add up to 0.00",
        "same reference 90218",
    )


def test_money_in_and_out_of_two_parties_does_not_cancel() -> None:
    bank = [line("b1", "-842.15", "09-03", "NORTHSEA FREIGHT"), line("b2", "842.15", "09-04", "OAK DESIGN")]
    assert kinds(bank, []) == []


def test_of_two_that_fit_a_mistake_as_well_neither_is_taken() -> None:
    bank = [line("b", "-310.20", "09-11", "KESTREL POWER")]
    books = [line(name, "310.20", "09-10", "Kestrel Power") for name in ("l1", "l2")]
    assert kinds(bank, books) == []


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [("window_days", -1, "window_days is -1"), ("fee_share", Decimal(1), "a share is less than 1")],
)
def test_a_rule_that_means_nothing_is_refused(field: str, value: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        AccountRule(**{field: value})  # type: ignore[arg-type]
