"""The words by which texts of banks and books tell fees, interest, exchange and settlements.

English, German, French, Dutch, Spanish, and the type words of statement formats (OFX, MT940, CAMT, BAI2);
written as `tables.words.plain` makes them: no accents, capitals or punctuation.
"""

import re
from functools import lru_cache

from ..tables.words import plain
from .similarity import references, words

_FEE = (
    *("account fee", "bank fee", "service fee", "monthly fee", "maintenance fee", "transaction fee"),
    *("wire fee", "transfer fee", "overdraft fee", "card fee", "processing fee", "handling fee"),
    *("bank charge", "bank charges", "service charge", "service charges", "account charge"),
    *("account charges", "commission charge", "analysis charge", "analysis fee", "returned item fee"),
    *("kontofuhrung", "kontofuhrungsgebuhr", "kontofuehrung", "bankgebuhr", "bankgebuhren", "gebuhr"),
    *("gebuhren", "kontogebuhr", "bankspesen", "spesen", "entgelt", "entgeltabschluss", "buchungsentgelt"),
    *("frais bancaires", "frais de tenue de compte", "frais de compte", "frais de virement"),
    *("commission d intervention", "commission bancaire", "cotisation carte", "frais carte", "agios"),
    *("bankkosten", "provisie", "kosten rekening", "kosten betaalpakket", "transactiekosten"),
    *("comision", "comisiones", "comision mantenimiento", "gastos bancarios", "comision transferencia"),
    *("srvchg", "nchg", "chgs", "ntrf chg"),
)
_FEE_WORDS = (
    "fee",
    "fees",
    "charge",
    "charges",
    "chg",
    "frais",
    "kosten",
    "gastos",
    "provision",
    "commission",
)
"""Say fee only where no invoice and no reference does: suppliers have fees as well."""
_INTEREST = (
    *("interest", "int paid", "int earned", "credit int", "debit int", "nint", "intr"),
    *("zinsen", "zins", "habenzinsen", "sollzinsen", "guthabenzinsen", "zinsabschluss", "zinsgutschrift"),
    *("interets", "interets crediteurs", "interets debiteurs"),
    *("rente", "creditrente", "debetrente", "rentevergoeding", "interesten"),
    *("intereses", "interes", "liquidacion de intereses"),
)
_EXCHANGE = (
    *("exchange rate", "fx", "fx rate", "rate", "exchange", "conversion"),
    *("kurs", "wechselkurs", "umrechnungskurs", "devisenkurs"),
    *("cours", "taux de change", "change"),
    *("koers", "wisselkoers"),
    *("tipo de cambio", "cambio"),
)
_SETTLEMENT = (
    *("card settlement", "card takings", "card sales", "card receipts", "merchant", "acquirer", "takings"),
    *("stripe", "paypal", "sumup", "adyen", "worldpay", "square", "zettle", "mollie", "payout", "klarna"),
    *("kartenumsatz", "kartenzahlung", "kartenumsatze", "handlerabrechnung"),
    *("remise carte", "remise cb", "encaissement carte"),
    *("pinbetalingen", "pin omzet", "kaartbetalingen"),
    *("remesa tarjeta", "liquidacion tarjeta", "datafono", "ventas tarjeta"),
)
_INVOICE = (
    *("inv", "invoice", "bill", "order", "rechnung", "rg", "re", "facture", "fact", "factuur", "factura"),
    *("fra", "po", "credit note", "gutschrift", "avoir", "creditnota", "abono"),
)
_BACK = (
    *("refund", "refunded", "reversal", "reversed", "returned", "return", "chargeback", "recall"),
    *("ruckzahlung", "erstattung", "ruckbuchung", "storno", "rucklastschrift", "gutschrift"),
    *("remboursement", "annulation", "rejet", "contrepassation", "extourne"),
    *("terugbetaling", "storno", "terugboeking", "stornering"),
    *("devolucion", "reembolso", "anulacion", "retrocesion"),
)
_CURRENCIES = """
aed ars aud bgn brl cad chf clp cny cop czk dkk egp eur gbp hkd huf idr ils inr isk jpy krw mad mxn myr nok
nzd pen php pln ron rub sar sek sgd thb try twd uah usd vnd zar
"""
_SAYS_NOTHING = """
the and for from to of by in on at no nr ref reference payment payments paid transfer receipt receipts
deposit deposits card cash cheque cheques chq check dd so direct debit credit standing order bacs chaps sepa
ach wire inv invoice invoices ltd limited llp plc inc co company corp customer supplier bank account
jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august
september october november december
der die das und fur von an zahlung uberweisung lastschrift gutschrift rechnung rechnungen gmbh ag kg kunde
konto januar februar marz mai juni juli oktober dezember
le la les du de des et pour par virement prelevement paiement reglement sarl sa sas client compte
janvier fevrier mars avril juin juillet aout septembre octobre novembre decembre facture factures
het een en van voor betaling overboeking incasso factuur facturen bv nv klant rekening
januari februari maart juni juli augustus
el los las del por para pago transferencia recibo factura facturas sl cliente cuenta
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
"""
"""Words that many texts share: no evidence that two of them mean the same."""


def _any_of(*phrases: str) -> re.Pattern[str]:
    longest_first = sorted({*phrases}, key=lambda each: (-len(each), each))
    return re.compile(rf"\b(?:{'|'.join(longest_first)})\b")


_NAMES_NOBODY = frozenset(_SAYS_NOTHING.split())
_CODES = frozenset(_CURRENCIES.split())
_PATTERNS = {
    "fee": _any_of(*_FEE),
    "fee word": _any_of(*_FEE_WORDS),
    "interest": _any_of(*_INTEREST),
    "exchange": _any_of(*_EXCHANGE),
    "settlement": _any_of(*_SETTLEMENT),
    "invoice": _any_of(*_INVOICE),
    "back": _any_of(*_BACK),
}


def fee_in(text: str) -> str | None:
    """The words that call a movement of the bank a fee; None when none do."""
    said = _found("fee", text)
    if said is None and _found("invoice", text) is None and not references(text):
        said = _found("fee word", text)
    return said


def interest_in(text: str) -> str | None:
    """The words that call a movement of the bank interest; None when none do."""
    return None if _found("invoice", text) else _found("interest", text)


def exchange_in(text: str, currency: str | None) -> str | None:
    """The other currency that a text names, or its word for a rate; None without one."""
    others = _codes(text) - {(currency or "").upper()}
    return min(others) if others else _found("exchange", text)


def settlement_in(text: str) -> str | None:
    """The words that say that somebody collected the money and pays it on; None when none do."""
    return _found("settlement", text)


def given_back(text: str) -> str | None:
    """The words that say that money went back; None when none do."""
    return _found("back", text)


@lru_cache(maxsize=65536)
def names(text: str) -> frozenset[str]:
    """The words of a text that tell one party or matter from another: no numbers, nothing general."""
    return frozenset(word for word in words(text) if not word.isdigit() and plain(word) not in _NAMES_NOBODY)


@lru_cache(maxsize=65536)
def _codes(text: str) -> frozenset[str]:
    return frozenset(code.upper() for code in _CODES.intersection(plain(text).split()))


@lru_cache(maxsize=65536)
def _found(kind: str, text: str) -> str | None:
    found = _PATTERNS[kind].search(plain(text))
    return found[0] if found else None
