"""The answers of one request, read side by side."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

from ds4.core.events import Event, Failed, Finish
from ds4.core.ports import EventStream

Round = Sequence[tuple[int, tuple[Event, ...]]]
"""What came in together: the number of a choice and its new events, in the order of the choices."""


def rounds(streams: Sequence[EventStream]) -> AsyncGenerator[Round]:
    """Until every choice has ended, with Finish or Failed. To be closed by whoever leaves early."""
    return _alone(streams[0]) if len(streams) == 1 else _together(streams)


async def _alone(stream: EventStream) -> AsyncGenerator[Round]:
    # Most requests: no task per batch.
    ended = False
    while not ended:
        events = await stream.batch()
        ended = _ends(events)
        yield [(0, events)]


async def _together(streams: Sequence[EventStream]) -> AsyncGenerator[Round]:
    waiting = {_read(stream): choice for choice, stream in enumerate(streams)}
    try:
        while waiting:
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            new = sorted((waiting.pop(task), task.result()) for task in done)
            for choice, events in new:
                if not _ends(events):
                    waiting[_read(streams[choice])] = choice
            yield new
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


def _read(stream: EventStream) -> asyncio.Task[tuple[Event, ...]]:
    return asyncio.ensure_future(stream.batch())


def _ends(events: tuple[Event, ...]) -> bool:
    return isinstance(events[-1], Finish | Failed)
