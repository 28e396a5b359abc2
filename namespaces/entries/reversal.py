"""The entry that takes another one back."""

import datetime
from collections.abc import Sequence

from ..errors import NamespaceError
from ..ledger.accounts import Posting
from .entry import Entry, EntryLine

_MOST_LINES = 50
_MAX_REFERENCE = 64


def reversal_of(postings: Sequence[Posting], date: datetime.date, text: str) -> Entry:
    """Each line of a journal on the other side, with the line it takes back as its evidence.

    Raises:
        NamespaceError: the journal is in several files, or has more lines than an entry may have.
    """
    journal = postings[0].line.journal
    files = sorted({each.line.file for each in postings})
    if len(files) > 1:
        raise NamespaceError(f"journal {journal!r} is in {', '.join(files)}: propose the entry yourself")
    lines = tuple(_reversed(each) for each in postings if each.line.amount)
    if len(lines) > _MOST_LINES:
        raise NamespaceError(f"journal {journal!r} has {len(lines)} lines; an entry may have {_MOST_LINES}")
    return Entry(
        date=date,
        text=text,
        reference=f"reverses {journal}"[:_MAX_REFERENCE],
        file=postings[0].line.file,
        lines=lines,
    )


def _reversed(posting: Posting) -> EntryLine:
    line = posting.line
    return EntryLine(
        account=line.account,
        debit=-line.amount if line.amount < 0 else None,
        credit=line.amount if line.amount > 0 else None,
        currency=line.currency,
        evidence=(posting.record.id,),
    )
