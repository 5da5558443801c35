"""Threads for slow work: parsing large bodies, rendering, tokenising.

Rules:
- Work waits on the event loop until a thread is free, so that whoever is cancelled leaves nothing behind.
- Work that has begun cannot be stopped: it keeps its thread until it ends, wanted or not.
"""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ds4.core.errors import Overloaded

T = TypeVar("T")

THREADS = max(2, os.cpu_count() or 1)
"""Two at least: a long prompt must not hold up a short one alone."""
WAITING = 128
RETRY_AFTER = 2


class Workers:
    """The real Runner. Raises Overloaded when `waiting` callers are waiting for one of `threads` threads."""

    def __init__(self, threads: int = THREADS, waiting: int = WAITING) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="worker")
        self._free = asyncio.Semaphore(threads)
        self._waiting = 0
        self._max_waiting = waiting

    async def __call__(self, work: Callable[[], T], /) -> T:
        await self._enter()
        running = asyncio.get_running_loop().run_in_executor(self._pool, work)
        running.add_done_callback(self._leave)
        return await asyncio.shield(running)

    async def _enter(self) -> None:
        if self._free.locked() and self._waiting >= self._max_waiting:
            raise Overloaded("too many requests are being prepared", retry_after=RETRY_AFTER)
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1

    def _leave(self, ended: "asyncio.Future[T]") -> None:
        self._free.release()
        if not ended.cancelled():
            # Nobody may be left to look at it.
            ended.exception()
