"""The words by which files in five languages name their columns and their balance rows.

English, German, French, Dutch, Spanish; without accents, punctuation and capitals. Within a role
the better word stands first: of a booking date and a transaction date the former counts.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

BalanceKind = Literal["opening", "closing", "total"]
Vocabulary = Mapping[str, tuple[str, ...]]
"""Names of a column by its role."""

DATE = (
    *("booking date", "posting date", "posted date", "post date", "date posted", "posted"),
    *("buchungsdatum", "buchungstag", "buchung", "boekdatum", "boekingsdatum"),
    *("date comptable", "date de comptabilisation", "date operation", "date de l operation"),
    *("fecha contable", "fecha operacion", "fecha de operacion", "f contable", "completed date"),
    *("date", "datum", "fecha", "transaction date", "trans date", "transactiedatum", "belegdatum"),
    *("journal date", "journaldate", "date de transaction", "entry date", "gl date"),
)
AMOUNT = (
    *("net", "net amount", "netamount", "neto", "netto", "importe neto", "montant net"),
    *("amount", "transaction amount", "betrag", "umsatz", "bedrag", "montant", "importe"),
    *("montant de l operation", "cantidad", "bedrag eur", "signed amount", "base amount"),
)
DEBIT = (
    *("debit", "debits", "debit amount", "amount debit", "soll", "belastung", "belastungen"),
    *("montant debit", "debito", "debe", "cargo", "cargos", "debet", "afschrijving", "ausgang"),
    *("withdrawal", "withdrawals", "withdrawal amount", "paid out", "money out", "payments"),
)
CREDIT = (
    *("credit", "credits", "credit amount", "amount credit", "haben", "gutschrift", "gutschriften"),
    *("montant credit", "credito", "haber", "abono", "abonos", "bijschrijving", "eingang"),
    *("deposit", "deposits", "deposit amount", "paid in", "money in", "receipts"),
)
SIDE = (
    *("creditdebet", "credit debet", "debet credit", "credit debit", "debit credit", "cr dr"),
    *("dr cr", "af bij", "soll haben", "haben soll", "s h", "h s", "c d", "d c", "sens", "bij af"),
    *("debit credit indicator", "credit debit indicator"),
)
TYPE = ("type", "transaction type", "debit or credit", "art", "soort", "tipo", "details")
"""Columns that may say debit or credit, and may say anything else."""
BALANCE = (
    *("balance", "running balance", "account balance", "balance after", "saldo", "kontostand"),
    *("saldo nach buchung", "saldo na mutatie", "saldo na boeking", "solde", "solde apres"),
    *("solde progressif", "saldo posterior", "saldo despues", "closing balance"),
)
CURRENCY = (
    *("currency", "ccy", "cur", "currency code", "wahrung", "waehrung", "valutacode", "munt"),
    *("muntsoort", "valuta code", "monn", "monnaie", "devise", "divisa", "moneda"),
)
TEXT = (
    *("description", "text", "narrative", "narration", "particulars", "details", "detail", "memo"),
    *("buchungstext", "verwendungszweck", "umsatzart", "omschrijving", "mededelingen", "label"),
    *("naam omschrijving", "libelle", "communication", "description 1", "description 2"),
    *("description 3", "concepto", "descripcion", "observaciones", "reference text", "comment"),
)

COMMON: Vocabulary = {
    "date": DATE,
    "amount": AMOUNT,
    "debit": DEBIT,
    "credit": CREDIT,
    "side": SIDE,
    "type": TYPE,
    "balance": BALANCE,
    "currency": CURRENCY,
    "text": TEXT,
}
"""What statements and books have in common."""

_OPENING = re.compile(
    r"(opening balance|balance brought forward|brought forward|balance b f|balance forward"
    r"|balance at start|beginning balance|starting balance|anfangssaldo|anfangsbestand"
    r"|alter kontostand|alter saldo|saldovortrag|eroffnungsbilanz|eroffnungssaldo|solde initial"
    r"|solde d ouverture|ancien solde|solde precedent|solde debut|a nouveau|beginsaldo|vorig saldo"
    r"|openingsbalans|saldo inicial|saldo anterior|saldo de apertura)\b.*"
)
_CLOSING = re.compile(
    r"(closing balance|ending balance|end balance|balance carried forward|carried forward"
    r"|balance c f|balance at end|balance at close|current balance|endsaldo|schlusssaldo|endbestand"
    r"|neuer kontostand|neuer saldo|kontostand|solde final|solde de cloture|nouveau solde|solde fin"
    r"|solde au|solde le|eindsaldo|nieuw saldo|saldo final|saldo actual|saldo de cierre)\b.*"
    r"|saldo|balance|solde"
)
_TOTAL = re.compile(r"((grand |sub ?)?totals?|summen?|gesamt(summe)?|total(en|es|aux)|totaal|sous total)\b.*")
_SIDES = {
    **dict.fromkeys(("c", "cr", "credit", "h", "haben", "bij", "abono", "haber", "crdt"), "credit"),
    **dict.fromkeys(("d", "dr", "debit", "debet", "s", "soll", "af", "cargo", "debe", "dbit"), "debit"),
    "+": "credit",
    "-": "debit",
}
_PENDING = re.compile(
    r"\b(vorgemerkt|pending|pendiente|en attente|a venir|in behandeling|gereserveerd|unposted)\b"
)


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """A header word as the tables above have it: no accents, capitals, punctuation or currency."""
    bare = re.sub(r"\([^)]{0,12}\)|[€£$]", " ", text)
    letters = unicodedata.normalize("NFKD", bare.replace("ß", "ss"))
    kept = "".join(each for each in letters if not unicodedata.combining(each))
    return " ".join(re.sub(r"[^a-z0-9]+", " ", kept.casefold()).split())


def balance_of(label: str) -> BalanceKind | None:
    """`opening`, `closing` or `total` for the label of such a row, else None."""
    words = plain(label)
    kinds: tuple[tuple[BalanceKind, re.Pattern[str]], ...] = (
        ("opening", _OPENING),
        ("closing", _CLOSING),
        ("total", _TOTAL),
    )
    return next((kind for kind, pattern in kinds if pattern.fullmatch(words)), None)


def side_of(text: str) -> str | None:
    """`credit` or `debit` for a flag such as C, Soll or Af; None for anything else."""
    return _SIDES.get(plain(text) or text.strip())


def is_pending(text: str) -> bool:
    """True where a status says that an entry is not booked yet."""
    return _PENDING.search(plain(text)) is not None
