"""Traffic that reuses from everywhere (slots, RAM, a store, through marks), and an engine that knows whose
rows are where.

Rules:
- `Owned` notes the tokens behind each memory and each snapshot; a mark on top of other tokens raises.
- What was loaded must give the bytes that were saved, and its rows must be the last positions.
- After each turn the scheduler's books must name the tokens that are there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from hypothesis import strategies as st

from ds4.core.events import Fed
from ds4.core.plan import Boundary, BoundaryKind, PromptPlan
from ds4.core.ports import Piece, Sampler
from ds4.core.sampling import Sampled, Sampling
from ds4.core.step import Frontier, MemoryUse, ModelInfo, Snapshot, SnapshotKind, StepPlan, StepResult
from ds4.core.usage import CacheReport
from ds4.engine.llama import LlamaEngine, LlamaTokenizer
from ds4.observe.records import Finished, PromptStarted, Record
from ds4.schedule.scheduler import CachePlan, Limits
from ds4.testing.backend import Pump
from ds4.testing.clock import FakeClock
from ds4.testing.inline_store import InlineStore
from ds4.testing.jobs import make_job

GREEDY = Sampling(temperature=0, logprobs=5)
PARTS = 4


class Owned:
    """Implements core.ports.Engine over a LlamaEngine, with every slot empty.

    `ordered`: as if it could not batch. A slot is `moved` once it has loaded more rows than `window`: these
    lie in other places than if they had been computed there, and sums round otherwise.
    """

    def __init__(self, engine: LlamaEngine, *, ordered: bool, window: int = 1 << 30) -> None:
        self._engine = engine
        self.info: ModelInfo = engine.info
        self.caps = replace(engine.caps, native_batch=not ordered)
        self.tokenizer: LlamaTokenizer = engine.tokenizer
        self.held: list[tuple[int, ...]] = [()] * engine.info.n_slots
        self.moved = [False] * engine.info.n_slots
        self._window = window
        self._saved: list[tuple[Snapshot, tuple[int, ...], bool]] = []
        self.empty()

    def empty(self) -> None:
        for slot in range(self.info.n_slots):
            self.clear(slot)

    def sampler(self, sampling: Sampling, prompt: Sequence[int]) -> Sampler:
        return self._engine.sampler(sampling, prompt)

    def step(self, plan: StepPlan) -> StepResult:
        result = self._engine.step(plan)
        for work in plan.works:
            self.held[work.slot] += tuple(np.asarray(work.rows, np.int32).tolist())
        return result

    def trim(self, slot: int, rows: int) -> bool:
        done = self._engine.trim(slot, rows)
        if done:
            self.held[slot] = self.held[slot][:rows]
        return done

    def clear(self, slot: int) -> None:
        self._engine.clear(slot)
        self.held[slot], self.moved[slot] = (), False

    def copy(self, source: int, target: int) -> None:
        self._engine.copy(source, target)
        self.held[target], self.moved[target] = self.held[source], self.moved[source]

    def export(self, slot: int, kind: SnapshotKind) -> Snapshot:
        snapshot = self._engine.export(slot, kind)
        self._saved.append((snapshot, self.held[slot], self.moved[slot]))
        return snapshot

    def load(self, slot: int, snapshot: Snapshot) -> None:
        tokens, moved = next((tokens, moved) for saved, tokens, moved in self._saved if saved is snapshot)
        below = self.held[slot][: snapshot.rows]
        assert snapshot.kind is SnapshotKind.FULL or below == tokens, "a mark on other rows than its own"
        self._engine.load(slot, snapshot)
        self.held[slot] = tokens
        partial = snapshot.kind is SnapshotKind.PARTIAL
        self.moved[slot] = moved or len(tokens) > self._window or (partial and self.moved[slot])
        assert self._engine.frontier(slot).pos_max + 1 == len(tokens) == snapshot.rows
        assert self._engine.export(slot, snapshot.kind) == snapshot

    def frontier(self, slot: int) -> Frontier:
        return self._engine.frontier(slot)

    def memory(self) -> MemoryUse:
        return self._engine.memory()

    def close(self) -> None:
        self._engine.close()


@dataclass(frozen=True)
class Move:
    """The next prompt of a talk, `count` times, after `turns` turns.

    `how` it goes on: 0 with the answer, 1 without, 2 the same again, 3 with the last part edited, 4 from the
    beginning. `cancels` the request before. `restart`: first all is answered, and only the store is left.
    """

    talk: int
    how: int
    part: int
    count: int
    tokens: int
    turns: int
    cancels: bool
    restart: bool


moves = st.builds(
    Move,
    talk=st.integers(0, 2),
    how=st.sampled_from([0, 0, 0, 1, 2, 3, 4]),
    part=st.integers(0, PARTS - 1),
    count=st.sampled_from([1, 1, 2]),
    tokens=st.integers(1, 6),
    turns=st.sampled_from([0, 3, 60, 400]),
    cancels=st.sampled_from([False, False, False, True]),
    restart=st.sampled_from([False] * 7 + [True]),
)


@dataclass
class Told:
    """A Reader that keeps what was sampled, with logprobs that follow every bit of the logits.

    `prompt` is what the slot held before: the request's own tokens, or others of the same text. `moved` as in
    `Owned`.
    """

    plan: PromptPlan
    limit: int
    sampled: list[Sampled] = field(default_factory=list)
    prompt: tuple[int, ...] = ()
    moved: bool = False
    report: CacheReport | None = None

    def feed(self, piece: Piece) -> Fed:
        assert piece.sampled is not None
        self.sampled.append(piece.sampled)
        return Fed(())

    def flush(self, *, cut: bool = False) -> Fed:
        del cut
        return Fed(())


async def play(
    engine: Owned, moves: Sequence[Move], limits: Limits, cache: CachePlan, size: int
) -> list[Told]:
    """The answers that were not cancelled. All prompts begin with the same `size` rows, and each part has a
    quarter of that."""
    return _Desk(engine, limits, cache, size).play(moves)


class _Desk:
    def __init__(self, engine: Owned, limits: Limits, cache: CachePlan, size: int) -> None:
        self.engine = engine
        self.told: dict[str, Told] = {}
        self._limits = limits
        self._cache = cache
        self._begins = [300 + row % 50 for row in range(size)]
        self._parts = [[20 + 60 * n + row % 40 for row in range(size // 4)] for n in range(PARTS)]
        self._talks: list[list[list[int]]] = [[] for _ in range(3)]
        self._last: list[Told | None] = [None] * 3
        self._slots: dict[str, int] = {}
        self._ended: list[Finished] = []
        self._pump = self._serve()

    def play(self, moves: Sequence[Move]) -> list[Told]:
        for move in moves:
            for _ in range(move.turns):
                self._step()
            if move.cancels and self.told:
                self._pump.backend.cancel(f"job{len(self.told) - 1}")
            if move.restart:
                self._restart()
            self._ask(move)
        self._run_out()
        return [told for told in self.told.values() if told.report is not None]

    def _ask(self, move: Move) -> None:
        talk = self._talks[move.talk]
        part, last = self._parts[move.part], self._last[move.talk]
        if move.how == 4 or not talk or sum(map(len, talk)) > 2 * len(self._begins):
            talk[:] = [self._begins, part]
        elif move.how == 3:
            talk[-1] = part
        elif move.how != 2:
            answer = [sampled.id for sampled in last.sampled] if last and move.how == 0 else []
            talk += [answer + part]
        for _ in range(move.count):
            name = f"job{len(self.told)}"
            self.told[name] = self._last[move.talk] = told = Told(planned(talk), move.tokens)
            job = make_job(name, [1], max_tokens=move.tokens, reader=told, sampling=GREEDY)
            self._pump.backend.submit(replace(job, plan=told.plan))

    def _serve(self) -> Pump:
        pump = Pump(self.engine, FakeClock(), limits=self._limits, observe=self._observe, cache=self._cache)
        pump.hold()
        return pump

    def _restart(self) -> None:
        self._run_out()
        self._pump.scheduler.persist()
        if isinstance(self._cache.store, InlineStore):
            self._cache = replace(self._cache, store=self._cache.store.reopened())
        self.engine.empty()
        self._pump = self._serve()

    def _run_out(self) -> None:
        # Twice: what has just been read begins in the turn after.
        while self._step() or self._step():
            pass

    def _step(self) -> bool:
        busy = self._pump.step()
        books = self._pump.scheduler.books()
        assert all(ids is None or ids == held for ids, held in zip(books, self.engine.held, strict=True))
        for record in self._ended:
            self._note(record)
        self._ended.clear()
        return busy

    def _note(self, end: Finished) -> None:
        if end.finish != "cancelled":
            assert end.error is None
            told = self.told[end.subject.job]
            slot = self._slots[end.subject.job]
            told.prompt = self.engine.held[slot][: end.subject.prompt]
            told.moved = self.engine.moved[slot]
            told.report = end.report

    def _observe(self, record: Record) -> None:
        match record:
            case PromptStarted():
                self._slots[record.subject.job] = record.slot
            case Finished():
                self._ended.append(record)


def planned(messages: Sequence[list[int]]) -> PromptPlan:
    starts = np.cumsum([0, *map(len, messages)]).tolist()[:-1]
    kinds = [BoundaryKind.TURN_START] * len(messages)
    kinds[1], kinds[-1] = BoundaryKind.SYSTEM_END, BoundaryKind.LAST_USER_START
    boundaries = tuple(map(Boundary, starts, kinds, range(len(messages))))
    return PromptPlan((), boundaries, "", "", np.concatenate(messages).astype(np.int32))
