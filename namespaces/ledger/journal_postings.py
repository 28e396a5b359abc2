"""One posting of hledger or ledger: its account, amount, cost, price and what it says the account holds."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..tables.source import quote
from .completion import MAX_ACCOUNT, Malformed, Part, tidy
from .journal_amounts import Amount, Scan
from .journal_dates import DATE

_WIDE = re.compile(r" {2}|\t")
_FLAG = re.compile(r"[*!]\s+")
_LOT = re.compile(r"\{\{?\s*=?")
_LOT_END = re.compile(r"\}\}?")
_LOT_NOTE = re.compile(r"\[[^\[\]]*\]|\((?!@)[^()]*\)")
_AT = re.compile(r"(\()?(@@?)(?(1)\))")
_STATED = re.compile(r"(==?)(\*?)")
_DATES = re.compile(rf"\[({DATE})?(?:=({DATE}))?\]|\bdate(2?):\s*({DATE})", re.ASCII)
_TAGS = re.compile(r"(?:^|[\s,]):?[\w-]+:")


@dataclass(slots=True)
class Stated:
    """What the posting says its account holds after it."""

    amount: Amount
    alone: bool
    subaccounts: bool


@dataclass(slots=True)
class Price:
    """What a posting costs."""

    amount: Amount
    whole: bool
    """True when it is that of all; False when of one."""


@dataclass(slots=True)
class RawPosting:
    """One posting, its numbers not read yet."""

    account: str
    part: Part
    row: int
    amount: Amount | None = None
    lot: Price | None = None
    """In braces: what the lot cost when it was bought."""
    price: Price | None = None
    """After @: what is paid now."""
    stated: Stated | None = None
    date: str = ""
    """Its own; empty when it is that of the entry."""
    text: str = ""

    def amounts(self) -> Iterator[Amount | None]:
        """All amounts in it but a factor, which is in no commodity."""
        yield None if self.amount is not None and self.amount.times else self.amount
        yield self.lot.amount if self.lot else None
        yield self.price.amount if self.price else None
        yield self.stated.amount if self.stated else None


class Comment:
    """What a comment says besides its words."""

    def __init__(self, text: str) -> None:
        self.date = ""
        self.tags = ""
        later = ""
        for found in _DATES.finditer(text):
            self.date = found[1] or (found[4] if found[4] and not found[3] else "") or self.date
            later = found[2] or (found[4] if found[3] else "") or later
        if _TAGS.search(_DATES.sub("", text)):
            self.tags = " ".join(text.split())
        elif later:
            self.tags = f"effective {later}"


def read_posting(text: str, row: int) -> RawPosting:
    """Reads one posting.

    Raises:
        Malformed: it is none.
    """
    code, _, comment = text.partition(";")
    flag = _FLAG.match(code)
    code = code[flag.end() :] if flag else code
    wide = _WIDE.search(code)
    name = code[: wide.start()] if wide else code
    account, part = _unbracket(tidy(name))
    if not account or len(account) > MAX_ACCOUNT:
        raise Malformed(f"{quote(text)} is no posting")
    said = Comment(comment)
    posting = RawPosting(account, part, row, date=said.date, text=said.tags)
    scan = Scan(code[wide.end() :].strip() if wide else "", row)
    if scan.rest and not scan.rest.startswith("="):
        posting.amount = scan.amount()
    while scan.rest.strip():
        _more(posting, scan)
    return posting


def _more(posting: RawPosting, scan: Scan) -> None:
    """Reads one of the things that may follow an amount."""
    if found := scan.take(_LOT):
        posting.lot = Price(scan.amount(), found[0].startswith("{{"))
        if scan.take(_LOT_END) is None:
            raise Malformed(f"{quote(scan.text)} opens a brace and does not close it")
    elif found := scan.take(_AT):
        posting.price = Price(scan.amount(), found[2] == "@@")
    elif found := scan.take(_STATED):
        posting.stated = Stated(scan.amount(), found[1] == "==", bool(found[2]))
    elif scan.take(_LOT_NOTE) is None:
        raise Malformed(f"{quote(scan.rest.strip())} does not belong behind an amount")


def _unbracket(name: str) -> tuple[str, Part]:
    if name.startswith("(") and name.endswith(")"):
        return tidy(name[1:-1]), "virtual"
    if name.startswith("[") and name.endswith("]"):
        return tidy(name[1:-1]), "balanced"
    return name, "real"
