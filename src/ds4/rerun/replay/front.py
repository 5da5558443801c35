"""Where what comes from outside enters: the API with its clients, or what stands in its place."""

import asyncio
from typing import Any, Protocol

from starlette.types import ASGIApp

from ds4.rerun.moment import MOMENT
from ds4.rerun.replay.lines import moment
from ds4.rerun.replay.visit import Visit


class Front(Protocol):
    """`drives` are lines that it takes in their order, beside those of every trace; `tasks` are its own."""

    @property
    def drives(self) -> frozenset[str]: ...

    @property
    def tasks(self) -> list[asyncio.Task[None]]: ...

    def take(self, line: dict[str, Any]) -> None: ...

    def cancel(self, job_id: str) -> None:
        """The scheduler was told to cancel it then, and is about to be told."""


class Visits:
    """The API: clients send what they sent, and leave when they left."""

    drives = frozenset[str]()

    def __init__(self, app: ASGIApp, *, locked: bool) -> None:
        self.tasks: list[asyncio.Task[None]] = []
        self._app = app
        self._locked = locked
        self._visits: dict[int, Visit] = {}

    def take(self, line: dict[str, Any]) -> None:
        match line["at"]:
            case "request":
                visit = self._visits[line["request"]] = Visit(line, locked=self._locked)
                MOMENT.set(moment(line))
                self.tasks.append(asyncio.create_task(visit.run(self._app)))
            case "left" if line["request"] in self._visits:
                self._visits[line["request"]].leave()

    def cancel(self, job_id: str) -> None:
        """The API notices by itself that a client is gone."""
