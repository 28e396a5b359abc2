"""An entry as text that a person can enter by hand, for files that are not written here."""

from ..entry import Entry, EntryLine


def plain_text(entry: Entry) -> str:
    """Date, text and reference, then one line for each account with the side it is on."""
    head = " ".join(part for part in (str(entry.date), entry.text, entry.reference) if part)
    return "\n".join([head, *map(_line, entry.lines)])


def _line(line: EntryLine) -> str:
    side = "debit " if line.amount > 0 else "credit"
    return f"  {side} {line.account}  {abs(line.amount)} {line.currency or ''}".rstrip()
