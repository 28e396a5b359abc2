"""A reconciliation: each item in its place, and the sum of all that is always the difference."""

import datetime
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matching_accounts import bank_account, day, ledger_account, line, named
from offing.namespaces.errors import NamespaceError
from offing.namespaces.matching.carried import Carried
from offing.namespaces.matching.items import Group, added, terms_of
from offing.namespaces.matching.reconciliation import Period, Reconciliation, open_items, reconcile
from offing.namespaces.matching.rule import AccountRule
from offing.namespaces.tool import Record

SEPTEMBER = Period(day("09-01"), day("09-30"))
LATER = line("b-later", "1.00", "12-31", "last line of the file")
"""So that the bank's data go on long after the period."""


def done(
    bank: list[Record],
    books: list[Record],
    carried: Carried = Carried(),  # noqa: B008
    rule: AccountRule | None = None,
) -> Reconciliation:
    return reconcile(
        bank_account([*bank, LATER]), ledger_account(books), SEPTEMBER, rule or AccountRule(), carried
    )


def told(made: Reconciliation) -> dict[str, list[str]]:
    """The items by group: what each adds, and its records."""
    return {
        group.value: [f"{item.amount} {' '.join(t.record.id for t in item.terms)}" for item in made.of(group)]
        for group in Group
        if made.of(group)
    }


def test_every_kind_of_item_has_its_place() -> None:
    bank = [
        line("b1", "12.50", "09-30", "INTEREST PAID"),
        line("b2", "-28.50", "09-30", "ACCOUNT FEE"),
        line("b3", "-640.00", "09-10", "PEMBERTON SAWMILLS INV 7790"),
        line("b4", "-640.00", "09-15", "PEMBERTON SAWMILLS INV 7790"),
        line("b5", "-99.00", "09-12", "OFFICE WORLD"),
        line("b6", "1254.00", "09-11", "BALTIC TIMBER INV 4471"),
        line("b7", "-310.20", "09-11", "KESTREL POWER"),
        line("b8", "985.40", "09-08", "CARD SETTLEMENT"),
        line("b9", "990.00", "09-04", "NORDIC STEEL INV 4468 USD 1070.00"),
        line("b10", "-842.15", "09-03", "NORTHSEA FREIGHT INV 90218"),
        line("b11", "842.15", "09-07", "RETURNED NORTHSEA FREIGHT INV 90218"),
    ]
    books = [
        line("l3", "-640.00", "09-10", "Pemberton Sawmills INV 7790"),
        line("l4", "-55.00", "09-29", "Cheque 1879"),
        line("l5", "318.40", "09-02", "Refund due"),
        line("l6", "1524.00", "09-10", "Baltic Timber INV 4471"),
        line("l7", "310.20", "09-10", "Kestrel Power"),
        line("l8", "1000.00", "09-06", "Card takings"),
        line("l9", "1000.00", "09-04", "Nordic Steel INV 4468"),
        line("l12", "70.00", "09-20", "Oak Design INV 5001"),
        line("l13", "70.00", "09-21", "Oak Design INV 5001"),
    ]
    bank += [line("b12", "70.00", "09-21", "OAK DESIGN INV 5001"), line("b13", "-55.00", "10-02", "CHQ 1879")]
    made = done(bank, books)
    assert told(made) == {
        "timing": ["55.00 l4"],
        "missing_in_books": ["-99.00 b5"],
        "missing_at_bank": ["-318.40 l5"],
        "fee": ["-14.60 b8 l8", "-28.50 b2"],
        "interest": ["12.50 b1"],
        "duplicate": ["-640.00 b4", "-70.00 l12"],
        "transposed": ["-270.00 b6 l6"],
        "reversed": ["-620.40 b7 l7"],
        "exchange": ["-10.00 b9 l9"],
        "cancelled": ["0.00 b10 b11"],
    }
    (twice,) = [item for item in made.of(Group.DUPLICATE) if item.record.id == "b4"]
    assert twice.why == "charged twice? it is like b3 of 2026-09-10, which is in the books"
    assert twice.evidence == ("same amount -640.00", "same reference 7790", "5 days apart")
    assert twice.alternatives == ("b3",)


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("MONTHLY FEE SEPTEMBER", Group.FEE),
        ("KONTOFÜHRUNG ENTGELT", Group.FEE),
        ("Frais de tenue de compte", Group.FEE),
        ("Bankkosten september", Group.FEE),
        ("COMISIÓN MANTENIMIENTO", Group.FEE),
        ("SRVCHG", Group.FEE),
        ("HABENZINSEN 3. QUARTAL", Group.INTEREST),
        ("Intérêts débiteurs", Group.INTEREST),
        ("Creditrente", Group.INTEREST),
        ("LIQUIDACIÓN DE INTERESES", Group.INTEREST),
        ("CONSULTING FEE INV 88120", Group.MISSING_IN_BOOKS),
        ("COFFEE ROASTERS", Group.MISSING_IN_BOOKS),
    ],
)
def test_fees_and_interest_are_told_by_their_words_in_five_languages(text: str, group: Group) -> None:
    (item,) = done([line("b", "-12.00", "09-30", text)], []).items
    assert item.group is group


def test_weekly_payments_of_one_amount_are_no_duplicates() -> None:
    bank = [line(f"b{n}", "-75.00", f"09-{n:02}", "HULL COURIERS") for n in (4, 11, 18, 25)]
    books = [line(f"l{n}", "-75.00", f"09-{n:02}", "Hull Couriers") for n in (4, 18, 25)]
    assert told(done(bank, books)) == {"missing_in_books": ["-75.00 b11"]}


def test_what_is_small_is_summed_and_marked() -> None:
    bank = [line(f"b{n}", f"-0.{n}0", "09-10", f"Rounding {'abc'[n]}") for n in range(1, 3)]
    made = done(
        [*bank, line("b", "-99.00", "09-12", "OFFICE WORLD")], [], rule=AccountRule(materiality=Decimal(1))
    )
    assert [(each.record.id, each.material) for each in made.items] == [
        ("b1", False),
        ("b2", False),
        ("b", True),
    ]
    assert added(terms_of(made.items)) == Decimal("-99.30")


CHEQUE = line("l-old", "-1420.00", "07-28", "Cheque to Aldgate Roofing CHQ 001878")
RECEIPT = line("b-old", "88.20", "08-20", "OAK DESIGN")


def test_what_was_carried_forward_clears_however_late_it_comes() -> None:
    made = done([line("b", "-1420.00", "09-20", "CHEQUE 001878")], [], Carried(books=(CHEQUE,)))
    assert told(made) == {"cleared": ["-1420.00 l-old"]}
    (item,) = made.items
    assert item.why == "settled by b of 2026-09-20"
    assert [named(each) for each in made.from_before] == ["b = l-old, timing"]
    assert made.still_open == open_items(made) == Carried()


def test_what_is_still_open_is_carried_on_with_what_is_new() -> None:
    new = line("b", "-99.00", "09-12", "OFFICE WORLD")
    carried = Carried((RECEIPT,), (CHEQUE,))
    made = done([new], [], carried)
    assert made.still_open == carried
    assert open_items(made) == Carried((RECEIPT, new), (CHEQUE,))


def test_what_the_files_still_hold_is_counted_once() -> None:
    cheque = replace(CHEQUE, date=day("08-30"))
    bank = [line("b", "-1420.00", "09-02", "CHEQUE 001878")]
    made = done(bank, [cheque], Carried(books=(cheque,)))
    assert made.carried == made.known_before == Carried(books=(cheque,))
    assert made.opening.difference == Decimal("1420.00") == added(made.known_before.terms)
    assert told(made) == {"cleared": ["-1420.00 l-old"]}
    assert made.findings == ()


def test_where_what_was_carried_explains_the_opening_all_else_before_is_settled() -> None:
    # Without that, l1 of the 31st would be taken for b2 of the 1st.
    bank = [line("b1", "75.00", "08-28", "CARD"), line("b2", "75.00", "09-01", "CARD"), RECEIPT]
    books = [line("l1", "75.00", "08-31", "Receipt")]
    made = done(bank, books, Carried((RECEIPT,)))
    assert told(made) == {"missing_in_books": ["75.00 b2"]}


def test_what_was_carried_wrongly_is_told_and_left_out() -> None:
    carried = Carried(
        (
            line("b1", "5.00", "09-03", "in the period"),
            line("b2", "5.00", "08-03", "of another currency", "EUR"),
        ),
        (line("l1", "6.00", "08-30", "amended"),),
    )
    made = done([], [line("l1", "7.00", "08-30", "amended")], carried)
    assert [each.id for each in made.carried.books] == ["l1"]
    assert made.carried.books[0].amount == Decimal("7.00")
    assert made.findings == (
        "b1 was carried forward and is of 2026-09-03, so it is no open item from before the period: it is"
        " taken as the files have it",
        "b2 was carried forward with 5.00 EUR, and the account is in GBP: it is left out",
        "l1 was carried forward with 6.00, and the files now have 7.00: the files count",
    )


def test_what_carried_items_do_not_explain_of_the_opening_is_told() -> None:
    made = done([line("b", "-8.00", "08-10", "never entered")], [], Carried((RECEIPT,)))
    assert made.findings == (
        "at the start the balances differ by -8.00; what was carried forward and what cleared besides"
        " explains 88.20 of it, and -96.20 is not explained",
    )


def test_a_wrong_amount_stays_open_until_it_is_mended() -> None:
    bank, books = (
        [line("b", "1254.00", "09-11", "BALTIC INV 4471")],
        [line("l", "1524.00", "09-10", "Baltic INV 4471")],
    )
    made = done(bank, books)
    carried = open_items(made)
    assert carried == Carried(tuple(bank), tuple(books))
    october = Period(day("10-01"), day("10-31"))
    again = reconcile(bank_account([*bank, LATER]), ledger_account(books), october, AccountRule(), carried)
    assert (again.items, again.still_open, open_items(again)) == ((), carried, carried)

    mended = [*books, line("l2", "-270.00", "10-05", "Correction Baltic INV 4471")]
    again = reconcile(bank_account([*bank, LATER]), ledger_account(mended), october, AccountRule(), carried)
    assert told(again) == {"cleared": ["1524.00 l", "-1254.00 b"]}
    assert [named(each) for each in again.from_before] == ["b = l + l2, batched"]
    assert open_items(again) == Carried()


def test_a_period_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(NamespaceError, match="the period ends on 2026-09-01, before it begins on 2026-09-30"):
        reconcile(bank_account([]), ledger_account([]), Period(day("09-30"), day("09-01")), AccountRule())


def test_a_period_of_no_books_is_refused() -> None:
    period = Period(datetime.date(1, 1, 1), day("09-30"))
    with pytest.raises(NamespaceError, match="from 0001-01-01 to 2026-09-30: give days of 1900 to 2199"):
        reconcile(bank_account([]), ledger_account([]), period, AccountRule())


def sides(side: str) -> st.SearchStrategy[list[Record]]:
    """Records of some months in which anything may match with anything."""
    days = st.integers(0, 89).map(lambda n: datetime.date(2026, 7, 15) + datetime.timedelta(n))
    amounts = ("10.00", "-10.00", "20.00", "30.00", "12.00", "21.00", "-21.00", "9.80", "1234.56", "4321.17")
    texts = (
        "",
        "Amber Foods INV 1001",
        "AMBER FOODS",
        "Oak INV 2002",
        "ACCOUNT FEE",
        "RETURNED Oak INV 2002",
        "USD",
    )
    one = st.tuples(days, st.sampled_from(amounts), st.sampled_from(texts))
    return st.lists(one, max_size=14).map(
        lambda found: [
            Record(f"{side}{n}", Decimal(amount), "GBP", date, text)
            for n, (date, amount, text) in enumerate(found)
        ]
    )


RULES = st.builds(
    AccountRule,
    window_days=st.integers(0, 8),
    tolerance=st.sampled_from([Decimal(0), Decimal("0.50")]),
    materiality=st.sampled_from([Decimal(0), Decimal(15)]),
    foreign=st.booleans(),
)
AUGUST = Period(day("08-01"), day("08-31"))


@given(sides("b"), sides("l"), RULES)
def test_balances_differ_by_what_the_items_add_and_what_was_open(
    bank: list[Record], books: list[Record], rule: AccountRule
) -> None:
    one, other = bank_account(bank, "250.00"), ledger_account(books, "240.00")
    carried = Carried()
    for period in (AUGUST, SEPTEMBER):
        made = reconcile(one, other, period, rule, carried)
        opening, closing = made.opening.difference, made.closing.difference
        assert opening is not None
        assert closing is not None
        assert closing == opening + added(terms_of(made.items))

        # What is carried forward is what is open: what was known to be open, and what the items add.
        carried = open_items(made)
        assert added(carried.terms) == added(made.known_before.terms) + added(terms_of(made.items))
        assert len(carried.ids) == len(carried.bank) + len(carried.books)
        inside = [each.id for match in made.matches for each in match.records]
        assert len(inside) == len(set(inside))
        assert not set(inside) & carried.ids - {
            each.id for match in made.matches if match.difference for each in match.records
        }
