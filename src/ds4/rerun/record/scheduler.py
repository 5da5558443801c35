"""The scheduler, with each turn noted: what it was told, what it asked, what it decided."""

from collections.abc import Callable, Sequence

from ds4.core.job import Job
from ds4.core.ports import Clock, Engine
from ds4.core.status import Status
from ds4.observe.records import Finished, Observer, PromptStarted, Record, RequestRecord
from ds4.observe.trace.values import Json
from ds4.observe.trace.writer import Put
from ds4.rerun.record.reader import noted_comparer
from ds4.rerun.tape import Tape
from ds4.schedule.rates import Move, Prices, Rates
from ds4.schedule.rewrite import Comparer
from ds4.schedule.scheduler import CachePlan, Delivery, Limits, Scheduler


class NotedRates(Rates):
    """`source` is asked, and its answers are noted."""

    def __init__(self, source: Rates, tape: Tape) -> None:
        super().__init__()
        self._source = source
        self._tape = tape
        self._last: float | None = None

    @property
    def prefill(self) -> float | None:
        rate = self._source.prefill
        if rate != self._last:
            self._last = rate
            self._tape.note("prefill", rate)
        return rate

    def observe(self, prefill_rows: int, seconds: float) -> None:
        self._source.observe(prefill_rows, seconds)

    def moved(self, move: Move, size: int, seconds: float) -> None:
        self._source.moved(move, size, seconds)

    def prices(self) -> Prices:
        found = self._source.prices()
        self._tape.note("prices", [found.copy, found.export, found.load, found.fetch])
        return found


class NotedScheduler(Scheduler):
    def __init__(
        self,
        tape: Tape,
        rates: Rates,
        compare: Comparer,
        engine: Engine,
        limits: Limits,
        clock: Clock,
        observe: Observer,
        deliver: Callable[[Sequence[Delivery]], None],
        cache: CachePlan,
    ) -> None:
        self._tape = tape
        self._shown: Json = {}

        def noted(deliveries: Sequence[Delivery]) -> None:
            tape.close(deliveries)
            deliver(deliveries)

        noted_rates, compare = NotedRates(rates, tape), noted_comparer(compare, tape)
        super().__init__(engine, limits, clock, observe, noted, cache, noted_rates, compare)

    def submit(self, job: Job, limit: int) -> None:
        self._told(["submit", job.id, limit])
        super().submit(job, limit)

    def cancel(self, job_id: str) -> None:
        self._told(["cancel", job_id])
        super().cancel(job_id)

    def drain(self) -> None:
        self._told(["drain"])
        super().drain()

    def turn(self) -> bool:
        self._tape.begin()
        busy = super().turn()
        self._tape.end()
        return busy

    def persist(self) -> None:
        self._told(["persist"])
        super().persist()
        self._tape.end()

    def status(self) -> Status:
        """What is shown to the event loop decides there whom it turns away."""
        status = super().status()
        busy = [slot.slot for slot in status.slots if slot.job is not None]
        shown: Json = {
            "at": "shown",
            "queued": status.queued,
            "busy": busy,
            "readiness": status.readiness.value,
        }
        if shown != self._shown:
            self._shown = shown
            self._tape.put(shown)
        return status

    def _told(self, command: list[object]) -> None:
        self._tape.begin()
        self._tape.note("commands", command)


def noted_records(put: Put) -> Observer:
    """An observer that puts decisions and ends, and as plain words all but progress."""

    def observe(record: Record) -> None:
        match record:
            case PromptStarted(subject, slot, report):
                put(
                    {
                        "at": "started",
                        "job": subject.job,
                        "slot": slot,
                        "prompt": subject.prompt,
                        "report": report,
                    }
                )
            case Finished(subject, generated, finish, elapsed, error, report, forced):
                told = {"generated": generated, "finish": finish, "elapsed": elapsed, "error": error}
                told |= {"forced": forced} if forced else {}
                put({"at": "finished", "job": subject.job, **told, "report": report})
            case _ if not isinstance(record, RequestRecord):
                put({"at": "log", "kind": type(record).__name__, "record": record})

    return observe
