"""Pauses that end when told to."""

import asyncio


class Pauses:
    """Stands in for `asyncio.sleep`; whoever sleeps does so until `end`."""

    def __init__(self) -> None:
        self._sleeping: list[asyncio.Future[None]] = []

    async def __call__(self, _seconds: float) -> None:
        pause: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleeping.append(pause)
        await pause

    def end(self) -> None:
        """Wakes all that sleep."""
        sleeping, self._sleeping = self._sleeping, []
        for pause in sleeping:
            if not pause.done():
                pause.set_result(None)
