"""Entries as Beancount directives."""

import re

from ..entry import Entry, EntryLine
from .writer import Addition, CannotWriteError, Target, Text, described, new_accounts

_ACCOUNT = re.compile(r"[^\W\d_a-z][\w-]*(?::[^\W_a-z][\w-]*)+")
_CURRENCY = re.compile(r"[A-Z][A-Z0-9'._-]*")


def write_beancount(entry: Entry, mark: str, target: Target) -> Addition:
    """A transaction with the mark as its link; evidence and the texts of lines are metadata."""
    opened = [f"{entry.date} open {_account(line)} {_currency(line)}" for line in new_accounts(entry, target)]
    lines = [*opened, f"{entry.date} * {_string(described(entry))} ^{mark}"]
    for line in entry.lines:
        lines.append(f"  {_account(line)}  {line.amount} {_currency(line)}")
        if line.text:
            lines.append(f"    text: {_string(line.text)}")
        if line.evidence:
            lines.append(f"    evidence: {_string(' '.join(line.evidence))}")
    return Addition("\n".join(lines), Text.of(target.source).appended(lines, apart=True))


def _string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _account(line: EntryLine) -> str:
    if not _ACCOUNT.fullmatch(line.account):
        raise CannotWriteError(
            f"{line.account!r} is no account of Beancount; it has parts with capitals, as in Assets:Bank"
        )
    return line.account


def _currency(line: EntryLine) -> str:
    if line.currency is None or not _CURRENCY.fullmatch(line.currency):
        raise CannotWriteError(f"{line.account!r} needs a currency such as EUR; {line.currency!r} is none")
    return line.currency
