"""What is kept: in RAM, and in a store that outlives the process, behind one index.

Rules:
- Belongs to the engine thread; nothing here waits for a disk. A checkpoint that lies on disk alone is
  fetched first, into the `hand`, and from there goes to whoever asked or into RAM.
- A key is in the index as long as it is in RAM, in the hand or on disk.
- What failed to load is dropped everywhere and never offered again.
"""

from collections.abc import Collection

from ds4.core.plan import Ids
from ds4.core.ports import Clock
from ds4.core.step import Snapshot, SnapshotKind
from ds4.kv.checkpoint import Appeared, Checkpoint, CheckpointStore, Fetched, Save, Vanished
from ds4.kv.index import Match, PrefixIndex
from ds4.kv.parked import ParkedStates
from ds4.schedule.place import Kind
from ds4.schedule.rates import Move, Rates


class Stock:
    """`ram` bytes hold whole states, `marks` bytes PARTIAL ones."""

    def __init__(
        self, clock: Clock, rates: Rates, *, ram: int, marks: int, store: CheckpointStore | None
    ) -> None:
        self._rates = rates
        self._store = store
        self._index = PrefixIndex()
        self._ram = {
            SnapshotKind.FULL: ParkedStates(ram, clock),
            SnapshotKind.PARTIAL: ParkedStates(marks, clock),
        }
        self._disk: dict[str, Appeared] = {}
        self._fetching: set[str] = set()
        self._hand: dict[str, Fetched] = {}
        self._refused: dict[str, str] = {}

    @property
    def writes(self) -> bool:
        """Whether anything outlives the process."""
        return self._store is not None

    def __len__(self) -> int:
        return len(self._index)

    def listen(self) -> None:
        """Takes in what the store has to say."""
        for news in self._store.news() if self._store else ():
            match news:
                case Appeared():
                    self._appeared(news)
                case Vanished(key):
                    self._disk.pop(key, None)
                    self._forget_if_gone(key)
                case Fetched():
                    self._arrived(news)

    def find(self, namespace: str, ids: Ids) -> Match:
        return self._index.find(namespace, ids)

    def where(self, key: str) -> Kind:
        return Kind.RAM if key in self._hand or self._in_ram(key) else Kind.DISK

    def on_disk(self, key: str) -> bool:
        return key in self._disk

    def other_quant(self, key: str) -> str:
        found = self._disk.get(key)
        return found.other_quant if found else ""

    def fetch(self, key: str) -> None:
        """Starts reading what lies on disk alone; once is enough."""
        if self._store and self.where(key) is Kind.DISK and key not in self._fetching:
            self._fetching.add(key)
            self._store.fetch(key)

    def coming(self, key: str) -> bool:
        return key in self._fetching

    def abandon(self, key: str) -> None:
        """Its read takes too long: it is not offered again while this process runs."""
        self._fetching.discard(key)
        self._disk.pop(key, None)
        self._forget_if_gone(key)

    def fetched(self, key: str) -> Fetched | None:
        """The read behind a snapshot in the hand."""
        return self._hand.get(key)

    def snapshot(self, key: str) -> Snapshot | None:
        """Counts as a use."""
        if self._store and key in self._disk:
            self._store.touch(key)
        for states in self._ram.values():
            if (found := states.get(key)) is not None:
                return found
        held = self._hand.get(key)
        return held.snapshot if held else None

    def let_go(self, wanted: Collection[str]) -> None:
        """Puts what is in the hand and not `wanted` by anybody into RAM, if there is room."""
        for key in [key for key in self._hand if key not in wanted]:
            snapshot, found = self._hand.pop(key).snapshot, self._disk.get(key)
            if snapshot is not None and found is not None:
                self.keep(found.checkpoint, snapshot)
            self._forget_if_gone(key)

    def can_keep(self, kind: SnapshotKind, size: int) -> bool:
        return self._ram[kind].fits(size)

    def keep(self, checkpoint: Checkpoint, snapshot: Snapshot, *, replaces: bool = False) -> bool:
        """In RAM; what is worth less leaves. False when it does not fit.

        `replaces`: the shorter states it contains leave first, since it can be cut back to them.
        """
        contained = self._contained(checkpoint) if checkpoint.kind is SnapshotKind.FULL else []
        gone = self._ram[checkpoint.kind].put(checkpoint, snapshot, contained, replaces=replaces)
        if gone is None:
            return False
        if checkpoint.key not in self._index:
            self._index.add(checkpoint)
        for left in gone:
            self._forget_if_gone(left.key)
        return True

    def write(self, save: Save, *, wait: bool = False) -> bool:
        """Hands over to the store. False without one, or when it takes no more; `wait`: for room."""
        if self._store is None:
            return False
        self._refused.pop(save.checkpoint.key, None)
        if not self._store.save(save):
            if not wait:
                return False
            self._store.flush()
            return self._store.save(save)
        return True

    def parked(self) -> tuple[tuple[Checkpoint, Snapshot], ...]:
        """All that is in RAM, whole states before marks."""
        return tuple(
            (checkpoint, snapshot)
            for states in self._ram.values()
            for checkpoint in states.checkpoints()
            if (snapshot := states.peek(checkpoint.key)) is not None
        )

    def discard(self, key: str, why: str) -> None:
        """It could not be loaded."""
        if self._store:
            if self._disk.pop(key, None):
                self._store.discard(key, why)
            else:
                self._refused[key] = why
        self._hand.pop(key, None)
        for states in self._ram.values():
            states.drop(key)
        self._index.remove(key)

    def _appeared(self, news: Appeared) -> None:
        checkpoint = news.checkpoint
        why = self._refused.pop(checkpoint.key, None)
        if why is not None and self._store:
            # It was still being written when it could not be loaded.
            self._store.discard(checkpoint.key, why)
            return
        self._disk[checkpoint.key] = news
        if checkpoint.key not in self._index:
            self._index.add(checkpoint)

    def faults(self) -> list[str]:
        """Where the index and what is kept disagree, and budgets that do not hold; for tests."""
        kept = {*self._hand, *self._disk}.union(*(map(_keys, self._ram.values())))
        found = [f"{key} is kept and not in the index" for key in kept if key not in self._index]
        if len(self._index) > len(kept):
            found.append(f"the index has {len(self._index)} keys, of which {len(kept)} are kept")
        for kind, states in self._ram.items():
            held = (states.peek(checkpoint.key) for checkpoint in states.checkpoints())
            size = sum(snapshot.size for snapshot in held if snapshot)
            if not size == states.used <= states.budget:
                found.append(f"{kind}: {size} bytes held, {states.used} in the books of {states.budget}")
        return found

    def _arrived(self, fetched: Fetched) -> None:
        self._fetching.discard(fetched.key)
        if fetched.snapshot is None or fetched.key not in self._disk:
            return
        self._hand[fetched.key] = fetched
        self._rates.moved(Move.FETCH, fetched.snapshot.size, fetched.seconds)

    def _contained(self, whole: Checkpoint) -> list[str]:
        within = self._index.find(whole.namespace, whole.ids).within
        return [c.key for c in within if c.kind is SnapshotKind.FULL and c.rows < whole.rows]

    def _in_ram(self, key: str) -> bool:
        return any(key in states for states in self._ram.values())

    def _forget_if_gone(self, key: str) -> None:
        if key not in self._disk and self.where(key) is Kind.DISK:
            self._index.remove(key)


def _keys(states: ParkedStates) -> set[str]:
    return {checkpoint.key for checkpoint in states.checkpoints()}
