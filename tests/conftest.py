"""Shared by all tests. HYPOTHESIS_PROFILE=thorough tries twenty times as many examples."""

import gc
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

# Time limits per example say more about the machine than about the code.
settings.register_profile("quick", deadline=None, max_examples=10)
settings.register_profile("thorough", deadline=None, max_examples=200)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A run without server tests does not wait for the SDKs they import. All files there are marked."""
    unwanted = "not server" in config.option.markexpr and collection_path == Path(__file__).parent / "server"
    return True if unwanted else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What collecting makes lives until the end: the garbage collector need not look at it every time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
