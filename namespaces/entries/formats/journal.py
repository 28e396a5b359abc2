"""Entries as hledger and ledger-cli write them."""

import re
from decimal import Decimal

from ...ledger.books import Symbol
from ..entry import Entry, EntryLine
from .dates import like
from .writer import Addition, CannotWriteError, Target, Text, described, new_accounts

_DATE = re.compile(r"^\d{4}([-/.])\d{1,2}\1\d{1,2}(?=[\s=])", re.MULTILINE)
_MEANS_MORE = re.compile(r";|\bdate2?:|\[[=\d]")
"""What begins a comment, or gives a line in a comment another day."""

_NEEDS_QUOTES = re.compile(r"[\s\d.,;:=@{}()\[\]+*/^&|!<>?~-]")


def write_journal(entry: Entry, mark: str, target: Target) -> Addition:
    """A transaction with the mark as its code; evidence and the texts of lines are comments."""
    text = Text.of(target.source)
    days = [found[0] for found in _DATE.finditer(text.text)]
    lines = [f"{like(days, entry.date, 'day')} * ({mark}) {_said(described(entry))}"]
    for line in entry.lines:
        lines.append(f"    {_account(line)}  {_amount(line, target.read.symbols)}")
        if line.text:
            lines.append(f"    ; text: {_said(line.text)}")
        if line.evidence:
            lines.append(f"    ; evidence: {_said(' '.join(line.evidence))}")
    if target.read.accounts:
        lines = [*(f"account {_account(line)}" for line in new_accounts(entry, target)), *lines]
    return Addition("\n".join(lines), text.appended(lines, apart=True))


def _said(text: str) -> str:
    if (found := _MEANS_MORE.search(text)) is not None:
        raise CannotWriteError(f"{found[0]!r} has a meaning in a journal: write {text!r} without it")
    return text


def _account(line: EntryLine) -> str:
    if line.account[0] in "([;*!=~@" or ";" in line.account:
        raise CannotWriteError(f"{line.account!r} would not be read as an account: begin it with a letter")
    return line.account


def _amount(line: EntryLine, symbols: tuple[Symbol, ...]) -> str:
    fits = [each for each in symbols if each.currency == line.currency]
    decimal = symbols[-1].decimal if symbols else "."
    symbol = fits[-1] if fits else Symbol(line.currency, line.currency or "", first=False, decimal=decimal)
    digits = f"{abs(line.amount):f}".replace(".", symbol.decimal)
    sign = "-" if line.amount < Decimal(0) else ""
    name = symbol.written
    if _NEEDS_QUOTES.search(name):
        name = f'"{name}"'
    if symbol.first:
        return f"{name}{' ' if name.isalpha() else ''}{sign}{digits}"
    return f"{sign}{digits} {name}".rstrip()
