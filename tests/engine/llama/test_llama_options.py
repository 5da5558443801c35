import os
from dataclasses import replace
from pathlib import Path

import pytest

from ds4.core.errors import OptionError
from ds4.engine.llama import FlashAttention, KvType, LlamaOptions, check_options
from ds4.engine.llama.load import usable_ctx
from ds4.engine.llama.options import MIN_BATCH, batch_rows, default_threads

OPTIONS = LlamaOptions(Path("model.gguf"))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (replace(OPTIONS, n_slots=0), "--batched-session 0"),
        (replace(OPTIONS, n_slots=257), "--batched-session 257"),
        (replace(OPTIONS, n_ctx=0), "--ctx 0"),
        (replace(OPTIONS, kv_type=KvType.Q8_0, flash_attn=FlashAttention.OFF), "--kv-type q8_0"),
    ],
)
def test_impossible_options_are_named(options: LlamaOptions, named: str) -> None:
    with pytest.raises(OptionError, match=named):
        check_options(options)


def test_possible_options_pass() -> None:
    check_options(OPTIONS)
    check_options(replace(OPTIONS, n_slots=256, kv_type=KvType.Q8_0))


@pytest.mark.parametrize(
    ("given", "trained", "expected"), [(False, 8192, 8192), (True, 8192, 32768), (False, 0, 32768)]
)
def test_a_default_context_is_lowered_to_the_trained_length(given: bool, trained: int, expected: int) -> None:
    assert usable_ctx(replace(OPTIONS, ctx_given=given), trained) == expected


def test_a_batch_holds_a_decode_row_of_every_slot() -> None:
    assert batch_rows(replace(OPTIONS, n_batch=8, n_slots=100)) == 100
    assert batch_rows(replace(OPTIONS, n_batch=1)) == MIN_BATCH
    assert batch_rows(replace(OPTIONS, n_batch=300)) == 300


def test_threads_follow_the_affinity_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {1, 4, 6}, raising=False)
    assert default_threads() == (2, 3)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {3}, raising=False)
    assert default_threads() == (1, 1)
