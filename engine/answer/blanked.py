"""An answer with everything blanked out that holds digits and states no figure.

Code, links, file names and lines, ids and numbers of documents, dates and times, durations, ordinals and
the numbers of lists: none of them needs a source. What is left keeps its place in the text.
"""

import re
from collections.abc import Iterable

from ...namespaces.tables.numbers import CURRENCIES
from .days import Stated
from .written import NUMBER

BLANK = "\0"
_CURRENCY = "|".join(sorted(CURRENCIES))
_ELSEWHERE = (
    r"\[\^[^\]\n]{1,40}\]",
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
_CODE_SPAN = re.compile(r"`[^`\n]+`")
_QUOTATION = re.compile(
    r"\"[^\"\n\[\]]{1,200}\"|«[^»\n\[\]]{1,200}»|\u201c[^\u201d\n\[\]]{1,200}\u201d|\u201e[^\u201c\n\[\]]{1,200}\u201c"
)
_MONEY = rf"(?:{_CURRENCY}|[€£$])"
_ALONE = re.compile(rf"[-+(\u2212]?(?:{_MONEY} ?)?{NUMBER}(?: ?{_MONEY})?\)?")
"""An amount and nothing else."""
_IN_MONEY = re.compile(_MONEY)
_CITED = re.compile(rf"[*_ ]*{BLANK}")
_FOOTNOTE = re.compile(r"(?m)^\[\^[^\]\n]{1,40}\]:")
_APART = "\1"
"""Where a footnote begins: what it cites does not stand right behind the text before."""
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_UNREADABLE = re.compile(rf"[^\s{BLANK}]{{200,}}")
"""No word and no number: it would only cost time to look for one in it."""
_LINKS = tuple(re.compile(pattern, re.DOTALL | re.IGNORECASE) for pattern in _ELSEWHERE)
_NAMED = tuple(re.compile(pattern) for pattern in _WORDS)
_AMOUNT = re.compile(rf"(?:{_CURRENCY})?\d+(?:k|K|m|M|mn|bn|b|t|T)?(?:{_CURRENCY})?")
"""What looks like an id and is an amount: 5k, GBP120."""


def without_code(answer: str, cited: Iterable[tuple[int, int]]) -> str:
    """The answer without citations, code, links and file names."""
    text = answer
    for start, end in cited:
        text = text[:start] + BLANK * (end - start) + text[end:]
    text = _FOOTNOTE.sub(lambda match: _APART * len(match[0]), text)
    text = _FENCED.sub(_fenced, _UNREADABLE.sub(_all_blank, text))
    text = _CODE_SPAN.sub(_span, text)
    for pattern in _LINKS:
        text = pattern.sub(_blank, text)
    return _QUOTATION.sub(_span, text)


def without_names(text: str, days: Iterable[Stated]) -> str:
    """The text without dates, and without what names a document, counts time or numbers a list."""
    for day in days:
        text = text[: day.start] + BLANK * (day.end - day.start) + text[day.end :]
    for pattern in _NAMED:
        text = pattern.sub(_blank, text)
    return text


def _all_blank(match: "re.Match[str]") -> str:
    return BLANK * len(match[0])


def _fenced(match: "re.Match[str]") -> str:
    """A fenced block that cites is a part of the answer."""
    return match[0] if BLANK in match[0] else _all_blank(match)


def _span(match: "re.Match[str]") -> str:
    """What stands between marks is a figure where it is but an amount, with its currency as code or cited."""
    inner = match[0][1:-1]
    stated = match[0][0] == "`" and _IN_MONEY.search(inner)
    if _ALONE.fullmatch(inner) and (stated or _CITED.match(match.string, match.end())):
        return match[0]
    return _all_blank(match)


def _blank(match: "re.Match[str]") -> str:
    return match[0] if _AMOUNT.fullmatch(match[0]) else BLANK * len(match[0])
