"""The scripted engine: steps, slots, snapshots and costs are real, only the model is a Python file.

A job's answer belongs to its sampler. The first time a sampler asks for logits, the text of all the
slot's tokens is the prompt of `reply`; from then on the logits steer that sampler along the answer.
So the answer depends on the tokens alone, not on how they came into the slot.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

import numpy as np

from ds4.core.errors import EngineError
from ds4.core.ports import Sampler, Tokenizer
from ds4.core.sampling import Sampling
from ds4.core.step import (
    Caps,
    Frontier,
    Identity,
    MemoryUse,
    ModelInfo,
    Outcome,
    Snapshot,
    SnapshotKind,
    StepPlan,
    StepResult,
    Trim,
    Work,
)
from ds4.engine.sampler import NumpySampler
from ds4.engine.scripted.bpe import packaged_bpe
from ds4.engine.scripted.checks import Limits, check_slot, check_step
from ds4.engine.scripted.cost import Cost
from ds4.engine.scripted.reply import Replies, Reply, cut
from ds4.engine.scripted.script import ReplyTo, Script, load_script
from ds4.engine.scripted.state import Layout, SlotState, layout_for
from ds4.engine.scripted.steering import Steering
from ds4.engine.scripted.tokenizer import ScriptedTokenizer
from ds4.formats.family import Family
from ds4.formats.spellings import Spellings

Pace = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class ScriptedOptions:
    """`script` is a file, or the reply function itself.

    `trim` picks the memory class, `window` its window in rows. `cost` overrides the script's.
    `pace` is called with the virtual seconds of every step and snapshot. `tokenizer` and
    `chat_template` are a real model's where one is named. `seed` moves the noise and the cuts.
    """

    script: Path | ReplyTo
    family: Family
    n_ctx: int = 32768
    n_slots: int = 1
    n_batch: int = 512
    trim: Trim = Trim.ANY
    window: int = 128
    native_batch: bool = True
    cost: Cost | None = None
    pace: Pace | None = None
    seed: int = 0
    tokenizer: Tokenizer | None = None
    chat_template: str | None = None


class ScriptedEngine:
    """`core.ports.Engine`. Drafts are never accepted; embedding rows are refused."""

    def __init__(self, options: ScriptedOptions, script: Script, tokenizer: Tokenizer) -> None:
        self._script = script
        self._tokenizer = tokenizer
        self._seed = options.seed
        self._cost = options.cost or script.cost
        self._pace = options.pace or (time.sleep if script.realtime else _no_wait)
        self._limits = Limits(options.n_ctx, options.n_batch, tokenizer.n_vocab)
        self._layout = layout_for(options.trim, options.window)
        self._slots = tuple(SlotState(self._layout) for _ in range(options.n_slots))
        self._spellings = Spellings(tokenizer.controls)
        self._eog = _eog(tokenizer)
        self._steering = Steering(tokenizer.n_vocab, self._eog[:1], options.seed)
        self._replies = Replies(self._new_reply, keep=16 + 4 * options.n_slots)
        self._info = _info(options, script, tokenizer)
        self._caps = _caps(options)

    @classmethod
    def open(cls, options: ScriptedOptions) -> "ScriptedEngine":
        """Raises StartError where the script cannot be loaded."""
        source = options.script
        script = load_script(source) if isinstance(source, Path) else Script("function", source)
        tokenizer = options.tokenizer or ScriptedTokenizer(options.family, packaged_bpe())
        return cls(options, script, tokenizer)

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def caps(self) -> Caps:
        return self._caps

    @property
    def tokenizer(self) -> Tokenizer:
        return self._tokenizer

    def sampler(self, sampling: Sampling, prompt: Sequence[int]) -> Sampler:
        return NumpySampler(sampling, prompt, self._limits.n_vocab, self._eog)

    def step(self, plan: StepPlan) -> StepResult:
        ordered = plan.ordered or not self._caps.native_batch
        check_step(plan, self._limits, [len(slot.ids) for slot in self._slots], ordered=ordered)
        outcomes = tuple(map(self._run, plan.works))
        seconds = self._cost.step(plan.works, ordered=ordered)
        self._pace(seconds)
        return StepResult(outcomes, seconds)

    def copy(self, source: int, target: int) -> None:
        self._slot(target).copy_from(self._slot(source))

    def trim(self, slot: int, rows: int) -> bool:
        return self._slot(slot).trim(rows)

    def clear(self, slot: int) -> None:
        self._slot(slot).clear()

    def export(self, slot: int, kind: SnapshotKind) -> Snapshot:
        snapshot = self._slot(slot).export(kind)
        self._pace(self._cost.moving(snapshot.size))
        return snapshot

    def load(self, slot: int, snapshot: Snapshot) -> None:
        self._slot(slot).load(snapshot, n_ctx=self._limits.n_ctx, n_vocab=self._limits.n_vocab)
        self._pace(self._cost.moving(snapshot.size))

    def frontier(self, slot: int) -> Frontier:
        return self._slot(slot).frontier()

    def held(self, slot: int) -> tuple[int, ...]:
        """The tokens a slot's memory was made of; for tests. No real engine could say."""
        return tuple(self._slot(slot).ids)

    def memory(self) -> MemoryUse:
        return MemoryUse(model=0, kv_per_slot=self._layout.slot_bytes(self._limits.n_ctx), workspace=0)

    def close(self) -> None:
        self._replies.clear()
        for slot in self._slots:
            slot.clear()

    def _slot(self, slot: int) -> SlotState:
        check_slot(slot, len(self._slots))
        return self._slots[slot]

    def _run(self, work: Work) -> Outcome:
        slot = self._slots[work.slot]
        slot.append(np.asarray(work.rows).tolist())
        if work.sampler is None:
            return Outcome((), len(work.rows))
        try:
            reply = self._replies.of(work.sampler, slot.ids)
            sampled = self._steering.sample(work.sampler, reply, len(slot.ids), greedy=work.greedy)
        except EngineError as error:
            return Outcome((), len(work.rows), error)
        return Outcome((sampled,), len(work.rows))

    def _new_reply(self, rows: Sequence[int]) -> Reply:
        data = b"".join(map(self._tokenizer.piece, rows))
        text = self._script.reply(data.decode("utf-8", "replace"))
        seed = blake2b(data, digest_size=8, key=str(self._seed).encode()).digest()
        ids = cut(self._tokenizer, self._spellings, text, int.from_bytes(seed, "little"))
        return Reply(self._tokenizer, ids, len(rows))


def _no_wait(_seconds: float) -> None:
    pass


def _eog(tokenizer: Tokenizer) -> tuple[int, ...]:
    """Every token that ends an answer, the usual one first."""
    ends = {token for token in tokenizer.controls.values() if tokenizer.is_eog(token)}
    usual = [] if tokenizer.eos is None else [tokenizer.eos]
    return (*usual, *sorted(ends - set(usual)))


def _info(options: ScriptedOptions, script: Script, tokenizer: Tokenizer) -> ModelInfo:
    return ModelInfo(
        name="scripted",
        arch="scripted",
        family=options.family.name,
        path=script.source,
        n_ctx=options.n_ctx,
        n_ctx_train=options.n_ctx,
        n_slots=options.n_slots,
        n_batch=options.n_batch,
        n_vocab=tokenizer.n_vocab,
        backend="scripted",
        chat_template=options.chat_template,
        identity=_identity(options, tokenizer),
    )


def _identity(options: ScriptedOptions, tokenizer: Tokenizer) -> Identity:
    """A state is a function of the tokens, so whose it is depends on what the tokens stand for."""
    pieces = _digest(options.family.name, tuple(map(tokenizer.piece, range(tokenizer.n_vocab))))
    return Identity(pieces, "scripted", _layout_words(layout_for(options.trim, options.window)))


@lru_cache(maxsize=16)
def _digest(family: str, pieces: tuple[bytes, ...]) -> str:
    """Remembered, since engines are made by the hundred where nothing but the script differs."""
    digest = blake2b(family.encode(), digest_size=16)
    for piece in pieces:
        digest.update(len(piece).to_bytes(4, "little") + piece)
    return digest.hexdigest()


def _layout_words(layout: Layout) -> str:
    kept = f" window={layout.window}x{layout.window_layers}" if layout.window_layers else ""
    return f"scripted {layout.trim} layers={layout.append_layers}{kept}"


def _caps(options: ScriptedOptions) -> Caps:
    return Caps(
        trim=options.trim,
        native_batch=options.native_batch,
        memory_class=f"scripted {options.trim}",
        window=options.window if options.trim is Trim.WINDOW else 0,
        batching_note="scripted" if options.native_batch else "scripted, turned off",
        min_quantum=options.family.min_quantum,
    )
