"""Which reader a file gets: decided by its content, whatever its name ends in."""

import re

from ..tables.source import Conventions, Source
from .bai2 import read_bai2
from .camt import read_camt
from .delimited import read_delimited
from .mt940 import read_mt940
from .ofx import read_ofx
from .qif import read_qif
from .statement import Reader, StatementFile

_HEAD = 4096
_MT940 = re.compile(
    rb"(?:^|[\r\n]|\{4:)[^\w\r\n]*:20:[^\r\n]*[\r\n]+(?::21:[^\r\n]*[\r\n]+)?:(?:25P?|28C?|60[FM]):"
)
_BAI2 = re.compile(rb"\A[^\w,]*01,[^\r\n]*[\r\n]+(?:88,[^\r\n]*[\r\n]+)*02,")
_FORMATS: tuple[tuple[re.Pattern[bytes], Reader], ...] = (
    (re.compile(rb"<OFX>|OFXHEADER|<BANKMSGSRSV1>|<STMTTRN>", re.IGNORECASE), read_ofx),
    (re.compile(rb"<(?:[\w.-]+:)?(?:Document[\s>]|BkToCstmr)"), read_camt),
    (
        re.compile(
            rb"(?:\A(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?|[\r\n])!(?:type:|account|option:|clear:)",
            re.IGNORECASE,
        ),
        read_qif,
    ),
    (_MT940, read_mt940),
    (_BAI2, read_bai2),
)
"""What shows a format near the beginning of a file, tried in this order."""


def reader_for(source: Source) -> Reader:
    """The reader of the file's format; what is nothing else is read as CSV."""
    head = source.data[:_HEAD].replace(b"\0", b"")
    return next((reader for shown, reader in _FORMATS if shown.search(head)), read_delimited)


def read(source: Source, conventions: Conventions) -> StatementFile:
    """Reads one statement file of any known format.

    Raises:
        SourceError: the file cannot be read; the message says why and what would be right.
    """
    return reader_for(source)(source, conventions)
