"""Text handed to the client as an opaque string, to be given back unread. Nothing is remembered for it.

base64 of: one byte for the version, four for the CRC-32 of the text, then the text, deflated.
It is no proof of anything: whoever talks to us may put any words into the model's mouth anyway.
"""

import base64
import binascii
import zlib

from ds4.core.errors import BadRequest

VERSION = 1
MAX_BYTES = 64 * 1024 * 1024
"""Of all texts of one request: no more than a body may hold. What comes back is a stranger's, and a few bytes
of deflate can stand for far more."""
_HEAD = 5


def seal(text: str) -> str:
    data = text.encode(errors="replace")
    head = bytes([VERSION]) + zlib.crc32(data).to_bytes(4, "big")
    return base64.b64encode(head + zlib.compress(data)).decode()


class Seals:
    """The sealed texts of one request. Together they may have `max_bytes`."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._left = max_bytes

    def open(self, sealed: str) -> str | None:
        """None for what was not sealed here. Raises BadRequest when the request's texts become too large."""
        try:
            raw = base64.b64decode(sealed, validate=True)
            if raw[:1] != bytes([VERSION]):
                return None
            data = self._inflated(raw[_HEAD:])
            return data.decode() if zlib.crc32(data) == int.from_bytes(raw[1:_HEAD], "big") else None
        except (binascii.Error, zlib.error, ValueError):
            return None

    def _inflated(self, data: bytes) -> bytes:
        """Counts also what turns out to be no text of ours: it took the memory."""
        text = zlib.decompressobj().decompress(data, self._left + 1)
        if len(text) > self._left:
            raise BadRequest(f"the sealed texts of this request are larger than {self._max_bytes} bytes")
        self._left -= len(text)
        return text
