"""Text handed to the client as an opaque string, to be given back unread. Nothing is remembered for it.

base64 of: one byte for the version, four for the CRC-32 of the text, then the text, deflated.
It is no proof of anything: whoever talks to us may put any words into the model's mouth anyway.
"""

import base64
import binascii
import zlib

VERSION = 1
MAX_BYTES = 16 * 1024 * 1024
"""Of the text. What comes back is a stranger's, and a few bytes of deflate can stand for far more."""
_HEAD = 5


def seal(text: str) -> str:
    data = text.encode(errors="replace")
    head = bytes([VERSION]) + zlib.crc32(data).to_bytes(4, "big")
    return base64.b64encode(head + zlib.compress(data)).decode()


def unseal(sealed: str) -> str | None:
    """None for what was not sealed here."""
    try:
        raw = base64.b64decode(sealed, validate=True)
        if raw[:1] != bytes([VERSION]):
            return None
        data = zlib.decompressobj().decompress(raw[_HEAD:], MAX_BYTES)
        return data.decode() if zlib.crc32(data) == int.from_bytes(raw[1:_HEAD], "big") else None
    except (binascii.Error, zlib.error, ValueError):
        return None
