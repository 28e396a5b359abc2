"""A compressed body, unpacked as far as a bound: a megabyte may well hold a gigabyte."""

import zlib

ACCEPTED = b"gzip, deflate"
"""What a server is told that it may send."""
_EITHER = 47
"""zlib's word for a header of gzip or zlib, whichever is there."""
_HEADLESS = -15
"""For deflate data without a header, as some servers send it."""
_MEMBER = b"\x1f"
"""How the next member of a gzip file begins; anything else behind one is padding."""


class Unpacking:
    """The bytes of one body, as they come."""

    def __init__(self, encoding: str, most: int) -> None:
        """Takes the Content-Encoding, and how many bytes are kept."""
        self.data = bytearray()
        self.problem = ""
        """Why the bytes are not the whole body; empty as long as they are."""
        self._most = most
        self._packed = 0
        self._encoding = encoding.strip().lower()
        self._is_packed = self._encoding in {"gzip", "x-gzip", "deflate"}
        self._unpacker = zlib.decompressobj(_EITHER)
        if not self._is_packed and self._encoding not in {"", "identity"}:
            self.problem = f"it is packed with {encoding[:40]!r}, which was not asked for"

    def takes(self, data: bytes) -> bool:
        """Adds what came; False when no more is wanted."""
        self._packed += len(data)
        try:
            self.data += self._unpacked(data) if self._is_packed else data
        except zlib.error as error:
            self.problem = f"its {self._encoding} data is damaged ({error})"
            return False
        if len(self.data) > self._most or self._packed > self._most:
            del self.data[self._most :]
            self.problem = f"it was cut at {self._most:,} bytes"
            return False
        return True

    def end(self) -> None:
        """To be called when all has come."""
        if self._is_packed and self._packed and not self._unpacker.eof:
            self.problem = f"its {self._encoding} data ends early"

    def _unpacked(self, data: bytes) -> bytes:
        """What the bytes hold, one more than there is room for at most; a file may have several members."""
        unpacked = b""
        while data and len(self.data) + len(unpacked) <= self._most:
            if self._unpacker.eof:
                if not data.startswith(_MEMBER):
                    break
                self._unpacker = zlib.decompressobj(_EITHER)
            unpacked += self._next(data, self._most - len(self.data) - len(unpacked) + 1)
            data = self._unpacker.unused_data
        return unpacked

    def _next(self, data: bytes, room: int) -> bytes:
        try:
            return self._unpacker.decompress(data, room)
        except zlib.error:
            if self.data or self._packed > len(data) or self._encoding != "deflate":
                raise
        self._unpacker = zlib.decompressobj(_HEADLESS)
        return self._unpacker.decompress(data, room)
