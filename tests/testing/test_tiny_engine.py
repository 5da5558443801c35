"""What the engine can do with each architecture's memory, on the tiny models.

Bit equality is asked for wherever the same rows were computed in the same chunks. A window's storage is a
ring: once it has wrapped, a restored snapshot is laid out in another order, sums are taken in that order,
and only near equality with the saved slot is left. Copies keep the order, and stay exact.
"""

from collections.abc import Iterator

import numpy as np
import pytest

from ds4.core.plan import Ids
from ds4.core.ports import Allowed, Engine, Logits, Mark
from ds4.core.sampling import Sampled
from ds4.core.step import Frontier, SnapshotKind, StepPlan, Trim, Work
from ds4.engine.llama import BackendChoice, LlamaEngine, LlamaOptions
from ds4.testing.tiny import TINY_ARCHS, tiny_model
from ds4.testing.tiny.architectures import ARCHITECTURES

pytestmark = pytest.mark.engine

TRIM = {
    "llama": Trim.ANY,
    "gemma3": Trim.WINDOW,
    "deepseek4": Trim.BOUNDARY,
    "glm-dsa": Trim.ANY,
    "glm5-next": Trim.BOUNDARY,
    "qwen4exp": Trim.BOUNDARY,
    "qwen35moe": Trim.BOUNDARY,
    "deepseek32": Trim.ANY,
}
# The most that logits of a restored window may be off, in twice what was measured. Wrong rows are off by 0.4
# and more. These prompts meet no tie between two experts, which rounding can turn either way.
WRAPPED_OFF = {"gemma3": 0.01, "deepseek4": 0.05}

only_boundary = pytest.mark.parametrize(
    "opened", [arch for arch, trim in TRIM.items() if trim is Trim.BOUNDARY], indirect=True
)
only_window = pytest.mark.parametrize("opened", ["gemma3"], indirect=True)

SLOTS = 4
CHUNK = 100
# Longer than a window and one chunk together, so that rings wrap.
LONG = 300

_RANDOM = np.random.default_rng(7)
PROMPT: Ids = _RANDOM.integers(0, 1000, LONG).astype(np.int32)
SUFFIX: Ids = _RANDOM.integers(0, 1000, 20).astype(np.int32)
OTHER: Ids = _RANDOM.integers(0, 1000, 20).astype(np.int32)


class Recorder:
    """A greedy sampler that keeps the last logits it was shown."""

    def __init__(self) -> None:
        self.seen: Logits = np.zeros(0, np.float32)

    def sample(
        self,
        logits: Logits,
        *,
        greedy: bool = False,  # noqa: ARG002
        allowed: Allowed | None = None,  # noqa: ARG002
    ) -> Sampled:
        self.seen = logits.copy()
        return Sampled(int(logits.argmax()))

    def accept(self, token: int) -> None:
        """Greedy choice has no state."""

    def mark(self) -> Mark:
        return Mark(None)

    def rollback(self, mark: Mark) -> None:
        """Greedy choice has no state."""


@pytest.fixture(scope="module", params=TINY_ARCHS)
def opened(request: pytest.FixtureRequest) -> Iterator[Engine]:
    engine = LlamaEngine.open(
        LlamaOptions(
            tiny_model(request.param),
            n_ctx=512,
            n_slots=SLOTS,
            n_batch=128,
            n_ubatch=128,
            backend=BackendChoice.CPU,
            threads=1,
            threads_batch=1,
        )
    )
    yield engine
    engine.close()


@pytest.fixture
def engine(opened: Engine) -> Engine:
    """With empty slots."""
    for slot in range(SLOTS):
        opened.clear(slot)
    return opened


def feed(engine: Engine, slot: int, pos: int, ids: Ids) -> Logits:
    """In chunks that start at multiples of CHUNK from `pos`; the logits of the last row."""
    recorder = Recorder()
    for start in range(0, ids.size, CHUNK):
        rows = ids[start : start + CHUNK]
        engine.step(StepPlan((Work(slot, pos + start, rows, recorder),)))
    return recorder.seen


def decode(engine: Engine, slot: int, pos: int, logits: Logits, count: int) -> list[Logits]:
    """Greedily, `count` more rows after the one that gave `logits`."""
    steps = [logits]
    for row in range(count):
        steps.append(feed(engine, slot, pos + row, np.array([steps[-1].argmax()], np.int32)))
    return steps[1:]


def check_restored(engine: Engine, restored: Logits, saved: Logits, rows: int) -> None:
    """`rows` were in the memory when it was saved."""
    if rows == LONG and engine.info.arch in WRAPPED_OFF:
        assert np.abs(restored - saved).max() < WRAPPED_OFF[engine.info.arch]
    else:
        assert np.array_equal(restored, saved)


def test_prefill_and_decode_give_live_logits(engine: Engine) -> None:
    logits = feed(engine, 0, 0, PROMPT[:60])
    steps = [logits, *decode(engine, 0, 60, logits, 20)]
    assert all(step.shape == (engine.info.n_vocab,) for step in steps)
    assert all(np.isfinite(step).all() and step.std() > 0.1 for step in steps)
    assert len({int(step.argmax()) for step in steps}) > 5
    assert engine.frontier(0).pos_max == 79


def test_memory_class_is_found_by_probing(engine: Engine) -> None:
    assert engine.caps.trim is TRIM[engine.info.arch]
    assert engine.caps.window == (64 if engine.info.arch == "gemma3" else 0)
    assert engine.memory().kv_per_slot > 0


def test_batching_is_native(engine: Engine) -> None:
    assert engine.caps.native_batch, engine.caps.batching_note


@pytest.mark.parametrize("rows", [60, LONG])
def test_copy_continues_like_its_source_and_like_a_cold_start(engine: Engine, rows: int) -> None:
    feed(engine, 0, 0, PROMPT[:rows])
    engine.copy(0, 1)
    feed(engine, 2, 0, PROMPT[:rows])
    source, copied, cold = (feed(engine, slot, rows, SUFFIX) for slot in (0, 1, 2))
    assert np.array_equal(cold, source)
    assert np.array_equal(copied, source)


def test_copy_replaces_and_leaves_the_source_its_own(engine: Engine) -> None:
    feed(engine, 0, 0, PROMPT[:60])
    feed(engine, 1, 0, PROMPT[60:160])
    engine.copy(0, 1)
    branch = feed(engine, 1, 60, OTHER)
    assert not np.array_equal(branch, feed(engine, 0, 60, SUFFIX))
    feed(engine, 2, 0, PROMPT[:60])
    assert np.array_equal(branch, feed(engine, 2, 60, OTHER))


@pytest.mark.parametrize("rows", [60, LONG])
def test_full_snapshot_continues_in_another_slot(engine: Engine, rows: int) -> None:
    feed(engine, 0, 0, PROMPT[:rows])
    snapshot = engine.export(0, SnapshotKind.FULL)
    never_saved = feed(engine, 0, rows, SUFFIX)
    feed(engine, 1, 0, OTHER)
    engine.load(1, snapshot)
    assert (snapshot.rows, engine.frontier(1).pos_max) == (rows, rows - 1)
    restored = feed(engine, 1, rows, SUFFIX)
    check_restored(engine, restored, never_saved, rows)
    engine.load(2, snapshot)
    assert np.array_equal(feed(engine, 2, rows, SUFFIX), restored)


@only_boundary
@pytest.mark.parametrize("rows", [60, LONG])
def test_partial_snapshot_takes_a_boundary_memory_back(engine: Engine, rows: int) -> None:
    feed(engine, 0, 0, PROMPT[:rows])
    snapshot = engine.export(0, SnapshotKind.PARTIAL)
    whole = engine.export(0, SnapshotKind.FULL)
    assert len(snapshot.parts[0].data) < len(whole.parts[0].data)
    first = feed(engine, 0, rows, SUFFIX)
    decode(engine, 0, rows + SUFFIX.size, first, 5)
    engine.load(0, snapshot)
    assert engine.frontier(0) == Frontier(rows - 1, rows - 1)
    check_restored(engine, feed(engine, 0, rows, SUFFIX), first, rows)


def test_trim_within_reach_is_as_if_the_rest_had_never_been(engine: Engine) -> None:
    feed(engine, 0, 0, PROMPT[:60])
    first = feed(engine, 0, 60, SUFFIX)
    before = engine.frontier(0)
    if engine.caps.trim is Trim.BOUNDARY:
        assert not engine.trim(0, 60)
        assert engine.frontier(0) == before
        return
    assert engine.trim(0, 60)
    assert engine.frontier(0).pos_max == 59
    assert np.array_equal(feed(engine, 0, 60, SUFFIX), first)


@only_window
def test_window_memory_keeps_what_it_cannot_cut(engine: Engine) -> None:
    feed(engine, 0, 0, PROMPT)
    before = engine.frontier(0)
    assert before.pos_min > 0
    shortest = before.pos_min + engine.caps.window
    assert not engine.trim(0, shortest - 1)
    assert engine.frontier(0) == before
    assert engine.trim(0, shortest)


def test_every_memory_can_be_trimmed_to_nothing(engine: Engine) -> None:
    first = feed(engine, 0, 0, PROMPT[:60])
    assert engine.trim(0, 0)
    assert engine.frontier(0) == Frontier(-1, -1)
    assert np.array_equal(feed(engine, 0, 0, PROMPT[:60]), first)


@pytest.mark.parametrize("text", ["Hello  wörld\n", "你好 🎉 e\u0301", "\x00\x7f tab\t", "a<think>b</s>"])
def test_plain_text_comes_back_whole(engine: Engine, text: str) -> None:
    tokenizer = engine.tokenizer
    ids = tokenizer.encode_plain(text)
    assert b"".join(map(tokenizer.piece, ids)) == text.encode()


def test_control_spellings_in_plain_text_stay_text(engine: Engine) -> None:
    tokenizer, family = engine.tokenizer, ARCHITECTURES[engine.info.arch].family
    specials = (*family.controls, *family.user_defined)
    assert {*specials} <= set(tokenizer.controls)
    text = "x".join(specials)
    plain, raw = tokenizer.encode_plain(text), tokenizer.encode_raw(text)
    ids = set(tokenizer.controls.values())
    assert not ids & set(plain)
    assert [i for i in raw if i in ids] == [tokenizer.controls[s] for s in specials]
    assert [s for s in specials if tokenizer.is_control(tokenizer.controls[s])] == [*family.controls]
    assert b"".join(map(tokenizer.piece, plain)) == b"".join(map(tokenizer.piece, raw)) == text.encode()


def test_end_tokens_and_bos_are_the_familys(engine: Engine) -> None:
    tokenizer, family = engine.tokenizer, ARCHITECTURES[engine.info.arch].family
    assert all(tokenizer.is_eog(tokenizer.controls[spelling]) for spelling in family.ends.values())
    assert tokenizer.eos == tokenizer.controls[family.ends["eos"]]
    assert tokenizer.bos == (tokenizer.controls[family.bos] if family.bos else None)
    assert not tokenizer.is_eog(tokenizer.encode_plain("a")[0])
