"""The transactions within one CAMT entry: whom they name, what they say, what they make."""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from .elements import Element

AMOUNT = re.compile(r"(?=\.?[0-9])[0-9]{0,18}(?:\.[0-9]{0,10})?")
"""An amount as ISO 20022 writes it: without sign, with a point."""
_SAYS_NOTHING = {"NOTPROVIDED", "NOT PROVIDED"}
_MAX_TEXT = 2000


class Detail(NamedTuple):
    """What is kept of one transaction in an entry."""

    debtor: str
    creditor: str
    amount: Decimal | None
    """Without sign; None when the file gives none."""
    currency: str
    indicator: str
    """CRDT or DBIT; empty when it has the direction of its entry."""
    text: str


def detail_of(element: Element) -> Detail:
    """What is kept of one TxDtls."""
    plain = element.value("Amt")
    path = ("Amt",) if plain else ("AmtDtls", "TxAmt", "Amt")
    written = element.value(*path)
    amount = Decimal(written) if AMOUNT.fullmatch(written) else None
    currency = next((each.currency for each in element.all(*path)), "")
    return Detail(
        _party(element, "Dbtr"),
        _party(element, "Cdtr"),
        amount,
        currency,
        element.value("CdtDbtInd"),
        _joined(_said(element)),
    )


def _party(element: Element, role: str) -> str:
    return element.value("RltdPties", role, "Nm") or element.value("RltdPties", role, "Pty", "Nm")


def _said(element: Element) -> Iterator[str]:
    """The texts of one transaction: remittance information first."""
    paths = (
        ("RmtInf", "Ustrd"),
        ("RmtInf", "Strd", "CdtrRefInf", "Ref"),
        ("RmtInf", "Strd", "RfrdDocInf", "Nb"),
        ("RmtInf", "Strd", "AddtlRmtInf"),
        ("Refs", "EndToEndId"),
        ("RtrInf", "AddtlInf"),
        ("AddtlTxInf",),
    )
    return (found.text for path in paths for found in element.all(*path))


def _joined(texts: Iterable[str]) -> str:
    once = dict.fromkeys(text for text in texts if text and text not in _SAYS_NOTHING)
    return " ".join(once)[:_MAX_TEXT]


def name_of(element: Element, details: Sequence[Detail]) -> str:
    """The other party, if all details have the same; a reversal names those of what it reverses."""
    reversal = element.value("RvslInd") in {"true", "1"}
    from_debtor = (element.value("CdtDbtInd") == "CRDT") != reversal
    names = {
        (each.debtor or each.creditor) if from_debtor else (each.creditor or each.debtor) for each in details
    }
    return names.pop()[:_MAX_TEXT] if len(names) == 1 else ""


def text_of(element: Element, details: Sequence[Detail]) -> str:
    """What is said of an entry, and of each of its details where there are several."""
    own = element.value("AddtlNtryInf")
    if len(details) < 2:  # noqa: PLR2004  more than one is a batch
        return _joined([*(each.text for each in details), own])
    parts = (
        " ".join(f"{each.amount or ''} {each.debtor or each.creditor} {each.text}".split())
        for each in details[:_MAX_TEXT]
    )
    return f"{own} [{len(details)} details] {'; '.join(parts)}".strip()[:_MAX_TEXT]


def sum_of(details: Sequence[Detail], currency: str, *, debit: bool) -> Decimal | None:
    """What the details make; None when one has no amount in this currency."""
    made = Decimal(0)
    for each in details:
        if each.amount is None or each.currency != currency:
            return None
        negative = each.indicator == "DBIT" if each.indicator else debit
        made += -each.amount if negative else each.amount
    return made
