"""Places where the server waits for the world, opened in the order of the trace."""

import asyncio
from collections import defaultdict, deque
from typing import Generic, TypeVar

T = TypeVar("T")
K = TypeVar("K")


class Gates(Generic[K, T]):
    """Who waits at a gate gets what it is opened with. One opened before anybody waits stays open for one."""

    def __init__(self) -> None:
        self._open: defaultdict[K, deque[T]] = defaultdict(deque)
        self._waiting: defaultdict[K, deque[asyncio.Future[T]]] = defaultdict(deque)

    def open(self, key: K, value: T) -> None:
        waiting = self._waiting[key]
        while waiting:
            future = waiting.popleft()
            if not future.done():
                future.set_result(value)
                return
        self._open[key].append(value)

    async def passed(self, key: K) -> T:
        if self._open[key]:
            return self._open[key].popleft()
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting[key].append(future)
        return await future
