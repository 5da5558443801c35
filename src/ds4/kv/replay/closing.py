"""The closing markup of an answer that the server ended behind its last call. Pure.

Callers who forbid parallel calls get the first one as soon as it is complete, before the model has closed the
block around it. The client's copy, as the template writes it, shows what is missing.
"""

import numpy as np

from ds4.core.plan import Ids
from ds4.core.ports import Tokenizer

TAIL_ROWS = 24
LONGEST = 16
"""Characters by which the end of the answer is looked for in the copy; fewer where these do not occur."""


def closing(sampled: Ids, copy: Ids, tokenizer: Tokenizer) -> Ids:
    """What `copy` has behind the last place that looks like the end of `sampled`."""
    said = b"".join(map(tokenizer.piece, sampled[-TAIL_ROWS:].tolist()))
    pieces = [tokenizer.piece(row) for row in copy[-2 * TAIL_ROWS :].tolist()]
    written = b"".join(pieces)
    for size in range(min(LONGEST, len(said)), 0, -1):
        at = written.rfind(said[-size:])
        if at >= 0:
            return _behind(at + size, pieces, copy, tokenizer)
    return copy[:0]


def _behind(at: int, pieces: list[bytes], copy: Ids, tokenizer: Tokenizer) -> Ids:
    """The rows of `copy` from byte `at` of its last `pieces`; a row cut there is encoded anew."""
    left = len(pieces)
    end = sum(map(len, pieces))
    while left and end - len(pieces[left - 1]) >= at:
        left -= 1
        end -= len(pieces[left])
    rows = copy[copy.size - (len(pieces) - left) :]
    if end == at:
        return rows
    rest = pieces[left - 1][len(pieces[left - 1]) - (end - at) :]
    first = tokenizer.encode_plain(rest.decode("utf-8", "replace"))
    return np.concatenate([np.array(first, np.int32), rows])
