"""A trace's lines gathered by request."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ds4.observe.trace.values import Json, unpacked

Line = dict[str, Any]


@dataclass(slots=True)
class Step:
    """Rows of one request in one step of the engine; `seconds` are the whole step's."""

    rows: int
    seconds: float
    tokens: list[int]
    prefill: bool


@dataclass(slots=True)
class JobTale:
    """One choice of an answer. The lines are None as long as they have not come."""

    line: Line
    started: Line | None = None
    begun: float = 0.0
    prices: list[float] | None = None
    prefill_rate: float | None = None
    steps: list[Step] = field(default_factory=list)
    events: list[tuple[float, Line]] = field(default_factory=list)
    finished: Line | None = None

    @property
    def tokens(self) -> list[int]:
        return [token for step in self.steps for token in step.tokens]


@dataclass(slots=True)
class Tale:
    """One request. `jobs` are its choices, in order; `sent` is all that the client got."""

    number: int
    line: Line = field(default_factory=dict)
    ids: list[str] = field(default_factory=list)
    asked: list[Line] = field(default_factory=list)
    jobs: dict[str, JobTale] = field(default_factory=dict)
    sent: list[Line] = field(default_factory=list)
    left: bool = False

    @property
    def named(self) -> set[str]:
        return {str(self.number), *self.ids, *self.jobs}


_LATE = frozenset(("asked", "guided", "remembered", "kept"))
"""Lines of workers, who may go on for a client that has left."""


@dataclass(slots=True)
class Tales:
    """All requests that have not ended, and what is known of the run: its head, the pieces of tokens."""

    head: Line = field(default_factory=dict)
    pieces: dict[int, bytes] = field(default_factory=dict)
    open: dict[int, Tale] = field(default_factory=dict)
    controls: frozenset[int] = frozenset()
    _jobs: dict[str, JobTale] = field(default_factory=dict)
    _slots: dict[int, JobTale] = field(default_factory=dict)
    _rate: float | None = None

    def take(self, line: Json) -> Tale | None:
        """Takes in one line; the request that it ends."""
        found: Line = dict(line)
        match found["at"]:
            case "head":
                self._begin(found)
            case "pieces":
                self._learn(found["pieces"])
            case "started" | "finished" | "read":
                self._of_job(found)
            case "turn":
                self._turn(found)
            case "done":
                return self._end(found["request"])
            case _ if "request" in found:
                self._of_request(found)
        return None

    def _end(self, request: int) -> Tale | None:
        """Only now are its choices over: what was read of one may follow the line that it has finished."""
        tale = self.open.pop(request, None)
        for job in tale.jobs if tale else ():
            self._jobs.pop(job, None)
        return tale

    def _begin(self, head: Line) -> None:
        self.head, self.pieces, self.open, self._jobs, self._slots = head, {}, {}, {}, {}
        controls = head["vocabulary"]["controls"]
        self.controls = frozenset(controls.values())
        self.pieces.update({token: spelling.encode() for spelling, token in controls.items()})

    def _learn(self, pieces: Line) -> None:
        new = {int(token): unpacked(data) for token, data in pieces.items()}
        # What a control token is called is in the head, also where pieces are redacted.
        self.pieces.update({token: data for token, data in new.items() if token not in self.controls})

    def _of_request(self, line: Line) -> None:
        tale = self.open.get(line["request"])
        if tale is None:
            if line["at"] in _LATE:
                return
            tale = self.open[line["request"]] = Tale(line["request"])
        match line["at"]:
            case "request":
                tale.line = line
            case "id":
                tale.ids.append(line["id"])
            case "asked":
                tale.asked.append(line)
            case "job":
                tale.jobs[line["job"]] = self._jobs[line["job"]] = JobTale(line)
            case "sent":
                tale.sent.append(line)
            case "left":
                tale.left = True

    def _of_job(self, line: Line) -> None:
        job = self._jobs.get(line["job"])
        if job is None:
            return
        match line["at"]:
            case "started":
                job.started = line
                self._slots[line["slot"]] = job
            case "finished":
                job.finished = line
            case "read":
                job.events += [(line["t"][0], event) for event in line["events"]]

    def _turn(self, line: Line) -> None:
        self._rate = (line.get("prefill") or [self._rate])[-1]
        for job in self._slots.values():
            if job.prices is None and "prices" in line:
                job.begun, job.prices, job.prefill_rate = line["t"][0], line["prices"][-1], self._rate
        for op in line.get("ops", ()):
            if op["op"] == "step" and op.get("gave"):
                self._step(op)

    def _step(self, op: Line) -> None:
        gave = op["gave"]
        for work, outcome in zip(op["asked"], gave["outcomes"], strict=False):
            job = self._slots.get(work[0])
            if job is not None:
                prefill = not job.tokens
                job.steps.append(Step(work[2], gave["seconds"], list(_ids(outcome["tokens"])), prefill))


def _ids(tokens: Iterable[Any]) -> Iterable[int]:
    """With the logarithms of their probabilities, where those were asked for, or without."""
    return (token[0] if isinstance(token, list) else token for token in tokens)
