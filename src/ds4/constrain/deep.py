"""Work that needs a deep stack: the library recurses as deep as a grammar is."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

STACK = 32 * 1024 * 1024
"""Bytes of address space, memory only where it is used. `foreign.MAX_LEVELS` take about 6 MiB."""
_starting = threading.Lock()


def deep(work: Callable[[], T]) -> T:
    """What `work` returns or raises, done on a stack of this size."""
    with ThreadPoolExecutor(1, thread_name_prefix="compile") as pool:
        with _starting:
            # The size is the process's own, and counts when a thread begins.
            before = threading.stack_size(STACK)
            try:
                future = pool.submit(work)
            finally:
                threading.stack_size(before)
        return future.result()
