"""What it costs to find where a prompt can begin, with many checkpoints kept.

Usage: python -m bench.lookup [--rows 100000] [--kept 1000] [--repeats 200]

`find` is the prefix index alone; `decide` is the whole decision before a request starts: index, slots, text,
prices and explanation. Both on the engine thread, so the target for each is 1 ms. Neither waits for anything,
so CPU time is counted: other processes are not in it, but for the caches they empty.
"""

import argparse
import gc
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import thread_time

import numpy as np

from bench.machine import busy, describe
from ds4.core.clock import SystemClock
from ds4.core.plan import Ids, PromptPlan
from ds4.core.step import Snapshot, SnapshotKind
from ds4.core.usage import SaveReason
from ds4.engine.scripted.engine import ScriptedEngine, ScriptedOptions
from ds4.formats.registry import family_named
from ds4.kv.checkpoint import Checkpoint, Save
from ds4.kv.index import PrefixIndex
from ds4.kv.policy import Knobs
from ds4.schedule.explain import explain
from ds4.schedule.keeper import Keeper
from ds4.schedule.place import Placement, place
from ds4.schedule.rates import Rates
from ds4.schedule.rewrite import comparer
from ds4.schedule.slots import Slot
from ds4.schedule.stock import Stock
from ds4.schedule.survey import Surveyor
from ds4.testing.backend import ignore
from ds4.testing.inline_store import InlineStore

SLOTS = 4
LETTERS, WORDS = 256, 300
"""Ids below are bytes, ids from `WORDS` on are words of the scripted vocabulary."""


@dataclass(frozen=True, slots=True)
class Scene:
    name: str
    kept: list[Ids]


def scenes(rows: int, kept: int, n_vocab: int) -> Iterator[Scene]:
    random = np.random.default_rng(1)

    def text(size: int) -> Ids:
        return random.integers(WORDS, n_vocab, size, dtype=np.int32)

    preamble, turns = text(rows // 5), 20
    talks = [np.concatenate([preamble, text(rows - preamble.size)]) for _ in range(max(1, kept // turns))]
    step = (rows - preamble.size) // turns
    yield Scene(
        "shared preamble", [talk[: preamble.size + step * n] for talk in talks for n in range(1, turns + 1)]
    )
    chain = text(rows)
    yield Scene("one chain", [chain[: rows * n // kept] for n in range(1, kept + 1)])
    yield Scene("unrelated", [text(rows) for _ in range(kept)])


def prompts(longest: Ids, n_vocab: int) -> dict[str, Ids]:
    """Prompts as long as what is kept."""
    random = np.random.default_rng(2)
    new = random.integers(WORDS, n_vocab, longest.size, dtype=np.int32)
    middle, end = longest.size // 2, longest.size - 500
    return {
        "goes on": np.concatenate([longest[:end], new[end:]]),
        "edited in the middle": np.concatenate([longest[:middle], new[middle:]]),
        "unknown": new,
    }


def retold(ids: Ids, piece: Callable[[int], bytes]) -> Ids:
    """Twenty answers of it in other tokens: here as bytes."""
    parts = np.array_split(ids, 20)
    return np.concatenate(
        [np.array([*b"".join(map(piece, part[:50].tolist())), *part[50:]], np.int32) for part in parts]
    )


class Desk:
    """Everything that takes part in a decision, with the longest of what is kept in one slot."""

    def __init__(self, scene: Scene, n_ctx: int) -> None:
        options = ScriptedOptions(lambda prompt: prompt, family_named("chatml"), n_ctx=n_ctx, n_slots=SLOTS)
        self.engine = ScriptedEngine.open(options)
        clock, self.rates = SystemClock(), Rates()
        store = InlineStore()
        for number, ids in enumerate(scene.kept):
            snapshot = Snapshot(SnapshotKind.FULL, ids.size, ids.size, ())
            store.save(Save(_checkpoint(number, ids), snapshot, SaveReason.COLD))
        stock = Stock(clock, self.rates, ram=0, marks=0, store=store)
        stock.listen()
        slots = [Slot(index) for index in range(SLOTS)]
        for slot, ids in zip(slots, scene.kept[::-1], strict=False):
            slot.rows.extend(ids)
        keeper = Keeper(self.engine, stock, self.rates, clock, Knobs(), ignore)
        compare = comparer(self.engine.tokenizer)
        self._surveyor = Surveyor(self.engine, slots, stock, keeper, clock, compare)
        self.find = stock.find

    def decide(self, plan: PromptPlan) -> None:
        bases = self._surveyor.bases(plan)
        choice = place(self._surveyor.targets(), bases, plan.rows, self.rates.prices())
        if isinstance(choice, Placement):
            explain(choice, bases, plan, self.engine.tokenizer.piece)


def _checkpoint(number: int, ids: Ids) -> Checkpoint:
    """As large as a small model's state: what it would be does not matter, only that it is worth a read."""
    return Checkpoint(f"{number:032x}", "", ids, SnapshotKind.FULL, 100 * ids.size)


def microseconds(work: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Median and 99th percentile."""
    work()
    taken = []
    for _ in range(repeats):
        started = thread_time()
        work()
        taken.append(thread_time() - started)
    median, late = np.percentile(taken, [50, 99])
    return 1e6 * float(median), 1e6 * float(late)


def memory(scene: Scene) -> str:
    """Kilobytes per checkpoint: the index's own, and the rows that come with each checkpoint."""
    kept = [_checkpoint(number, ids) for number, ids in enumerate(scene.kept)]
    gc.collect()
    tracemalloc.start()
    index = PrefixIndex()
    for checkpoint in kept:
        index.add(checkpoint)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    rows = sum(ids.nbytes for ids in scene.kept)
    return f"{size / len(index) / 1024:.1f} | {rows / len(index) / 1024:.1f}"


def measure(scene: Scene, rows: int, repeats: int) -> None:
    desk = Desk(scene, 2 * rows)
    piece, n_vocab = desk.engine.tokenizer.piece, desk.engine.tokenizer.n_vocab
    asked = prompts(scene.kept[-1], n_vocab)
    asked["retold"] = retold(scene.kept[-1], piece)
    per_checkpoint = memory(scene)
    gc.collect()
    gc.freeze()
    for name, ids in asked.items():
        plan = PromptPlan((), (), "", "", ids)
        found = microseconds(lambda ids=ids: desk.find("", ids), repeats)  # type: ignore[misc]
        decided = microseconds(lambda plan=plan: desk.decide(plan), repeats)  # type: ignore[misc]
        figures = " | ".join(f"{median:.0f} / {late:.0f}" for median, late in (found, decided))
        print(f"| {scene.name} | {name} | {figures} | {per_checkpoint} |", flush=True)
    gc.unfreeze()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--kept", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=200)
    args = parser.parse_args()
    print(describe())
    print(f"load before: {busy():.2f}; {args.kept} checkpoints of up to {args.rows} rows, {SLOTS} slots\n")
    print("| kept | prompt | find, us: median / p99 | decide, us | index, KB each | their rows, KB each |")
    print("| --- | --- | --- | --- | --- | --- |")
    options = ScriptedOptions(lambda prompt: prompt, family_named("chatml"))
    n_vocab = ScriptedEngine.open(options).tokenizer.n_vocab
    for scene in scenes(args.rows, args.kept, n_vocab):
        measure(scene, args.rows, args.repeats)


if __name__ == "__main__":
    main()
