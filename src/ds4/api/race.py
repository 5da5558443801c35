"""Things done side by side, until the first of them ends."""

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from starlette.types import Receive

from ds4.core.errors import BadRequest

T = TypeVar("T")
Routine = Coroutine[object, object, None]


class ClientLeft(BadRequest):
    """Nobody is there to read this."""


async def first_to_end(main: Routine, *others: Routine) -> bool:
    """Runs all side by side until one ends, and cancels the rest. True when `main` ended by itself.

    Raises what the one that ended raised.
    """
    tasks = [asyncio.create_task(coroutine) for coroutine in (main, *others)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            if task.done():
                task.result()
        return tasks[0].done()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def client_left(receive: Receive) -> None:
    """Ends when the client is gone. The body must have been read."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def while_connected(receive: Receive, work: Coroutine[object, object, T]) -> T:
    """What `work` gives. Raises ClientLeft, with `work` cancelled, when the client leaves before that."""
    given: list[T] = []

    async def keep() -> None:
        given.append(await work)

    if not await first_to_end(keep(), client_left(receive)):
        raise ClientLeft("the client left before its request was read")
    return given[0]
