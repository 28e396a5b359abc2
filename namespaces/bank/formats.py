"""Which reader a file gets: decided by its content, whatever its name ends in."""

import re

from ..tables.source import Conventions, Source
from .delimited import read_delimited
from .ofx import read_ofx
from .statement import Reader, StatementFile

_HEAD = 4096
_OFX = re.compile(rb"<OFX>|OFXHEADER|<BANKMSGSRSV1>|<STMTTRN>", re.IGNORECASE)


def reader_for(source: Source) -> Reader:
    """The reader of the file's format; what is nothing else is read as CSV."""
    head = source.data[:_HEAD].replace(b"\0", b"")
    return read_ofx if _OFX.search(head) else read_delimited


def read(source: Source, conventions: Conventions) -> StatementFile:
    """Reads one statement file of any known format.

    Raises:
        SourceError: the file cannot be read; the message says why and what would be right.
    """
    return reader_for(source)(source, conventions)
