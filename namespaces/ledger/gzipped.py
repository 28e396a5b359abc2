"""Files that are compressed with gzip, as GnuCash keeps its books; unpacked to a bounded size."""

import gzip
import io
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from ..tables.source import MAX_FILE_BYTES, Finding, Source, SourceError

_MAGIC = b"\x1f\x8b"
_STEP = 1 << 20


class Unpacked(NamedTuple):
    """What was in a compressed file."""

    source: Source
    findings: tuple[Finding, ...]


def is_gzip(source: Source) -> bool:
    """True for a file that is compressed with gzip."""
    return source.data.startswith(_MAGIC)


def unpack(source: Source, limit: int = MAX_FILE_BYTES) -> Unpacked:
    """Unpacks a file; of one that is cut off or damaged, what can be had.

    Raises:
        SourceError: it holds more bytes than the limit, or nothing can be had of it.
    """
    parts: list[bytes] = []
    findings: tuple[Finding, ...] = ()
    try:
        parts.extend(_pieces(source, limit))
    except EOFError:
        what = "its compressed part is cut off: what follows is not read"
        findings = (Finding(what, source.file, None, "error"),)
    except (OSError, zlib.error) as error:
        what = f"its compressed part is damaged ({error}): what follows may be wrong or missing"
        findings = (Finding(what, source.file, None, "error"),)
    if not parts:
        what = "is compressed with gzip, and nothing of it can be unpacked; save it anew"
        raise SourceError(source.file, what)
    return Unpacked(Source(source.file, b"".join(parts)), findings)


def _pieces(source: Source, limit: int) -> Iterator[bytes]:
    size = 0
    with gzip.GzipFile(fileobj=io.BytesIO(source.data)) as stream:
        while piece := stream.read1(_STEP):
            size += len(piece)
            if size > limit:
                raise SourceError(source.file, f"unpacks to more than {limit} bytes; split it")
            yield piece
