"""A sum over a whole blob, in the place of the slot's number, which nothing reads.

Rules: a NaN in a slot's memory outlives its clearing, since rows that do not count are multiplied by nothing,
and a NaN times nothing is one again. So a blob is only loaded as it was saved. The sum takes one pass, at the
speed of the memory.
"""

import numpy as np

from ds4.engine.llama.snapshot.check import Damaged, Data
from ds4.engine.llama.snapshot.shape import START, WORD

_SUM = slice(START.size - WORD.size, START.size)


def seal(data: Data) -> None:
    """Writes the sum into `data`."""
    data[_SUM] = np.frombuffer(WORD.pack(_sum(data)), dtype=np.uint8)


def check_seal(data: Data) -> None:
    """Raises Damaged where `data` is not what was sealed."""
    if data.size < START.size or data[_SUM].tobytes() != WORD.pack(_sum(data)):
        raise Damaged("its sum differs")


def _sum(data: Data) -> int:
    """Of all words, and the last bytes as one more, modulo 2^32."""
    body = data[START.size :]
    whole = body.size - body.size % WORD.size
    words = np.add.reduce(body[:whole].view("<u4"), dtype=np.uint32)
    return (int(words) + int.from_bytes(body[whole:].tobytes(), "little")) % (1 << 32)
