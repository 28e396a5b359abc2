"""An answer with everything blanked out that holds digits and states no figure.

Code, links, file names and lines, ids and numbers of documents, dates and times, durations, ordinals and
the numbers of lists: none of them needs a source. What is left keeps its place in the text.
"""

import re
from collections.abc import Iterable

from ...namespaces.tables.numbers import CURRENCIES
from .days import Stated

BLANK = "\0"
_CURRENCY = "|".join(sorted(CURRENCIES))
_CODES = (
    r"```.*?(?:```|\Z)",
    r"`[^`\n]+`",
    r"https?://\S+|\bwww\.\S+|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+",
    r"[\w./\\-]{0,200}\w\.(?:csv|xlsx?|ofx|qfx|qbo|qif|xml|sta|940|mta|bai2?|txt|pdf|journal|beancount|dat|iif|json|md)"
    r"(?:\s*(?::|,?\s*(?:lines?|rows?|p\.))\s*\d+(?:\s*[-\u2013,]\s*\d+)*)?",
)
_DOCUMENTS = (
    r"(?:invoice|inv|bill|cheque|check|order|po|so|voucher|receipt|reference|ref|document|doc|journal|jnl|entry"
    r"|account|acct|a/c|iban|bic|card|customer|supplier|vendor|employee|batch|settlement|statement|policy|contract"
    r"|ticket|case|id|no|nr|num|number|line|row|page|step|section|note|item|sheet|column|chapter|call|run|phone|tel"
    r"|nominal|code|rechnung|beleg|konto|zeile|facture|compte|ligne|factuur|rekening)"
)
_WORDS = (
    rf"(?i:\b{_DOCUMENTS}s?\b\.?\s*(?:(?:no|nr|number|num|code)\b\.?\s*)?[#:]?\s*)"
    r"\d[\d/-]*(?:(?:\s*,\s*|\s*(?:and|und|et|to|&|-|\u2013)\s*)\d[\d/-]{2,})*"
    r"(?![\d]|[.,'\u2019]\d)(?!\s*(?:[A-Z]{3}\b|[€$£]))",
    r"(?m)^\s{0,8}[-*+]\s",
    r"#\s?\d+",
    rf"\b1 (?:{_CURRENCY})(?= ?(?:=|is\b|equals\b))",
    r"\+\d{1,3}[ \d()-]{6,}\d",
    r"(?m)^\s{0,8}(?:>\s*)?(?:#{1,6}\s+\d{1,2}(?:\.\d{1,2}){0,3}[.)]?|\d{1,3}[.)])(?=\s)",
    r"\b\d+(?:st|nd|rd|th|ter|te|er|ème|e)\b",
    r"\b\d+(?:[.,]\d+)?[\s-]*(?:(?:working|business|banking|calendar)[\s-])?"
    r"(?:days?|weeks?|months?|years?|quarters?|hours?|minutes?|min|seconds?|s|ms|h|Tagen?|Wochen?|Monaten?|jours?|mois)\b",
    r"\b(?=[A-Za-z0-9/_-]*[A-Za-z])(?=[A-Za-z0-9/_-]*\d)[A-Za-z0-9][A-Za-z0-9/_-]*[A-Za-z0-9]\b",
)
_QUOTED = re.compile(
    r"\"[^\"\n\[\]]{1,200}\"|«[^»\n\[\]]{1,200}»|\u201c[^\u201d\n\[\]]{1,200}\u201d|\u201e[^\u201c\n\[\]]{1,200}\u201c"
)
_UNREADABLE = re.compile(rf"[^\s{BLANK}]{{200,}}")
"""No word and no number: it would only cost time to look for one in it."""
_CODE = tuple(re.compile(pattern, re.DOTALL | re.IGNORECASE) for pattern in _CODES)
_NAMED = tuple(re.compile(pattern) for pattern in _WORDS)
_AMOUNT = re.compile(rf"(?:{_CURRENCY})?\d+(?:k|K|m|M|mn|bn|b|t|T)?(?:{_CURRENCY})?")
"""What looks like an id and is an amount: 5k, GBP120."""


def without_code(answer: str, cited: Iterable[tuple[int, int]]) -> str:
    """The answer without citations, code, links and file names."""
    text = answer
    for start, end in cited:
        text = text[:start] + BLANK * (end - start) + text[end:]
    text = _UNREADABLE.sub(_all_blank, text)
    for pattern in _CODE:
        text = pattern.sub(_blank, text)
    return _QUOTED.sub(_blank, text)


def without_names(text: str, days: Iterable[Stated]) -> str:
    """The text without dates, and without what names a document, counts time or numbers a list."""
    for day in days:
        text = text[: day.start] + BLANK * (day.end - day.start) + text[day.end :]
    for pattern in _NAMED:
        text = pattern.sub(_blank, text)
    return text


def _all_blank(match: "re.Match[str]") -> str:
    return BLANK * len(match[0])


def _blank(match: "re.Match[str]") -> str:
    return match[0] if _AMOUNT.fullmatch(match[0]) else BLANK * len(match[0])
