"""Shared by all tests. HYPOTHESIS_PROFILE=thorough tries many more examples, see also thorough.py."""

import gc
import os
import re
import shutil
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

# Time limits per example say more about the machine than about the code.
settings.register_profile("quick", deadline=None, max_examples=6)
settings.register_profile("whole", deadline=None, max_examples=10)
settings.register_profile("thorough", deadline=None, max_examples=200)


MEMORY = Path("/dev/shm")
ROOM = 1 << 30


def pytest_configure(config: pytest.Config) -> None:
    """Before the test modules are read, some of which want a part of the profile's examples.

    The unit suite by itself tries fewer, and its files are in memory where a system has such a place.
    """
    unit = "not engine" in config.option.markexpr
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("quick" if unit else "whole"))
    if unit and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


_MARKED = re.compile(r"^pytestmark = pytest\.mark\.(engine|server)$", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A run without server tests does not wait for the SDKs they import: all files there are marked. Nor does
    it read any other file that is marked as a whole."""
    left_out = config.option.markexpr
    if "not server" in left_out and collection_path == Path(__file__).parent / "server":
        return True
    if "not " not in left_out or not collection_path.match("test_*.py"):
        return None
    marks = _MARKED.findall(collection_path.read_text(encoding="utf-8"))
    return True if any(f"not {mark}" in left_out for mark in marks) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What collecting makes lives until the end: the garbage collector need not look at it every time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        # What a test makes is mostly gone with its last reference: looking for cycles may wait.
        gc.set_threshold(20_000, 20, 20)
        gc.enable()


def pytest_unconfigure() -> None:
    """The binding opens two files when it is imported and leaves them open, which Python would tell behind
    the closing line."""
    binding = sys.modules.get("llama_cpp._utils")
    for name in ("outnull_file", "errnull_file"):
        if (file := getattr(binding, name, None)) is not None:
            file.close()
