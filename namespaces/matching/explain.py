"""What each match and each unmatched record adds to the difference of the balances, and why."""

import datetime
from collections.abc import Iterator
from decimal import Decimal
from typing import assert_never

from ..records import Term
from ..tool import Record
from .items import Group, Item
from .match import Kind, Match, Outcome
from .placing import Placing, terms_of_match
from .rule import AccountRule
from .twins import Rivals, Twins
from .vocabulary import fee_in, interest_in


def explain(outcome: Outcome, placing: Placing, rule: AccountRule, reach: datetime.date) -> Iterator[Item]:
    """The items of a period; their amounts make what the period added to the bank less the books.

    Args:
        outcome: What matched and what did not.
        placing: Where the period lies.
        rule: For its window.
        reach: The last day of which the bank's files know.
    """
    for match in outcome.matches:
        if placing.reaches_out(match):
            yield _under_way(match, placing)
        elif placing.inside(match):
            yield from _different(match)
        elif placing.clears(match) and placing.settles(match):
            yield from _cleared(match, placing)
            yield from _different(match)
    matched = [(match.bank, match.books) for match in outcome.matches]
    bank_twins = Twins((each for bank, _ in matched for each in bank), outcome.books_only, rule)
    books_twins = Twins((each for _, books in matched for each in books), outcome.bank_only, rule)
    at_bank, in_books = Rivals(outcome.bank_only, rule), Rivals(outcome.books_only, rule)
    for record in filter(placing.within, outcome.bank_only):
        yield _told_of(in_books, _at_bank_only(record, bank_twins, rule))
    for record in filter(placing.within, outcome.books_only):
        yield _told_of(at_bank, _in_books_only(record, books_twins, rule, reach))


def _under_way(match: Match, placing: Placing) -> Item:
    later = [each for each in match.records if placing.after(each)]
    where = "at the bank" if later[0] in match.bank else "in the books"
    named = ", ".join(each.id for each in later)
    why = f"{where} on {later[0].date}, after the period ({named})"
    return Item(Group.TIMING, why, placing.inner_terms(match), match, match.evidence)


def _cleared(match: Match, placing: Placing) -> Iterator[Item]:
    for sign, record in placing.older_terms(match):
        others = [each for each in match.records if each.id != record.id]
        why = "settled by " + ", ".join(f"{each.id} of {each.date}" for each in others)
        yield Item(Group.CLEARED, why, (Term(-sign, record),), match, match.evidence)


def _different(match: Match) -> Iterator[Item]:
    group = _group_of(match.kind)
    if group is None or not (match.difference or group is Group.CANCELLED):
        return
    yield Item(group, _why(match), terms_of_match(match), match, match.evidence, match.alternatives)


def _why(match: Match) -> str:
    if not match.bank or not match.books:
        side = "at the bank" if match.bank else "in the books"
        return f"cancelled {side} by {match.records[1].id}"
    at_bank, in_books = (sum(each.amount or Decimal(0) for each in of) for of in (match.bank, match.books))
    return f"{at_bank} at the bank, {in_books} in the books ({', '.join(each.id for each in match.books)})"


def _group_of(kind: Kind) -> Group | None:
    """Where the difference of a match belongs; None for kinds that have none."""
    match kind:
        case "exact" | "timing" | "batched" | "split":
            return None
        case "near":
            return Group.AMOUNT_DIFFERS
        case "net_of_fee":
            return Group.FEE
        case "cancelled" | "reversed" | "transposed" | "exchange":
            return Group(kind)
        case _:
            assert_never(kind)


def _at_bank_only(record: Record, twins: Twins, rule: AccountRule) -> Item:
    terms = (Term(1, record),)
    fee, interest = fee_in(record.text), interest_in(record.text)
    if twin := twins.of(record):
        why = f"charged twice? it is like {twin.record.id} of {twin.record.date}, which is in the books"
        return Item(Group.DUPLICATE, why, terms, None, twin.evidence, (twin.record.id,))
    if interest:
        return Item(Group.INTEREST, f"interest, by the bank's word {interest!r}; not in the books", terms)
    if fee and (record.amount or 0) < 0:
        return Item(Group.FEE, f"a fee, by the bank's word {fee!r}; not in the books", terms)
    why = f"nothing like it in the books within {rule.window_days} days"
    return Item(Group.MISSING_IN_BOOKS, why, terms)


def _in_books_only(record: Record, twins: Twins, rule: AccountRule, reach: datetime.date) -> Item:
    terms = (Term(-1, record),)
    day = record.date or datetime.date.min
    if twin := twins.of(record):
        why = f"entered twice? it is like {twin.record.id} of {twin.record.date}, which is at the bank"
        return Item(Group.DUPLICATE, why, terms, None, twin.evidence, (twin.record.id,))
    if (reach - day).days < rule.window_days:
        why = f"not at the bank by {reach}, where its data end: it may still come"
        return Item(Group.TIMING, why, terms)
    why = f"nothing like it at the bank within {rule.window_days} days"
    return Item(Group.MISSING_AT_BANK, why, terms)


def _told_of(others: Rivals, item: Item) -> Item:
    """The item, with the unmatched record of the other side that has its amount, where there is one."""
    other = others.of(item.record)
    if other is None:
        return item
    why = f"{item.why}; {other.id} of {other.date} has the same amount, and its text speaks against it"
    return item._replace(why=why, alternatives=(*item.alternatives, other.id))
