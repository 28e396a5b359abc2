"""Rules of a journal that add lines to its entries (`= /^Income/`), as far as they are read.

Of what a rule looks for, the beginning, the end or a part of an account's name is read, and several of
them with `|`. Any other pattern is not run: it could take forever, and a rule that is read wrong makes
figures that are wrong.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from .books import Weight
from .completion import Entry, Malformed, Posting
from .journal_amounts import Amounts
from .journal_postings import RawPosting

MAX_ADDED = 200_000
"""Lines that the rules of one file add at most: a few of them could add billions."""
_QUERY = re.compile(r"/(?P<regex>[^/]*)/|(?:acct:)?(?P<word>[^\s/:]+)")
_PLAIN = re.compile(r"[\w :&'-]*")


class Rule(NamedTuple):
    """One rule."""

    row: int
    fits: Callable[[str], bool]
    """Whether it is for a line on that account."""
    postings: Sequence[RawPosting]
    """What it adds for each such line."""


def read_query(text: str) -> Callable[[str], bool]:
    """Reads what a rule looks for.

    Raises:
        Malformed: it is more than a part of an account's name.
    """
    found = _QUERY.fullmatch(text.strip())
    pattern = (found["regex"] or found["word"] or "") if found else ""
    tests = [_test(part) for part in pattern.split("|")]
    if not pattern or not all(tests):
        raise Malformed("the rule looks for more than a part of an account's name: it adds nothing")
    return lambda account: any(test is not None and test(account.casefold()) for test in tests)


def _test(pattern: str) -> Callable[[str], bool] | None:
    begins, ends = pattern.startswith("^"), pattern.endswith("$")
    wanted = pattern.removeprefix("^").removesuffix("$").casefold()
    if not wanted or _PLAIN.fullmatch(wanted) is None:
        return None
    if begins and ends:
        return lambda account: account == wanted
    if begins:
        return lambda account: account.startswith(wanted)
    if ends:
        return lambda account: account.endswith(wanted)
    return lambda account: wanted in account


def added(entry: Entry, rules: Iterable[Rule], amounts: Amounts, room: int) -> Iterator[Entry]:
    """What the rules above an entry add to it, as entries of the same number.

    Args:
        entry: The entry, with nothing left out.
        rules: All rules of the file.
        amounts: Reads their amounts.
        room: Lines that may still be added.

    Raises:
        Malformed: an amount of a rule does not read, or there is no room left.
    """
    for rule in rules:
        if rule.row > entry.row:
            continue
        fits = [each for each in entry.postings if each.part != "virtual" and rule.fits(each.account)]
        room -= len(fits) * len(rule.postings)
        if room < 0:
            raise Malformed(f"the rules add more than {MAX_ADDED} lines to the file")
        postings = [_posting(raw, each, amounts) for each in fits for raw in rule.postings]
        if postings:
            yield Entry(entry.date, entry.row, entry.number, entry.text, postings, "automated")


def _posting(raw: RawPosting, of: Posting, amounts: Amounts) -> Posting:
    """A rule's amount without a commodity is a factor of the amount that it is for."""
    amount = None
    if raw.amount is not None and of.amount is not None:
        amount = amounts.read(raw.amount)
        if raw.amount.times:
            amount = Weight(_times(of.amount.amount, amount.amount), of.amount.currency)
    return Posting(raw.account, of.row, amount, part=raw.part, date=of.date, text=of.text)


def _times(amount: Decimal, factor: Decimal) -> Decimal:
    """The product, with the decimals of the amount where that changes nothing."""
    made = amount * factor
    neat = made.quantize(amount)
    return neat if neat == made else made
