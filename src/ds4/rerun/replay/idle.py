"""An event loop that says when it has nothing left to do, so that a test of time needs no waiting."""

import asyncio
import selectors


class IdleSelector(selectors.SelectSelector):
    """A loop asks its selector to wait only when nothing is ready: that is when `idle` ends."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: asyncio.Future[None] | None = None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        waiting = self._waiting
        if timeout == 0 or waiting is None:
            return super().select(timeout)
        self._waiting = None
        if not waiting.done():
            waiting.set_result(None)
        return super().select(0)

    async def idle(self) -> None:
        """Until everything else waits. One at a time."""
        self._waiting = asyncio.get_running_loop().create_future()
        await self._waiting


class IdleLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.watch = IdleSelector()
        super().__init__(self.watch)
