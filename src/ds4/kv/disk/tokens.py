"""Token ids in the index: compressed, to about half. Nothing else is: states shrink by a few percent only."""

import zlib

_QUICK = 1


def pack_tokens(tokens: bytes) -> bytes:
    return zlib.compress(tokens, _QUICK)


def unpack_tokens(packed: bytes) -> bytes:
    """Raises ValueError."""
    try:
        return zlib.decompress(packed)
    except zlib.error as error:
        raise ValueError(str(error)) from None
