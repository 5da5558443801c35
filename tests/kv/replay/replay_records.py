"""Records made up, for tests of what keeps them."""

from zlib import crc32

import numpy as np

from ds4.kv.replay.meaning import Call, Meaning, arguments_digest
from ds4.kv.replay.record import Record, digest_of
from ds4.kv.replay.spots import SpotArray, rows_of


def record(
    name: str = "a",
    *,
    place: int = 0,
    namespace: str = "",
    calls: int = 1,
    rows: int = 40,
    closed: bool = True,
) -> Record:
    """`place` is where in a conversation, `name` tells answers at one place apart."""
    ids = np.random.default_rng(crc32(name.encode())).integers(0, 1 << 30, rows, np.int32)
    made = tuple(Call(f"{name}{n}", arguments_digest(f"[{n}]")) for n in range(calls))
    meaning = Meaning((f"I am {name} \ud83d é",), made, ("Hm.",))
    return Record(namespace, prefix_of(place), place, ids, meaning, closed)


def prefix_of(place: int) -> bytes:
    return digest_of(np.arange(place, dtype=np.int32))


def lengths(spots: SpotArray) -> list[int]:
    return [int(row) for row in rows_of(spots)]


def same(one: Record, other: Record) -> bool:
    return (one.key, one.namespace, one.prefix, one.rows, one.ids.tolist(), one.closed) == (
        other.key,
        other.namespace,
        other.prefix,
        other.rows,
        other.ids.tolist(),
        other.closed,
    )
