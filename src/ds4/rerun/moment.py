"""Time that can be repeated.

A traced server's clock stands still between the places where it is noted: a request comes, a step of the
engine ends, a client is given something. Whatever is worked out from it in between (rates, waits, ages) then
comes out the same, to the last bit, when the noted moments are given again.

Rules:
- The moment belongs to the context (`contextvars`): a request's task has its own, the engine thread another.
- Work in a worker runs on the real clock, so that its limits hold; only its date is the request's.
"""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from ds4.core.ports import Clock, Ids
from ds4.observe.trace.writer import Put

ENGINE, NOBODY = 0, -1
"""Request numbers of what the engine thread does, and of requests that are not traced."""


@dataclass(frozen=True, slots=True)
class Moment:
    """As `core.ports.Clock` tells it."""

    now: float
    wall: float

    @property
    def plain(self) -> list[float]:
        return [self.now, self.wall]


MOMENT: ContextVar[Moment | None] = ContextVar("moment", default=None)
REQUEST: ContextVar[int] = ContextVar("request", default=NOBODY)
WORKING: ContextVar[bool] = ContextVar("working", default=False)
"""In a worker."""


class Moments(Protocol):
    """Where moments come from."""

    def take(self, at: str, key: object = None) -> Moment:
        """The moment of a line `at` of `key`; it is the context's from now on."""


class ReadMoments:
    """From the real clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def take(self, at: str, key: object = None) -> Moment:  # noqa: ARG002
        moment = Moment(self._clock.now(), self._clock.wall())
        MOMENT.set(moment)
        return moment


class StandingClock:
    """`core.ports.Clock`: the context's moment, the real time where it has none."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> float:
        moment = None if WORKING.get() else MOMENT.get()
        return self._clock.now() if moment is None else moment.now

    def wall(self) -> float:
        moment = MOMENT.get()
        return self._clock.wall() if moment is None else moment.wall


class NotedIds:
    """`core.ports.Ids`. What a request draws is a line; what the engine thread draws goes to `drawn`."""

    def __init__(self, ids: Ids, put: Put, drawn: Callable[[str], None]) -> None:
        self._ids = ids
        self._put = put
        self._drawn = drawn

    def new(self, prefix: str) -> str:
        made = self._ids.new(prefix)
        request = REQUEST.get()
        if request == ENGINE:
            self._drawn(made)
        elif request != NOBODY:
            self._put({"at": "id", "request": request, "id": made})
        return made


class Callers:
    """Names of callers that say nothing about their keys: numbers, in the order in which they are seen.

    `known` are names that stay as they are.
    """

    def __init__(self) -> None:
        self._names = {"": ""}

    def name(self, namespace: str) -> str:
        found = self._names.get(namespace)
        if found is None:
            found = namespace if namespace.startswith(PREFIX) else f"{PREFIX}{len(self._names)}"
            self._names[namespace] = found
        return found


PREFIX = "caller-"
