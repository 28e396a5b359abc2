"""Which reader a file gets: decided by its content, whatever its name ends in."""

import re
from dataclasses import replace

from ..tables.identity import Identity, identify_table, of_account, of_layout
from ..tables.package import is_package
from ..tables.source import Conventions, Source, SourceError
from .bai2 import read_bai2
from .camt import read_camt
from .delimited import WORDS, read_delimited
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
    """The reader of the file's format; what is nothing else is read as CSV or XLSX."""
    if is_package(source):
        return read_delimited
    head = source.data[:_HEAD].replace(b"\0", b"")
    return next((reader for shown, reader in _FORMATS if shown.search(head)), read_delimited)


_NAMED: dict[Reader, re.Pattern[bytes]] = {
    read_ofx: re.compile(rb"<ACCTID>\s*([^<\r\n]{1,64})", re.IGNORECASE),
    read_camt: re.compile(rb"<(?:[\w.-]+:)?(?:IBAN|Othr>\s*<(?:[\w.-]+:)?Id)>\s*([^<\r\n]{1,64})"),
    read_qif: re.compile(rb"!Account[ \t]*[\r\n]+(?:[^N^!\r\n][^\r\n]*[\r\n]+){0,8}N([^\r\n]{1,200})", re.I),
    read_mt940: re.compile(rb":25P?:([^\r\n]{1,64})"),
    read_bai2: re.compile(rb"(?:^|[\r\n])03,([^,/\r\n]{1,64})"),
}
"""What names the account near the beginning of a file."""


def identify(source: Source) -> Identity | None:
    """What a decision about a file is kept under: its account, else its layout; None when it has none."""
    reader = reader_for(source)
    if reader is read_delimited:
        return identify_table(source, WORDS)
    head = source.data[: 16 * _HEAD].replace(b"\0", b"")
    named = _NAMED[reader].search(head)
    if named is not None:
        return of_account(named[1].decode("utf-8", errors="replace"))
    return of_layout("QIF", _qif_fields(head)) if reader is read_qif else None


def _qif_fields(head: bytes) -> list[str]:
    """The fields that a QIF file uses and how its first date is written, since it names no bank."""
    lines = [line.strip() for line in re.split(rb"[\r\n]+", head[:_HEAD])]
    letters = sorted({chr(line[0]) for line in lines if line[:1].isalpha()})
    date = next((line[1:] for line in lines if line.startswith(b"D")), b"")
    return [*letters, re.sub(rb"[0-9]+", b"9", date).decode("utf-8", errors="replace")]


def read(source: Source, conventions: Conventions) -> StatementFile:
    """Reads one statement file of any known format.

    Raises:
        SourceError: the file cannot be read; the message says why and what would be right.
    """
    reader = reader_for(source)
    done = reader(source, conventions)
    named = {each.currency for each in done.statements}
    if "currency" in conventions.firm and not named & {None, conventions.currency}:
        listed = ", ".join(sorted(code for code in named if code))
        what = f"names its currency itself ({listed}), so currency={conventions.currency!r} cannot be"
        raise SourceError(source.file, what)
    return replace(done, format=reader.__name__.removeprefix("read_"))
