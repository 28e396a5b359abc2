"""Which reader a file gets: decided by its content, whatever its name ends in."""

import re
from dataclasses import replace
from decimal import localcontext

from ..tables.identity import Identity, identify_table
from ..tables.package import is_package
from ..tables.source import Conventions, Source
from .beancount import read_beancount
from .books import Format, LedgerFile, Reader
from .general_ledger import WORDS, read_general_ledger
from .gnucash_xml import read_gnucash
from .gzipped import Unpacked, is_gzip, unpack
from .iif import read_iif
from .journal import read_hledger, read_ledger
from .sql import is_sqlite, read_database

_HEAD = 262_144
"""Bytes that are looked at; a journal may begin with a long list of accounts."""
_DIGITS = 80
"""Enough for each price of each amount that is read: nothing is ever rounded unasked."""
_START = rb"(?:\A(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?|[\r\n])"
_DAY = rb"[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}"
_BEANCOUNT = re.compile(
    _START
    + rb"(?:[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[ \t]+"
    + rb"(?:(?:open|close|pad|balance|commodity|price|event|note|document|query|custom)[ \t]"
    + rb'|(?:txn|[*!])[ \t]+")'
    + rb'|(?:option|plugin|include)[ \t]+")'
)
_IIF = re.compile(_START + rb"!(?:TRNS|SPL|ACCNT|HDR|CUST|VEND|CLASS|EMP|INVITEM)\t", re.IGNORECASE)
_GNUCASH = re.compile(rb"<(?:\w+:)?gnc-v2[\s>]|<gnc:")
_JOURNAL = re.compile(
    _START
    + rb"(?:(?:"
    + _DAY
    + rb"(?:=[0-9/.-]{3,10})?(?:[ \t][^\r\n]*)?|[0-9]{1,2}[/.-][0-9]{1,2}[ \t][^\r\n;,]*)"
    + rb"(?:\r\n|\r|\n)[ \t]+[^\s]"
    + rb"|[!@]?(?:account|commodity|alias|include|apply (?:account|tag|year)|decimal-mark)[ \t]"
    + rb"[^\r\n,;\t|]*(?:(?<=[ \t]);[^\r\n]*)?(?:[\r\n]|\Z)"
    + rb"|[=~][^\r\n=]+(?:\r\n|\r|\n)[ \t]+[^\s])"
)
_LEDGER = re.compile(
    _START
    + rb"(?:[!@]?(?:apply (?:tag|year|fixed)|end tag|bucket|A |capture|assert|check|def|define|eval|expr)\b"
    + rb"|[!@]?(?:python|test|value)\b|=[ \t]*(?:/|expr\b)|;[^\r\n]*-\*-[ \t]*ledger\b)"
)
"""What only ledger has; a journal without any of it is read as hledger reads it."""


_READERS: dict[Format, Reader] = {
    "beancount": read_beancount,
    "hledger": read_hledger,
    "ledger": read_ledger,
    "iif": read_iif,
    "gnucash": read_gnucash,
    "xlsx": read_general_ledger,
    "csv": read_general_ledger,
}


def format_of(source: Source) -> Format:
    """What a file is written in; what is nothing else is read as a table. A database may be GnuCash's."""
    if is_sqlite(source):
        return "sql"
    if is_package(source):
        return "xlsx"
    head = source.data[:_HEAD].replace(b"\0", b"")
    shown: tuple[tuple[re.Pattern[bytes], Format], ...] = (
        (_GNUCASH, "gnucash"),
        (_IIF, "iif"),
        (_BEANCOUNT, "beancount"),
        (_JOURNAL, "ledger" if _LEDGER.search(head) else "hledger"),
    )
    for pattern, written in shown:
        if pattern.search(head):
            return written
    return "csv"


def identify(source: Source) -> Identity | None:
    """What a decision about a file is kept under: how a table is laid out, else what it is written in."""
    if is_gzip(source):
        return Identity("layout:gzip", "compressed books")
    written = format_of(source)
    if written in {"csv", "xlsx"}:
        return identify_table(source, WORDS)
    return Identity(f"layout:{written}", f"books written in {written}")


def read(source: Source, conventions: Conventions, query: str | None = None) -> LedgerFile:
    """Reads one file of the books of any known format, compressed with gzip or not.

    Args:
        source: The file.
        conventions: Used where the file leaves it open.
        query: The statement that gives the lines of a database; None finds the table or view itself.

    Raises:
        SourceError: the file cannot be read; the message says why and what would be right.
        UndecidedError: two readings of it fit.
    """
    unpacked = unpack(source) if is_gzip(source) else Unpacked(source, ())
    written = format_of(unpacked.source)
    with localcontext(prec=_DIGITS):
        if written == "sql":
            done = read_database(unpacked.source, conventions, query)
        else:
            done = _READERS[written](unpacked.source, conventions)
    return replace(done, findings=(*unpacked.findings, *done.findings))
