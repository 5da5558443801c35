"""A pumped scheduler on the scripted engine, on the event loop itself: no thread, no socket, no sleep."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from ds4.core.errors import EngineError
from ds4.core.events import Event, Failed, Finish, Text
from ds4.core.job import Job
from ds4.core.sampling import Sampling
from ds4.core.step import Frontier, StepPlan, StepResult, Trim
from ds4.engine.scripted.engine import ScriptedEngine, ScriptedOptions
from ds4.formats.registry import family_named
from ds4.observe.records import Record
from ds4.parsing.reader import text_reader
from ds4.schedule.scheduler import CachePlan, Limits
from ds4.testing.backend import Pump
from ds4.testing.clock import FakeClock
from ds4.testing.jobs import GREEDY, make_job

QUANTUM = 16


class BreakableEngine(ScriptedEngine):
    """Fails its next step when `broken` is set; notes the plans it was given.

    `disowned`: the engine no longer knows what its slots hold.
    """

    broken: Exception | None = None
    disowned = False
    plans: list[StepPlan]

    def step(self, plan: StepPlan) -> StepResult:
        self.plans.append(plan)
        if self.broken is not None:
            error, self.broken = self.broken, None
            raise error
        return super().step(plan)

    def frontier(self, slot: int) -> Frontier:
        if self.disowned:
            raise EngineError("lost")
        return super().frontier(slot)


class Desk:
    """A pumped backend over `slots` slots of `n_ctx` rows whose model answers with the prompt's last word."""

    def __init__(
        self,
        slots: int = 2,
        trim: Trim = Trim.ANY,
        cache: CachePlan = CachePlan(),  # noqa: B008  (frozen)
        n_ctx: int = 512,
        **options: bool,
    ) -> None:
        self.clock = FakeClock()
        self.records: list[Record] = []
        family = family_named("chatml")
        engine = BreakableEngine.open(
            ScriptedOptions(
                lambda prompt: f"answer to {prompt.split()[-1]}",
                family,
                n_ctx=n_ctx,
                n_slots=slots,
                n_batch=256,
                trim=trim,
                pace=self.clock.advance,
                **options,  # type: ignore[arg-type]
            )
        )
        assert isinstance(engine, BreakableEngine)
        self.engine = engine
        self.engine.plans = []
        limits = Limits(quantum=QUANTUM, chunk=64)
        self.pump = Pump(engine, self.clock, limits=limits, observe=self.records.append, cache=cache)

    @property
    def n_vocab(self) -> int:
        return self.engine.tokenizer.n_vocab

    def job(
        self,
        name: str,
        text: str,
        *,
        max_tokens: int = 100,
        namespace: str = "",
        stops: tuple[str, ...] = (),
        sampling: Sampling = GREEDY,
    ) -> Job:
        ids = self.engine.tokenizer.encode_plain(text)
        return make_job(
            name,
            ids,
            max_tokens=max_tokens,
            reader=text_reader(stops),
            namespace=namespace,
            sampling=sampling,
        )

    async def run(self, job: Job) -> list[Event]:
        stream = self.pump.backend.submit(job)
        events: list[Event] = []
        while not (events and isinstance(events[-1], Finish | Failed)):
            events.extend(await stream.batch())
        return events

    async def decoding(self, job: Job) -> "asyncio.Future[list[Event]]":
        """Starts `job`, the only one, and returns once it decodes."""
        self.pump.hold()
        running = asyncio.ensure_future(self.run(job))
        await asyncio.sleep(0)
        while not any(slot.generated for slot in self.pump.backend.status().slots):
            self.pump.step()
        self.pump.release()
        return running

    def shares(self, plan: StepPlan) -> list[tuple[int, int]]:
        return [(work.slot, len(work.rows)) for work in plan.works]


def on_desk(**options: object) -> Callable[[Callable[[Desk], Awaitable[None]]], Callable[[], None]]:
    def decorate(test: Callable[[Desk], Awaitable[None]]) -> Callable[[], None]:
        def run() -> None:
            async def body() -> None:
                await asyncio.wait_for(test(Desk(**options)), 20)  # type: ignore[arg-type]

            asyncio.run(body())

        run.__name__ = test.__name__
        return run

    return decorate


def text_of(events: Sequence[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Text))


def finish_of(events: Sequence[Event]) -> Finish:
    last = events[-1]
    assert isinstance(last, Finish)
    return last


def failure_of(events: Sequence[Event]) -> Exception:
    last = events[-1]
    assert isinstance(last, Failed)
    return last.error
