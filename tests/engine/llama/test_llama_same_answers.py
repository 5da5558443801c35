"""What reuse, neighbours and interleaving may change in an answer: nothing, where the steps are the same.

The steps matter because a processor multiplies one row by other code than several, and hybrids also sum
differently with the number of rows. So equality is to the last bit:

- ordered, with one row per step: every answer is a fresh server's, in every memory class;
- ordered, with longer steps: a slot that takes the same steps alone gives the same logits, in every class;
- batched, a dense model without flash attention: the same logits however a slot's rows were cut and whoever
  was beside it, as long as no row of it is computed alone.

No more can be said of batched steps: llama.cpp cuts a step of unequal shares itself, and what is left over
may be a single row.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_driver import Driver
from llama_history import Remembering, same_again
from llama_traffic import BEGINNING, TAILS, Move, answer_alone, play, traffic

from ds4.engine.llama import BackendChoice, FlashAttention, LlamaEngine, LlamaOptions
from ds4.schedule.scheduler import Limits
from ds4.testing.tiny import TINY_ARCHS, tiny_model

pytest_plugins = ("llama_fixtures",)
pytestmark = pytest.mark.engine

ONE_ROW = Limits(quantum=1, chunk=1)
FEW_ROWS = Limits(quantum=5, chunk=5)
DEMO = "demo"

_EXAMPLES = settings().max_examples
few = settings(max_examples=_EXAMPLES // 2)
fewer = settings(max_examples=_EXAMPLES // 10)


@dataclass(frozen=True)
class Pair:
    """Two engines of one model: `busy` takes the traffic, `quiet` one thing at a time."""

    busy: LlamaEngine
    quiet: LlamaEngine


@pytest.fixture(scope="module")
def pair(request: pytest.FixtureRequest, demo_path: Path) -> Iterator[Pair]:
    path = demo_path if request.param == DEMO else tiny_model(request.param)
    options = LlamaOptions(
        path,
        n_ctx=256,
        n_slots=2,
        n_batch=64,
        backend=BackendChoice.CPU,
        flash_attn=FlashAttention.OFF,
        threads=1,
        threads_batch=1,
    )
    pair = Pair(LlamaEngine.open(options), LlamaEngine.open(options))
    yield pair
    pair.busy.close()
    pair.quiet.close()


each_tiny = pytest.mark.parametrize("pair", TINY_ARCHS, indirect=True)
on_demo = pytest.mark.parametrize("pair", [DEMO], indirect=True)
dense = pytest.mark.parametrize("pair", ["llama", DEMO], indirect=True)


def check_like_a_fresh_server(pair: Pair, moves: Sequence[Move]) -> None:
    for answer in play(Remembering(pair.busy), moves, ONE_ROW):
        fresh = answer_alone(Remembering(pair.quiet), answer.prompt, answer.limit, ONE_ROW)
        assert answer.sampled == fresh


def check_same_steps(pair: Pair, moves: Sequence[Move]) -> None:
    busy = Remembering(pair.busy)
    play(busy, moves, FEW_ROWS)
    assert busy.histories()
    assert all(same_again(pair.quiet, history) for history in busy.histories())


@each_tiny
@few
@given(traffic)
def test_ordered_single_rows_answer_like_a_fresh_server(pair: Pair, moves: list[Move]) -> None:
    check_like_a_fresh_server(pair, moves)


@on_demo
@fewer
@given(traffic)
def test_ordered_single_rows_answer_like_a_fresh_server_on_the_demo(pair: Pair, moves: list[Move]) -> None:
    check_like_a_fresh_server(pair, moves)


@each_tiny
@few
@given(traffic)
def test_ordered_same_steps_same_logits(pair: Pair, moves: list[Move]) -> None:
    check_same_steps(pair, moves)


@on_demo
@fewer
@given(traffic)
def test_ordered_same_steps_same_logits_on_the_demo(pair: Pair, moves: list[Move]) -> None:
    check_same_steps(pair, moves)


@dense
@fewer
@given(st.lists(st.integers(2, 6), min_size=1, max_size=4), st.integers(0, 2))
def test_dense_steps_of_several_rows_may_be_cut_anywhere(pair: Pair, cuts: list[int], tail: int) -> None:
    """The neighbour's share is the larger one, so that llama.cpp cuts only that."""
    rows = [*BEGINNING, *TAILS[tail]][: sum(cuts)]
    whole = Driver(pair.quiet).fresh(rows)
    busy = Driver(pair.busy)
    busy.clear()
    for cut in cuts:
        last = busy.run_all([(0, rows[busy.rows(0) :][:cut]), (1, list(TAILS[1]))])[0]
    assert np.array_equal(last, whole)
