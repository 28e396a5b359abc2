"""GnuCash books saved as XML (version 2). Business objects, budgets and prices move nothing."""

from collections import Counter

from ..bank.elements import Element, read_elements
from ..tables.source import Conventions, Findings, Source
from ..tables.text import decode
from .books import LedgerFile
from .gnucash import Account, Book, Split, Transaction, lines_of_book, unused

_BUSINESS = "Gnc"
"""Customers, invoices and the like are elements whose names begin with it."""
_ASIDE = {"pricedb", "price", "budget", "schedxaction", "count-data", "commodity", "lot"}


def read_gnucash(source: Source, conventions: Conventions) -> LedgerFile:
    """Reads the books of one GnuCash file; all in it names its currency, so no convention is needed.

    Raises:
        SourceError: it is no text, declares a DOCTYPE, nests too deep, or holds no books.
    """
    del conventions
    findings = Findings(source.file)
    taking = _Taking(source.file)
    broken = read_elements(decode(source, findings), source.file, taking.take)
    if broken is not None:
        what = f"stops being XML here ({broken.why}): what follows is not read"
        findings.add("error", what, broken.row)
    if taking.templates:
        what = f"{taking.templates} scheduled transactions are not read: what came of them is"
        findings.add("info", what)
    if (business := unused(taking.business)) is not None:
        findings.add("info", business)
    return lines_of_book(taking.book, findings)


class _Taking:
    def __init__(self, file: str) -> None:
        self.book = Book(file)
        self.templates = 0
        self.business: Counter[str] = Counter()

    def take(self, element: Element, around: Element | None) -> bool:
        """Takes what is an account or transaction of the book; True when nothing of it need be kept."""
        inside = around.name if around is not None else ""
        if element.name == "template-transactions":
            return True
        if inside == "template-transactions":
            self.templates += element.name == "transaction"
            return True
        if element.name == "account" and inside in {"book", "gnc-v2"}:
            self.book.accounts[element.value("id")] = _account(element)
            return True
        if element.name == "transaction" and inside in {"book", "gnc-v2"}:
            self.book.transactions.append(_transaction(element))
            return True
        if element.name.startswith(_BUSINESS) and inside in {"book", "gnc-v2"}:
            self.business[element.name] += 1
            return True
        return element.name in _ASIDE and inside not in {"account", "transaction", "split"}


def _account(element: Element) -> Account:
    return Account(
        name=element.value("name"),
        code=element.value("code"),
        commodity=element.value("commodity", "id"),
        parent=element.value("parent"),
        root=element.value("type") == "ROOT",
        template=element.value("commodity", "space") == "template",
    )


def _transaction(element: Element) -> Transaction:
    slots = {slot.value("key"): slot for slot in element.all("slots", "slot")}
    posted = slots.get("date-posted")
    return Transaction(
        id=element.value("id"),
        currency=element.value("currency", "id"),
        posted=element.value("date-posted", "date"),
        day=posted.value("value", "gdate") if posted is not None else "",
        number=element.value("num"),
        text=element.value("description"),
        row=element.row,
        splits=[_split(each) for each in element.all("splits", "split")],
    )


def _split(element: Element) -> Split:
    return Split(
        account=element.value("account"),
        value=element.value("value"),
        quantity=element.value("quantity") or element.value("value"),
        memo=element.value("memo"),
        row=element.row,
    )
