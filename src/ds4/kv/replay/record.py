"""An answer as it was sampled, and how it is found again: by all the rows in front of it."""

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np

from ds4.core.plan import Ids
from ds4.kv.replay.meaning import Meaning

DIGEST_BYTES = 16
ID_BYTES = 4


class Rows:
    """A digest of a growing row of ids, the last of them behind it (see `last_id`)."""

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=DIGEST_BYTES)
        self._last = bytes(ID_BYTES)

    def add(self, ids: Ids) -> None:
        written = np.ascontiguousarray(ids, dtype="<i4").tobytes()
        self._hash.update(written)
        self._last = written[-ID_BYTES:] or self._last

    def digest(self) -> bytes:
        return self._hash.digest() + self._last


def digest_of(ids: Ids) -> bytes:
    rows = Rows()
    rows.add(ids)
    return rows.digest()


def last_id(digest: bytes) -> int:
    """0 where there are no ids."""
    return int.from_bytes(digest[-ID_BYTES:], "little", signed=True)


@dataclass(frozen=True, eq=False)
class Record:
    """An answer behind `rows` rows with the digest `prefix`.

    `ids` begin with its marker and end before the end token. Unless `closed`, it was ended behind a call, and
    closing markup may be missing.
    """

    namespace: str
    prefix: bytes
    rows: int
    ids: Ids
    meaning: Meaning
    closed: bool = True

    @cached_property
    def key(self) -> bytes:
        """The same answer at the same place has the same key, in every run."""
        digest = blake2b(self.namespace.encode() + b"\0" + self.prefix, digest_size=DIGEST_BYTES)
        digest.update(np.ascontiguousarray(self.ids, dtype="<i4").tobytes())
        return digest.digest()

    @property
    def weight(self) -> int:
        """In tool calls; an answer without any counts as one."""
        return max(1, len(self.meaning.calls))

    @property
    def size(self) -> int:
        """About how many bytes it takes in memory."""
        return 512 + self.ids.nbytes + self.meaning.size
