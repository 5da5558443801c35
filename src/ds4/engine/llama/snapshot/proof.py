"""Finds the shapes of a context's blobs at the start, and proves that what is made of them can be loaded.

Rules: starts from and leaves an empty memory. The rows are few and mean nothing.
"""

from collections.abc import Mapping

from ds4.core.errors import EngineError
from ds4.core.step import SnapshotKind
from ds4.engine.llama.capi import Context
from ds4.engine.llama.probe import probe_tokens, run_rows
from ds4.engine.llama.snapshot.check import Claim, Data
from ds4.engine.llama.snapshot.discover import discover
from ds4.engine.llama.snapshot.portable import Portable
from ds4.engine.llama.snapshot.shape import Shape

_Shapes = Mapping[SnapshotKind, Shape]


def find_portable(context: Context) -> Portable:
    """Without shapes where a blob is of an unknown kind, or does not survive the round trip."""
    first, last = 0, context.n_slots - 1
    shapes = _shapes_after(context, first, _run(context, first, 0))
    rows = _run(context, last, 1)
    portable = Portable(shapes, context.n_slots, context.n_vocab)
    known = len(shapes) == len(SnapshotKind) and shapes == _shapes_after(context, last, rows)
    if not known or not _survives(context, portable, rows):
        portable = Portable({}, context.n_slots, context.n_vocab)
    context.clear_all()
    return portable


def _run(context: Context, slot: int, which: int) -> int:
    context.clear_all()
    tokens = probe_tokens(context.n_vocab, which)
    run_rows(context, [(slot, tokens)])
    return tokens.size


def _shapes_after(context: Context, slot: int, rows: int) -> _Shapes:
    claim = Claim(slot, context.n_slots, rows, context.n_vocab)
    found = {kind: discover(claim, _export(context, slot, kind)) for kind in SnapshotKind}
    return {kind: shape for kind, shape in found.items() if shape is not None}


def _survives(context: Context, portable: Portable, rows: int) -> bool:
    """Whether the last slot's blobs, loaded into the first, give the same blobs again."""
    try:
        kept = _packed(context, portable, context.n_slots - 1, rows)
        loaded = all(_load(context, portable, kind, data, rows) for kind, data in kept.items())
        return loaded and _packed(context, portable, 0, rows) == kept
    except EngineError:
        return False


def _packed(context: Context, portable: Portable, slot: int, rows: int) -> dict[SnapshotKind, memoryview]:
    return {kind: portable.pack(_export(context, slot, kind), slot, kind, rows) for kind in SnapshotKind}


def _load(context: Context, portable: Portable, kind: SnapshotKind, data: memoryview, rows: int) -> bool:
    partial = kind is SnapshotKind.PARTIAL
    loaded = context.load(0, portable.unpack(data, kind, rows), partial=partial)
    return loaded and (not partial or context.remove_from(0, rows))


def _export(context: Context, slot: int, kind: SnapshotKind) -> Data:
    return context.export(slot, partial=kind is SnapshotKind.PARTIAL)
