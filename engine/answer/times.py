"""Whether a figure is said to be of the time of its record."""

import re

from ...namespaces.tool import Record
from .days import Stated, stated_days
from .figures import Found, Parsed

_ELSEWHEN = re.compile(
    r"\b(?:until|till|before|after|since|carried|from|against|than|versus|vs|due|expected|will|should"
    r"|follow\w*|next|previous\w*|prior|earlier|later|invoices?|bis|vor|nach|seit|avant|après|depuis|compared"
    r"|unlike|by|into|to|delivered|clears?|between|for|für|pour)"
    r"\W+(?:\w+\W+){0,2}\Z",
    re.IGNORECASE,
)
"""Words before a date that is not the one of the figure's source."""
_WRITTEN = re.compile(r"\b(?:dated|issued|written|raised|opened|created)\W+(?:\w+\W+){0,2}\Z", re.IGNORECASE)
"""Words before the date of a document: what the books have of it is of that day, what the bank has is not."""
_APART = re.compile(r"\b(?:later|earlier|afterwards|thereafter|after|before)\b", re.IGNORECASE)
_BOOKED = re.compile(r"\b(?:entered|booked|posted|recorded)\b", re.IGNORECASE)


def wrong_time(found: Found, record: Record, parsed: Parsed) -> str:
    """What is wrong with the time that the figure is said to be of; empty when nothing is."""
    before = parsed.days_within(*found.around.context)
    behind = parsed.days_within(*found.around.trail)
    head = parsed.tables.head(found.start)
    if not (before or behind or head):
        return ""
    said = [
        *before,
        *parsed.days_within(found.around.trail.start, _next_citation(found, parsed)),
        *stated_days(head),
    ]
    if any(day.fits(record) for day in said):
        return ""
    written = record.id.startswith("ledger:")
    here = [day for day in before if not _is_elsewhen(day, found, parsed.answer, written=written)]
    if behind and ("balance" in record.id or _BOOKED.search(parsed.answer, *found.around.trail)):
        here += behind
    own = [parsed.answer[day.start : day.end] for day in here]
    own += [head[day.start : day.end] for day in stated_days(head)]
    return f"{record.id} is of {_time_of(record)}, not of {own[-1]}" if own else ""


def _next_citation(found: Found, parsed: Parsed) -> int:
    """Up to where a sentence may go on to speak of the figure."""
    return min(parsed.next_mention(found.around.trail.end), parsed.blocks.end(found.around.trail.start))


def _is_elsewhen(day: Stated, found: Found, answer: str, *, written: bool) -> bool:
    """Whether the words around a date say that something else is of it than the figure."""
    start = found.around.context.start
    if _ELSEWHEN.search(answer, start, day.start) or _APART.search(answer, day.end, found.start):
        return True
    return not written and _WRITTEN.search(answer, start, day.start) is not None


def _time_of(record: Record) -> str:
    return str(record.date) if record.date else record.id
