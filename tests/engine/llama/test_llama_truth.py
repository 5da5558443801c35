"""Reuse from everywhere, with real memories: copies, marks, parked states, a store, restarts.

- Ordered, with one row per step: every answer is that of a fresh scheduler on an empty engine, in each class;
  or, after loading more rows than a window has, one whose first token is as likely, but for the rounding.
- In batches, where sums round otherwise and a window's storage goes round: each memory is made of the tokens
  that the books name, and what was loaded is what was saved, to the last byte.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_reuse import Move, Owned, Told, moves, play
from llama_traffic import answer_alone

from ds4.core.sampling import Sampled
from ds4.core.usage import CacheSource
from ds4.engine.llama import BackendChoice, FlashAttention, LlamaEngine, LlamaOptions
from ds4.kv.policy import Knobs
from ds4.schedule.scheduler import CachePlan, Limits
from ds4.testing.inline_store import InlineStore
from ds4.testing.tiny import TINY_ARCHS, tiny_model

pytest_plugins = ("llama_fixtures",)
pytestmark = pytest.mark.engine

ONE_ROW = Limits(quantum=1, chunk=1)
CHUNKS = Limits(quantum=32, chunk=64)
SHORT, LONG = 72, 280
"""Rows that all prompts begin with. With LONG ones a window's storage goes round."""
WINDOWS = {"gemma3": 64, "deepseek4": 128}
ROUNDING = 0.1
"""Of logprobs; another memory's are off by several times as much."""
KNOBS = Knobs(min_tokens=32, cold_max=400, interval=48, trim=4, align=16, saves=True)

_EXAMPLES = settings().max_examples
fewer = settings(max_examples=max(1, _EXAMPLES // 5))

scripts = st.lists(moves, min_size=6, max_size=10)


@dataclass(frozen=True)
class Place:
    """`ram` in states of a long prompt."""

    ram: int
    marks: int
    store: bool

    def plan(self, engine: LlamaEngine, rows: int) -> CachePlan:
        state = engine.memory().kv_per_slot * rows // engine.info.n_ctx
        knobs = KNOBS if self.store else Knobs(min_tokens=32, interval=48, align=16)
        store = InlineStore() if self.store else None
        return CachePlan(knobs, ram=self.ram * state, marks=self.marks, store=store)


places = st.builds(
    Place, ram=st.sampled_from([0, 2, 9]), marks=st.sampled_from([0, 1 << 20, 64 << 20]), store=st.booleans()
)


@dataclass(frozen=True)
class Pair:
    """Two engines of one model: `busy` takes the traffic, `quiet` one thing at a time."""

    busy: LlamaEngine
    quiet: LlamaEngine
    window: int
    known: dict[tuple[tuple[int, ...], int], list[Sampled]] = field(default_factory=dict, repr=False)

    def fresh(self, told: Told) -> list[Sampled]:
        key = told.prompt, told.limit
        if key not in self.known:
            self.known[key] = answer_alone(Owned(self.quiet, ordered=True), *key, ONE_ROW)
        return self.known[key]


def opened(path: Path, n_ctx: int, slots: int) -> LlamaEngine:
    return LlamaEngine.open(
        LlamaOptions(
            path,
            n_ctx=n_ctx,
            n_slots=slots,
            n_batch=64,
            backend=BackendChoice.CPU,
            flash_attn=FlashAttention.OFF,
            threads=1,
            threads_batch=1,
        )
    )


@pytest.fixture(scope="module")
def pair(request: pytest.FixtureRequest, demo_path: Path) -> Iterator[Pair]:
    path = demo_path if request.param == "demo" else tiny_model(request.param)
    pair = Pair(opened(path, 256, 3), opened(path, 256, 1), WINDOWS.get(request.param, 1 << 30))
    yield pair
    pair.busy.close()
    pair.quiet.close()


def check_like_a_fresh_server(pair: Pair, place: Place, script: list[Move]) -> list[Told]:
    engine = Owned(pair.busy, ordered=True, window=pair.window)
    answers = asyncio.run(play(engine, script, ONE_ROW, place.plan(pair.busy, SHORT), SHORT))
    for told in answers:
        fresh = pair.fresh(told)
        assert told.sampled == fresh or (told.moved and like(told.sampled[0], fresh[0])), told.report
    return answers


def like(one: Sampled, other: Sampled) -> bool:
    """Whether the likeliest tokens are as likely."""
    here, there = dict(one.top), dict(other.top)
    both = here.keys() & there.keys()
    return len(both) > 2 and all(abs(here[token] - there[token]) < ROUNDING for token in both)


@pytest.mark.parametrize("pair", TINY_ARCHS, indirect=True)
@fewer
@given(places, scripts)
def test_ordered_single_rows_answer_like_a_fresh_server(pair: Pair, place: Place, script: list[Move]) -> None:
    check_like_a_fresh_server(pair, place, script)


@pytest.mark.parametrize("pair", ["demo"], indirect=True)
def test_the_demo_answers_like_a_fresh_server(pair: Pair) -> None:
    """Two equal prompts, of which one waits for the other; a restart; the next turn, from the store."""
    first = Move(talk=0, how=4, part=0, count=2, tokens=2, turns=0, cancels=False, restart=False)
    script = [first, replace(first, how=0, part=1, count=1, restart=True)]
    answers = check_like_a_fresh_server(pair, Place(ram=2, marks=0, store=True), script)
    sources = [told.report.source for told in answers if told.report]
    assert sources == [CacheSource.NONE, CacheSource.COPIED, CacheSource.DISK]


@pytest.fixture(scope="module")
def batching(request: pytest.FixtureRequest) -> Iterator[LlamaEngine]:
    engine = opened(tiny_model(request.param), 1024, 3)
    yield engine
    engine.close()


@pytest.mark.parametrize("batching", TINY_ARCHS, indirect=True)
@fewer
@given(places, scripts)
def test_batches_are_built_on_what_was_saved(batching: LlamaEngine, place: Place, script: list[Move]) -> None:
    engine = Owned(batching, ordered=False)
    for told in asyncio.run(play(engine, script, CHUNKS, place.plan(batching, LONG), LONG)):
        assert told.report is not None
        assert told.report.reused + told.report.computed == len(told.prompt)
        assert told.report.computed >= 1
        assert told.sampled
