from pathlib import Path

import pytest

from ds4.engine.llama.capi import ContextParams, Model, ModelParams
from ds4.engine.llama.sketch import MAX_CELLS, Sizes, extrapolated, measure
from ds4.testing.tiny import tiny_model

pytest_plugins = ("llama_fixtures",)


def test_the_rest_is_a_straight_line() -> None:
    small, large = Sizes(100, 1100, 10), Sizes(200, 2100, 10)
    assert extrapolated(small, large, 1000) == Sizes(1000, 10_100, 10)


def _params(n_ctx: int, n_slots: int) -> ContextParams:
    return ContextParams(n_ctx, n_slots, 64, 64, threads=1, threads_batch=1, flash_attn=-1, kv_type=1)


def _sketch(path: Path) -> Model:
    return Model.load(path, ModelParams(no_alloc=True, devices=(), n_gpu_layers=0))


@pytest.mark.engine
def test_kv_of_a_plain_model_is_rows_by_bytes(demo_path: Path) -> None:
    sketch = _sketch(demo_path)
    row = 30 * 2 * 3 * 64 * 2  # layers, K and V, heads, head size, bytes
    assert measure(sketch, _params(1024, 3)).kv == 3 * 1024 * row
    beyond = measure(sketch, _params(2 * MAX_CELLS, 2))
    assert beyond.kv == 2 * 2 * MAX_CELLS * row


@pytest.mark.engine
@pytest.mark.parametrize("arch", ["gemma3", "deepseek4", "glm-dsa", "qwen35moe"])
def test_other_classes_take_less_than_double_for_twice_the_context_when_part_is_fixed(arch: str) -> None:
    sketch = _sketch(tiny_model(arch))
    once, twice = (measure(sketch, _params(n_ctx, 2)).kv for n_ctx in (4096, 8192))
    assert once < twice <= 2 * once
