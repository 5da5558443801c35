import asyncio

import pytest
from api_fakes import run, settle
from starlette.types import Message

from ds4.api.race import ClientLeft, while_connected
from ds4.core.errors import BadRequest


class Wire:
    """A client that stays until `left` is set."""

    def __init__(self) -> None:
        self.left = asyncio.Event()

    async def receive(self) -> Message:
        await self.left.wait()
        return {"type": "http.disconnect"}


def test_the_result_comes_back() -> None:
    async def work() -> int:
        return 3

    async def scenario() -> None:
        assert await while_connected(Wire().receive, work()) == 3

    run(scenario())


def test_the_error_comes_back() -> None:
    async def work() -> None:
        raise BadRequest("no")

    async def scenario() -> None:
        with pytest.raises(BadRequest, match=r"^no$"):
            await while_connected(Wire().receive, work())

    run(scenario())


def test_work_is_cancelled_when_the_client_leaves() -> None:
    cancelled: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def scenario() -> None:
        wire = Wire()
        waiting = asyncio.create_task(while_connected(wire.receive, work()))
        await settle()
        wire.left.set()
        with pytest.raises(ClientLeft):
            await waiting

    run(scenario())
    assert cancelled == [True]
