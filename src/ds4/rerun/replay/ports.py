"""The recorded ids and moments, and the ports of the API that wait until the trace says so."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from ds4.api.errors import Header, Unauthorized
from ds4.api.keys import Keyring
from ds4.api.origin import values
from ds4.core.errors import EngineError
from ds4.core.events import Event
from ds4.core.job import Job
from ds4.core.ports import Backend, EventStream
from ds4.core.status import Status
from ds4.observe.trace.values import Json
from ds4.rerun.moment import ENGINE, MOMENT, REQUEST, Moment
from ds4.rerun.record.api import CALLER
from ds4.rerun.replay.gates import Gates
from ds4.rerun.replay.lines import moment

T = TypeVar("T")

WRONG = b"wrong"


class RecordedIds:
    """`core.ports.Ids`: each request draws again what it drew, and the engine thread too."""

    def __init__(self, lines: Iterable[Json]) -> None:
        self._left: defaultdict[int, deque[str]] = defaultdict(deque)
        for line in lines:
            self._learn(line)

    def new(self, prefix: str) -> str:
        left = self._left[REQUEST.get()]
        if not left or not left[0].startswith(prefix):
            raise EngineError(f"the trace has no id here that begins with {prefix}")
        return left.popleft()

    def _learn(self, line: dict[str, Any]) -> None:
        if line["at"] == "id":
            self._left[line["request"]].append(line["id"])
        elif line["at"] == "turn":
            self._left[ENGINE].extend(line.get("ids", ()))


class RecordedMoments:
    """`rerun.moment.Moments`: each request's and each job's moments in their order. A turn's and an
    operation's are set by whoever repeats them."""

    OWNERS: Mapping[str, str] = MappingProxyType(
        {"request": "request", "sent": "request", "ran": "request", "slept": "request", "read": "job"}
    )

    def __init__(self, lines: Iterable[Json]) -> None:
        self._left: defaultdict[tuple[str, object], deque[Moment]] = defaultdict(deque)
        for line in lines:
            at = str(line["at"])
            if at in self.OWNERS:
                self._left[at, line[self.OWNERS[at]]].append(moment(line))

    def take(self, at: str, key: object = None) -> Moment:
        left = self._left[at, key]
        if left:
            # A request has one moment and asks twice: when it comes and when its body is there.
            MOMENT.set(left[0] if at == "request" else left.popleft())
        return MOMENT.get() or Moment(0.0, 0.0)


Gate = Gates[tuple[str, object], int]
"""Opened with the number of events that are read; 0 elsewhere."""


class GatedBackend:
    """`core.ports.Backend` around another, whose streams give as many events at a time as they did."""

    def __init__(self, backend: Backend, gates: Gate) -> None:
        self._backend = backend
        self._gates = gates

    def submit(self, job: Job) -> EventStream:
        return _GatedStream(self._backend.submit(job), job.id, self._gates)

    def cancel(self, job_id: str) -> None:
        self._backend.cancel(job_id)

    def status(self) -> Status:
        return self._backend.status()


class _GatedStream:
    def __init__(self, stream: EventStream, job: str, gates: Gate) -> None:
        self._stream = stream
        self._job = job
        self._gates = gates
        self._events: list[Event] = []

    async def batch(self) -> tuple[Event, ...]:
        count = await self._gates.passed(("read", self._job))
        while len(self._events) < count:
            self._events += await self._stream.batch()
        given, self._events = self._events[:count], self._events[count:]
        return tuple(given)


class GatedRunner:
    """`api.services.Runner`: the work is done when the trace says that it was."""

    def __init__(self, gates: Gate) -> None:
        self._gates = gates

    async def __call__(self, work: Callable[[], T], /) -> T:
        await self._gates.passed(("ran", REQUEST.get()))
        return work()


class GatedSleep:
    def __init__(self, gates: Gate) -> None:
        self._gates = gates

    async def __call__(self, _seconds: float) -> None:
        await self._gates.passed(("slept", REQUEST.get()))


class RecordedKeys(Keyring):
    """Knows callers by the name that the trace gives them."""

    @property
    def locked(self) -> bool:
        return True

    def owner(self, headers: Iterable[Header]) -> str:
        found = values(tuple(headers), CALLER)
        if not found:
            raise Unauthorized("missing API key: send it as `Authorization: Bearer KEY` or `x-api-key: KEY`")
        if found[0] == WRONG:
            raise Unauthorized("the API key is not one of this server's", presented=True)
        return found[0].decode()
