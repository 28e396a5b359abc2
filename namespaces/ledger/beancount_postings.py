"""One posting of Beancount: its account, amount, cost and price."""

import re
from decimal import Decimal

from ..tables.numbers import Numbers
from ..tables.source import quote
from ..tables.text import Line
from .books import Weight
from .completion import MAX_ACCOUNT, Malformed, Posting, checked

ACCOUNT = r"[^\W\d_][\w-]*(?::[\w-]+)+"
CURRENCY = r"[A-Z][A-Z0-9'._-]{0,23}"
NUMBER = r"(?:[-+]\s*)?(?:\d[\d,]*(?:\.\d*)?|\.\d+)"
_POSTING = re.compile(rf"(?:[!&#?%*A-Z]\s+)?(?P<account>{ACCOUNT})(?:\s+(?P<rest>.*))?", re.DOTALL)
_AMOUNT = re.compile(
    rf"(?P<number>{NUMBER})?\s*(?P<currency>{CURRENCY})?\s*"
    r"(?:(?P<cost>\{[^{}]*\}|\{\{[^{}]*\}\})\s*)?"
    rf"(?:(?P<at>@@?)\s*(?P<price>{NUMBER})\s*(?P<in>{CURRENCY}))?"
)
_COST = re.compile(rf" ?({NUMBER}) ?({CURRENCY}) ?(?:,.*)?")
_LOT = re.compile(r' ?(?:\d{4}[-/]\d\d?[-/]\d\d?|"[^"]*"|\*)? ?', re.ASCII)
"""What names a lot and says no cost: a date, a label, nothing."""


def read_posting(line: Line) -> Posting:
    """Reads one posting.

    Raises:
        Malformed: it is none.
    """
    found = _POSTING.fullmatch(line.text)
    if found is None or len(found["account"]) > MAX_ACCOUNT:
        raise Malformed(f"{quote(line.text)} is no posting")
    rest = " ".join((found["rest"] or "").split())
    posting = Posting(found["account"], line.number, None)
    if not rest:
        return posting
    parts = _AMOUNT.fullmatch(rest)
    if parts is None:
        raise Malformed(f"{quote(rest)} is no amount with a currency (sums are to be written out)")
    if parts["number"] is None and not parts["cost"] and not parts["at"]:
        posting.only = parts["currency"]
        return posting
    if parts["number"] is None or parts["currency"] is None:
        raise Malformed(f"{quote(rest)} lacks its number or its currency")
    posting.amount = Weight(read_number(parts["number"]), parts["currency"])
    _weigh(posting, posting.amount, parts)
    return posting


def _weigh(posting: Posting, amount: Weight, parts: re.Match[str]) -> None:
    """The cost counts; without one the price does."""
    if parts["cost"]:
        whole = parts["cost"].startswith("{{")
        inner = parts["cost"].strip("{}")
        cost = _COST.fullmatch(inner)
        if cost is not None:
            posting.weight = _times(amount, Weight(read_number(cost[1]), cost[2]), whole=whole)
        elif all(map(_LOT.fullmatch, inner.split(","))):
            posting.lot = True
        else:
            raise Malformed(f"{quote(parts['cost'])} is no cost that is read")
    elif parts["at"]:
        price = Weight(read_number(parts["price"]), parts["in"])
        posting.weight = _times(amount, price, whole=parts["at"] == "@@")


def _times(amount: Weight, price: Weight, *, whole: bool) -> Weight:
    """What the amount costs, with its sign: the price is that of one, or of the whole."""
    if not whole:
        return Weight(amount.amount * price.amount, price.currency)
    return Weight(abs(price.amount).copy_sign(amount.amount), price.currency)


def read_number(text: str) -> Decimal:
    """A number, commas between its thousands and a point before its decimals.

    Raises:
        Malformed: it is none.
    """
    return checked(Numbers(".").read("".join(text.split())), text, ".")
