"""Payments net of credit notes, fees that are entered apart, and searches that are cut."""

import random
from decimal import Decimal

from matching_accounts import bank_account, day, ledger_account, line, matched, named
from offing.namespaces.matching.carried import Carried
from offing.namespaces.matching.reconciliation import Period, open_items, reconcile
from offing.namespaces.matching.rule import AccountRule, SubsetBounds
from offing.namespaces.tool import Record

OCTOBER = Period(day("10-01"), day("10-31"))
SETTLEMENT = line("b", "985.40", "09-30", "CARD SETTLEMENT MERCHANT 5519")
TAKINGS = line("l", "1000.00", "09-29", "Card takings to 29 September")
FEE = line("f", "-14.60", "10-02", "Card commission September")


def kinds(bank: list[Record], books: list[Record], rule: AccountRule | None = None) -> list[str]:
    return [named(each) for each in matched(bank, books, rule).matches]


def test_a_payment_net_of_a_credit_note_is_both_lines_of_the_party() -> None:
    bank = [line("b", "-930.00", "09-11", "MARFLEET LTD")]
    books = [
        line("l1", "-1000.00", "09-10", "Marfleet INV 5512"),
        line("l2", "70.00", "09-10", "Marfleet credit note CN 812"),
        line("l3", "70.00", "09-10", "Oak and Ivy"),
    ]
    assert kinds(bank, books) == ["b = l1 + l2, batched"]


def test_a_payout_net_of_refunds_is_all_lines_with_its_reference() -> None:
    bank = [line("b", "180.00", "09-12", "STRIPE PAYOUT 88120")]
    books = [
        line("l1", "200.00", "09-10", "Sales, payout 88120"),
        line("l2", "-20.00", "09-11", "Refund, payout 88120"),
    ]
    assert kinds(bank, books) == ["b = l1 + l2, batched"]


def test_lines_of_either_sign_that_no_text_ties_to_the_one_are_no_batch() -> None:
    bank = [line("b", "180.00", "09-11", "TRANSFER")]
    books = [line("l1", "200.00", "09-11", "Glen Farms"), line("l2", "-20.00", "09-11", "Glen Farms")]
    assert kinds(bank, books) == []


def test_a_fee_that_is_entered_apart_belongs_to_the_settlement_it_was_kept_from() -> None:
    assert kinds([SETTLEMENT], [TAKINGS, FEE]) == ["b = l + f, batched"]


def test_a_fee_of_the_same_amount_that_is_open_at_the_bank_is_another_one() -> None:
    # Else the bank's own fee would be left without its entry.
    charge = line("b2", "-14.60", "10-02", "ACCOUNT FEE")
    found = kinds([SETTLEMENT, charge], [TAKINGS, FEE])
    assert "b = l, net_of_fee" in found


def test_a_fee_that_is_entered_next_month_settles_what_was_carried() -> None:
    later = line("z", "1.00", "12-01", "CREDIT")
    carried = Carried((SETTLEMENT,), (TAKINGS,))

    def october(*entries: Record) -> Carried:
        books = ledger_account([TAKINGS, *entries])
        made = reconcile(bank_account([SETTLEMENT, later]), books, OCTOBER, AccountRule(), carried)
        assert made.closing.difference == made.opening.difference - sum(  # type: ignore[operator]
            (each.amount or Decimal(0) for each in entries), Decimal(0)
        )
        return open_items(made)

    assert october() == carried
    assert october(FEE) == Carried()


def test_where_more_amounts_are_near_one_than_are_weighed_it_is_told() -> None:
    bank = [line("b", "-871.25", "09-08", "ACME RATE 1.1478 USD")]
    books = [line(f"l{number:03}", f"-{850 + number / 10:.2f}", "09-08", "Various") for number in range(300)]
    (told,) = matched(bank, books, AccountRule(exchange_share=Decimal("0.03"))).findings
    assert told == (
        "for -871.25 of 2026-09-08 (b) more than 200 amounts of the books are near it, the first 200 were"
        " looked at: give a window of less than 5 days"
    )


def test_where_the_work_for_all_sums_is_spent_it_is_told_and_no_order_shows() -> None:
    rule = AccountRule(subset=SubsetBounds(all_steps=50))
    bank = [line(f"b{number}", f"{9000 + number}.{number:02}", "09-08", "GLEN") for number in range(1, 9)]
    books = [line(f"l{number:02}", f"{number * 37}.11", "09-08", "Glen") for number in range(1, 14)]
    whole = matched(bank, books, rule)
    assert any("no sum was looked for, as the sums of others took all" in each for each in whole.findings)
    random.Random(7).shuffle(bank)
    random.Random(8).shuffle(books)
    assert matched(bank, books, rule) == whole
