"""Whether a figure has the sign of its record, as people write signs: often in words, or not at all."""

import re
from decimal import Decimal

from ...namespaces.tool import Record
from .citations import CITATION
from .figures import Found, Parsed

_OUTWARD = re.compile(
    r"\b(?:pa(?:y|id|ys|ying|yments?|yroll)|out(?:flow|going|wards?|standing)?|fees?|charg\w+|costs?|debit\w*"
    r"|withdr\w+|bill\w*|refund\w*|short\w*|lack\w*|missing|less|lower|below|under|overdr\w+|owe[sd]?|owing|deficit"
    r"|credits?|loss\w*|lost|minus|negative|reduc\w+|decreas\w+|fell|drop\w*|down|spent|spend\w*|purchas\w+|bought"
    r"|wages|salar\w+|rent|tax\w*|commission\w*|differ\w*|gap|apart|off|over\w*|discrepanc\w+|deduct\w+|too"
    r"|unexplained|cheques?|reversed?|reversal\w*|sent|transfer\w*|left|leaves|expens\w+|liabilit\w+|payable\w*"
    r"|revenue\w*|income|sales|interest|transposed|duplicat\w+|twice|book\w*|entr\w+|record\w*|post\w*"
    r"|Auszahl\w+|Gebühr\w*|Zahlung\w*|Fehlbetrag|Differenz\w*|Lastschrift\w*|Überweis\w+|Aufwand|Soll|Haben"
    r"|Erlös\w*|Umsatz\w*|Erträg\w*|Verbindlichkeit\w*|frais|paiement\w*|débit\w*|écart\w*|manqu\w+"
    r"|virement\w*|produits|ventes|betal\w+|kosten|verschil\w*|omzet)\b",
    re.IGNORECASE,
)
"""Words with which a negative amount is written without its sign."""
_LESS = re.compile(
    r"\b(?:less|minus|deduct\w*|subtract\w*|take[ns]? (?:off|back|out)|abzüglich|moins|af)\b",
    re.IGNORECASE,
)
_OVERDRAWN = re.compile(
    r"(?<!not )(?<!no )(?<!never )(?<!nicht )"
    r"\b(?:overdrawn|overdraft|in the red|überzogen|à découvert)\b",
    re.IGNORECASE,
)
_BELOW_ZERO = re.compile(
    r"\b(?:is|are|was|were|at|of|to|stands|stood|a)[ ](?:minus|negative)\W{0,3}(?:[A-Z]{3} |[€£$])?\Z",
    re.IGNORECASE,
)
"""Words right before a figure that say it is less than nothing; a minus between two amounts does not."""
_IN_CREDIT = re.compile(
    r"\b(?:is|are|was|were|stands|stood|remains)\b[^.;,]{0,40}(?<!not )(?<!longer )\bin (?:credit|funds)\b"
    r"|\b(?:is|was|a) positive\b",
    re.IGNORECASE,
)
_CREDIT_BEHIND = re.compile(r"\s*in (?:credit|funds)\b", re.IGNORECASE)
_WE_RECEIVED = re.compile(r"\b(?:we|you) (?:\w+ )?received\b", re.IGNORECASE)
_WE_PAID = re.compile(r"\b(?:we|you) (?:\w+ )?paid\b", re.IGNORECASE)
_REACH = 400
"""Characters behind a figure, its citation included, in which it may be called a credit."""
_MOVEMENT = re.compile(r":(?:txn|line|entry|posting)/")


def wrong_sign(found: Found, record: Record, parsed: Parsed) -> str:
    """What is wrong with the figure's sign; empty when nothing is."""
    amount = record.amount or Decimal(0)
    if found.sign and amount:
        return _written_sign(found, record, parsed)
    if found.bracketed:
        bare = amount > 0 and not re.search(r"[^\d().,'\u2019\s]", found.text)
        return _but(record, "brackets mean a negative amount") if bare else ""
    words = parsed.answer[found.around.context.start : found.around.context.end]
    if amount >= 0:
        return _said_negative(found, record, parsed) if amount else ""
    if record.id.startswith("bank:balance/") and _is_said_in_credit(found, words, parsed):
        return _but(record, "it is not in credit")
    if _MOVEMENT.search(record.id):
        return _but(record, "it was paid, not received") if _WE_RECEIVED.search(words) else ""
    outward = _OUTWARD.search(f"{parsed.blocks.around(found.start, found.end)} {record.text}")
    return "" if outward else _but(record, "write the minus")


def _written_sign(found: Found, record: Record, parsed: Parsed) -> str:
    same = ((record.amount or 0) > 0) == (found.sign > 0)
    is_row = found.sign < 0 and parsed.blocks.is_row(found.start)
    taken_off = is_row and _LESS.search(parsed.answer, parsed.blocks.start(found.start), found.start)
    return "" if same or taken_off else _but(record, "it has the other sign")


def _is_said_in_credit(found: Found, words: str, parsed: Parsed) -> bool:
    if _OVERDRAWN.search(words):
        return False
    behind = CITATION.sub("", parsed.answer[found.around.context.end : found.around.context.end + _REACH])
    return bool(_IN_CREDIT.search(words) or _CREDIT_BEHIND.match(behind))


def _said_negative(found: Found, record: Record, parsed: Parsed) -> str:
    words = parsed.answer[found.around.context.start : found.around.context.end]
    if "balance" in record.id and _OVERDRAWN.search(words):
        return _but(record, "it is not overdrawn")
    if "balance" in record.id and _BELOW_ZERO.search(parsed.answer, found.around.context.start, found.start):
        return _but(record, "it is not negative")
    if _MOVEMENT.search(record.id) and record.id.startswith("bank:") and _WE_PAID.search(words):
        return _but(record, "it was received, not paid")
    return ""


def _but(record: Record, why: str) -> str:
    return f"{record.id} says {shown(record)}: {why}"


def shown(record: Record) -> str:
    """A record's amount as a person reads it."""
    return f"{record.amount:,f} {record.currency or ''}".strip()
