"""A scheduler under random traffic, looked into after every turn, and what a fresh one would have answered.

Rules:
- An answer depends on every byte before it, so rows that are not the prompt's change the answer.
- After each turn the books must be what the engine holds, token by token, and the index what is kept.
- Two conversations of different callers say the same, so that whatever crosses over is found.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from zlib import crc32

import numpy as np

from ds4.core.errors import EngineError
from ds4.core.events import Event, Failed, Fed, Finish
from ds4.core.job import Job, JobKind
from ds4.core.plan import Boundary, BoundaryKind, PromptPlan
from ds4.core.ports import Piece
from ds4.core.step import Snapshot, SnapshotKind, StepPlan, StepResult, Trim
from ds4.core.usage import MissReason
from ds4.engine.scripted.engine import ScriptedEngine, ScriptedOptions
from ds4.formats.registry import family_named
from ds4.kv.policy import Knobs
from ds4.observe.records import PrefillChunk, PromptStarted, Record
from ds4.schedule.scheduler import CachePlan, Delivery, Limits, Scheduler
from ds4.testing.clock import FakeClock
from ds4.testing.inline_store import InlineStore
from ds4.testing.jobs import GREEDY

KNOBS = Knobs(min_tokens=32, cold_max=300, interval=96, trim=4, align=16, saves=True)
LIMITS = Limits(quantum=16, chunk=64)
N_CTX = 512
LONGEST = 330
"""Prompts of more rows begin anew."""
PATIENCE = 5000
"""Turns after which a request hangs."""


@dataclass(frozen=True)
class Setting:
    """`ram` and `marks` in bytes; a state of 100 rows has some 10,000."""

    trim: Trim
    slots: int
    ram: int
    marks: int
    store: bool


@dataclass
class Answer:
    """A Reader that keeps what was sampled."""

    ids: list[int] = field(default_factory=list)
    text: bytes = b""

    def feed(self, piece: Piece) -> Fed:
        self.ids.append(piece.id)
        self.text += piece.data
        return Fed(())

    def flush(self, *, cut: bool = False) -> Fed:
        del cut
        return Fed(())


@dataclass
class Asked:
    """One request; `prompt` is its text."""

    plan: PromptPlan
    limit: int
    prompt: bytes
    answer: Answer = field(default_factory=Answer)
    end: Event | None = None


class StubbornEngine(ScriptedEngine):
    """Refuses to move states as often as `refusals` says. `broken`: the next step fails when it is done."""

    refusals = 0
    broken = False

    def step(self, plan: StepPlan) -> StepResult:
        result = super().step(plan)
        if self.broken:
            self.broken = False
            raise EngineError("broken")
        return result

    def copy(self, source: int, target: int) -> None:
        self._may_refuse()
        super().copy(source, target)

    def export(self, slot: int, kind: SnapshotKind) -> Snapshot:
        self._may_refuse()
        return super().export(slot, kind)

    def load(self, slot: int, snapshot: Snapshot) -> None:
        try:
            self._may_refuse()
        except EngineError:
            self.clear(slot)
            raise
        super().load(slot, snapshot)

    def _may_refuse(self) -> None:
        if self.refusals:
            self.refusals -= 1
            raise EngineError("not now")


def reply(prompt: str) -> str:
    seen = crc32(prompt.encode())
    return f"[{seen}] " + "so be it " * (seen % 4)


class Words:
    """Prompts from messages in an engine's tokens. A message is a text, or tokens as the model said them."""

    def __init__(self, engine: ScriptedEngine) -> None:
        self._tokenizer = engine.tokenizer
        self._begin, self._end = (
            engine.tokenizer.controls["<|im_start|>"],
            engine.tokenizer.controls["<|im_end|>"],
        )

    def plan(self, messages: Sequence[str | tuple[int, ...]], namespace: str) -> PromptPlan:
        ids: list[int] = []
        boundaries = []
        for number, message in enumerate(messages):
            kind = BoundaryKind.LAST_USER_START if number == len(messages) - 1 else BoundaryKind.TURN_START
            boundaries.append(Boundary(len(ids), BoundaryKind.SYSTEM_END if number == 1 else kind, number))
            said = self._tokenizer.encode_plain(message) if isinstance(message, str) else message
            ids += [self._begin, *said, self._end]
        ids.append(self._begin)
        return PromptPlan((), tuple(boundaries), namespace, "", np.array(ids, np.int32))

    def text(self, ids: Iterable[int]) -> bytes:
        return b"".join(map(self._tokenizer.piece, ids))


class World:
    """Everything is asked of one scheduler; `restart` puts another in its place, with an empty engine."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.clock = FakeClock()
        engine = StubbornEngine.open(
            ScriptedOptions(
                reply,
                family_named("chatml"),
                n_ctx=N_CTX,
                n_slots=setting.slots,
                n_batch=128,
                trim=setting.trim,
                window=24,
                pace=self.clock.advance,
            )
        )
        assert isinstance(engine, StubbornEngine)
        self.engine = engine
        self.words = Words(engine)
        self.store = InlineStore() if setting.store else None
        self.asked: dict[str, Asked] = {}
        self.cancelled: set[str] = set()
        self.harmed = False
        self._computed: dict[str, int] = {}
        self._started: list[PromptStarted] = []
        self.scheduler = self._serve()

    @property
    def live(self) -> list[str]:
        return [
            name for name, asked in self.asked.items() if asked.end is None and name not in self.cancelled
        ]

    def ask(self, plan: PromptPlan, limit: int) -> Asked:
        name = f"job{len(self.asked)}"
        asked = Asked(plan, limit, self.words.text(plan.ids.tolist()))
        self.asked[name] = asked
        self.scheduler.submit(Job(name, JobKind.CHAT, plan, GREEDY, limit, asked.answer), limit)
        return asked

    def cancel(self, name: str) -> None:
        self.scheduler.cancel(name)
        self.cancelled.add(name)

    def turn(self) -> bool:
        busy = self.scheduler.turn()
        self.check()
        return busy

    def run_out(self) -> None:
        for _ in range(PATIENCE):
            if not self.live:
                return
            if not self.turn():
                if self.store:
                    self.store.arrive()
                self.clock.advance(31.0)
        raise AssertionError(f"{self.live} hang")

    def restart(self) -> None:
        """Only what is in the store is left. Nothing may be live."""
        self.scheduler.persist()
        if self.store:
            self.store = self.store.reopened()
        for slot in range(self.setting.slots):
            self.engine.clear(slot)
        self.scheduler = self._serve()

    def check(self) -> None:
        """The books, the index, the budgets; and that what began since the last time is the caller's own."""
        assert self.scheduler.faults() == []
        for slot, ids in enumerate(self.scheduler.books()):
            assert ids is None or ids == self.engine.held(slot)
        started, self._started = self._started, []
        for record in started:
            reused = self.words.text(self.engine.held(record.slot)[: record.report.reused])
            known = self._told(record.subject.namespace, but=record.subject.job)
            assert not reused or any(text.startswith(reused) for text in known), "nobody has told this caller"

    def check_answers(self) -> None:
        for name, asked in self.asked.items():
            failed = isinstance(asked.end, Failed) and asked.end.error.message == "broken"
            if name not in self.cancelled and not failed:
                self._check_answer(name, asked)

    def _check_answer(self, name: str, asked: Asked) -> None:
        assert isinstance(asked.end, Finish), (name, asked.end)
        assert asked.answer.text == fresh_answer(tuple(asked.plan.ids.tolist()), asked.limit)
        report, usage = asked.end.report, asked.end.usage
        assert report.reused + report.computed == usage.prompt
        assert usage.cached == report.reused
        assert usage.prompt == asked.plan.rows or report.healed
        assert self._computed[name] == report.computed >= 1
        assert usage.completion == len(asked.answer.ids)
        assert self.harmed or report.reason is not MissReason.DAMAGED

    def _told(self, namespace: str, but: str) -> list[bytes]:
        """What a caller said and heard in all other requests."""
        return [
            asked.prompt + asked.answer.text
            for name, asked in self.asked.items()
            if asked.plan.namespace == namespace and name != but
        ]

    def _serve(self) -> Scheduler:
        setting = self.setting
        cache = CachePlan(replace(KNOBS, saves=setting.store), setting.ram, setting.marks, self.store)
        return Scheduler(self.engine, LIMITS, self.clock, self._observe, self._deliver, cache)

    def _observe(self, record: Record) -> None:
        match record:
            case PromptStarted():
                self._started.append(record)
                self._computed[record.subject.job] = 0
            case PrefillChunk():
                self._computed[record.subject.job] += record.rows

    def _deliver(self, out: Sequence[Delivery]) -> None:
        for name, events in out:
            asked = self.asked[name]
            if isinstance(events[-1], Finish | Failed):
                assert asked.end is None, f"{name} ended twice"
                asked.end = events[-1]


@cache
def fresh_answer(ids: tuple[int, ...], limit: int) -> bytes:
    """Of a scheduler that has nothing to reuse."""
    world = World(Setting(Trim.ANY, slots=1, ram=0, marks=0, store=False))
    asked = world.ask(PromptPlan((), (), "", "", np.array(ids, np.int32)), limit)
    world.run_out()
    assert isinstance(asked.end, Finish)
    assert asked.end.report.reused == 0
    return asked.answer.text


class How(StrEnum):
    """How a conversation goes on: with the answer told back as text, as the tokens it was, changed or not at
    all; or the same again, or with the last or an earlier question changed, or from the beginning."""

    TOLD = "told"
    EXACT = "exact"
    CHANGED = "changed"
    DROPPED = "dropped"
    RETRY = "retry"
    LAST = "last"
    EARLIER = "earlier"
    ANEW = "anew"


SYSTEM = "You answer whatever is asked about the old garden behind the house, where oaks and elms stand. " * 2
CALLERS = ("", "", "else", "else")
QUESTIONS = (
    "why?",
    "how tall is the oak that stands by the river, and how old is the elm beside it, do you know?",
    "what grows there",
    "tell me a long story about the tree, the river and the iron gate, one that begins with bread " * 2,
)


@dataclass
class Talk:
    """One conversation of one caller."""

    namespace: str
    messages: list[str | tuple[int, ...]] = field(default_factory=lambda: [SYSTEM])
    last: Asked | None = None

    def go_on(self, words: Words, how: How, question: str) -> PromptPlan:
        self._change(how, question)
        plan = words.plan(self.messages, self.namespace)
        if plan.rows > LONGEST:
            self.messages = [SYSTEM, question]
            plan = words.plan(self.messages, self.namespace)
        return plan

    def _change(self, how: How, question: str) -> None:
        if how is How.ANEW or self.last is None or len(self.messages) < 2:
            self.messages = [SYSTEM, question]
        elif how is How.LAST:
            self.messages[-1] = question
        elif how is How.EARLIER:
            self.messages[1] = question
        elif how is not How.RETRY:
            self.messages += [*self._told(self.last.answer, how), question]

    def _told(self, answer: Answer, how: How) -> list[str | tuple[int, ...]]:
        text = answer.text.decode()
        said: dict[How, list[str | tuple[int, ...]]] = {
            How.TOLD: [text],
            How.EXACT: [tuple(answer.ids)],
            How.CHANGED: [text[:6] + " or not"],
        }
        return said.get(how, [])
