"""The index in memory: who is there, what they use, how they are related.

It is changed by reading the index only, and by leaving out what is about to be removed there. So it is
never more than one `sync` behind, and after a failed write one `reset` is enough.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ds4.core.step import SnapshotKind
from ds4.kv.disk.index import Index, ModelRow
from ds4.kv.disk.ledger import Ledger
from ds4.kv.disk.manifest import Entry, Manifest
from ds4.kv.disk.runs import Runs
from ds4.kv.disk.value import Family, value
from ds4.kv.value import effective_hits

PINNED = 0
"""The user number of what is about to be written."""

FamilyKey = tuple[str, str, str, str, SnapshotKind]


@dataclass(slots=True, eq=False)
class Faults:
    """What cannot be used: `entries` by number, with the reason; `segments` whose chunks are not known."""

    entries: dict[int, str] = field(default_factory=dict)
    segments: set[int] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.entries or self.segments)


@dataclass(frozen=True, slots=True)
class Worth:
    """`freed` bytes would be free without it."""

    value: float
    freed: int


class Catalog:
    def __init__(self) -> None:
        self.entries: dict[int, Entry] = {}
        self.ledger = Ledger()
        self.models: dict[tuple[str, str], ModelRow] = {}
        self.uses: dict[int, tuple[int, float]] = {}
        self._families: dict[FamilyKey, Family] = {}
        self._extent = 0
        self._spoiled = 0

    def sync(self, index: Index, now: float) -> Faults:
        """Raises sqlite3.Error, half done: then only a new catalog helps."""
        with index.reading():
            faults = Faults()
            self.models = index.models()
            # A last use in the future is from a clock that has been put back since.
            self.uses = {one: (hits, min(last, now)) for one, (hits, last) in index.numbers().items()}
            for number in self.entries.keys() - self.uses.keys():
                self.leave_out(number)
            faults.segments = self._read_segments(index)
            for number in sorted(self.uses.keys() - self.entries.keys()):
                self._read_entry(index, number, faults)
            return faults

    def leave_out(self, number: int) -> Entry:
        entry = self.entries.pop(number)
        self.uses.pop(number, None)
        self.ledger.release(number, entry.manifest.runs)
        family = self._families[_family(entry.manifest)]
        family.remove(number)
        if not family:
            del self._families[_family(entry.manifest)]
        return entry

    @contextmanager
    def pinned(self, pieces: Runs) -> Iterator[None]:
        """These chunks count as in use meanwhile."""
        self.ledger.hold(PINNED, pieces)
        try:
            yield
        finally:
            self.ledger.release(PINNED, pieces)

    def users_of(self, pieces: Runs) -> list[Entry]:
        """The checkpoints that need any chunk of these runs."""
        wanted = {segment: set(chunks.tolist()) for segment, chunks in self.ledger.chunks_in(pieces)}
        return [entry for entry in self.entries.values() if self._needs(entry.manifest.runs, wanted)]

    def in_segment(self, number: int) -> list[Entry]:
        return [one for one in self.entries.values() if (one.manifest.runs["segment"] == number).any()]

    def worths(self, now: float) -> dict[int, Worth]:
        freed = self.ledger.freed()
        worths = {}
        for key, family in self._families.items():
            model = self.models.get((key[0], key[1]))
            any_length = model is not None and model.any_length and key[4] is SnapshotKind.FULL
            for number, loss in family.losses(any_length=any_length):
                size = freed.get(number, 0) + len(self.entries[number].manifest.tokens)
                hits = effective_hits(*self.uses[number], now)
                worths[number] = Worth(value(hits, loss, size), size)
        return worths

    def least(self, now: float) -> Entry | None:
        """The one to go first: of lowest value, of equal ones the one not used for longest."""
        worths = self.worths(now)
        if not worths:
            return None
        return self.entries[min(worths, key=lambda one: (worths[one].value, self.uses[one][1], one))]

    def _needs(self, pieces: Runs, wanted: dict[int, set[int]]) -> bool:
        return any(
            not wanted[segment].isdisjoint(chunks.tolist())
            for segment, chunks in self.ledger.chunks_in(pieces)
            if segment in wanted
        )

    def _read_segments(self, index: Index) -> set[int]:
        known = index.segments()
        for number in self.ledger.segments.keys() - known.keys():
            self.ledger.drop(number)
        damaged: set[int] = set()
        for extent in index.extents(self._extent):
            self._extent = extent.number
            if extent.chunks is None:
                damaged.add(extent.segment)
            elif extent.segment in known:
                self.ledger.extend(extent.segment, extent.chunks)
        for number, piece in index.spoiled(self._spoiled):
            self._spoiled = number
            self.ledger.spoil(piece)
        return {one for one, size in known.items() if one in damaged or self._size(one) != size}

    def _size(self, number: int) -> int:
        held = self.ledger.segments.get(number)
        return held.size if held else 0

    def _read_entry(self, index: Index, number: int, faults: Faults) -> None:
        entry = index.entry(number)
        if entry is None:
            faults.entries[number] = "its index entry is damaged"
        elif not self.ledger.fits(entry.manifest.runs):
            faults.entries[number] = "its bytes are not where the index says"
        else:
            self.entries[number] = entry
            self.ledger.hold(number, entry.manifest.runs)
            manifest = entry.manifest
            self._families.setdefault(_family(manifest), Family()).add(number, manifest.tokens)


def _family(manifest: Manifest) -> FamilyKey:
    owner = manifest.owner
    return owner.model, owner.layout, owner.quant, manifest.namespace, manifest.kind
