"""Constrained answers: forced tokens enter the memory together, and nothing else is different."""

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_desk import BreakableEngine

from ds4.constrain.compiler import Compiler
from ds4.constrain.grammar import Grammar
from ds4.core.errors import EngineError
from ds4.core.events import Event, Failed, Finish, FinishReason, Text
from ds4.core.job import Job
from ds4.core.sampling import Sampling
from ds4.core.step import Trim
from ds4.engine.scripted.bpe import packaged_bpe
from ds4.engine.scripted.engine import ScriptedOptions
from ds4.engine.scripted.tokenizer import ScriptedTokenizer
from ds4.formats.registry import family_named
from ds4.kv.policy import Knobs
from ds4.observe.records import Decoding, Finished, Record
from ds4.parsing.reader import text_reader
from ds4.schedule.scheduler import CachePlan, Delivery, Limits, Scheduler
from ds4.testing.clock import FakeClock
from ds4.testing.jobs import make_job

FAMILY = family_named("chatml")
QUANTUM = 16
LONG = "the old oak stands by the river, and the iron gate is closed; " * 8
MINIFIED = {"x-guidance": {"whitespace_flexible": False}}


def schema(properties: dict[str, object]) -> str:
    value = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        **MINIFIED,
    }
    return json.dumps({"grammars": [{"json_schema": value}]})


def lark(*lines: str) -> str:
    return json.dumps({"grammars": [{"lark_grammar": "\n".join(lines)}]})


GRAMMARS = {
    "record": schema(
        {"name_of_the_tree": {"type": "string", "maxLength": 5}, "its_height": {"enum": [1, 20]}}
    ),
    "long": lark(f'start: "go: " /[ab]/ {json.dumps(LONG)} /[ab]/'),
    "choice": lark('start: "yes" | "no" | "answer to the last question"'),
    "open": lark('start: "I say: " /[a-z ]{0,12}/'),
    "fixed": lark('start: "nothing else"'),
}


@cache
def compiler() -> Compiler:
    return Compiler(ScriptedTokenizer(FAMILY, packaged_bpe()), ())


@dataclass
class Ask:
    """`jumps` False: the same answer, sampled token by token."""

    grammar: str = ""
    text: str = "tree oak"
    sampling: Sampling = Sampling(temperature=0)  # noqa: RUF009  (frozen)
    max_tokens: int = 400
    stops: tuple[str, ...] = ()
    jumps: bool = True


@dataclass
class World:
    """One scheduler; the books are held against the engine after every turn."""

    slots: int = 2
    trim: Trim = Trim.ANY
    native_batch: bool = True
    knobs: Knobs = Knobs()  # noqa: RUF009  (frozen)
    events: dict[str, list[Event]] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)

    def __post_init__(self) -> None:
        clock = FakeClock()
        options = ScriptedOptions(
            lambda prompt: f"answer to {prompt.split()[-1]}",
            FAMILY,
            n_ctx=1024,
            n_slots=self.slots,
            n_batch=64,
            trim=self.trim,
            window=24,
            native_batch=self.native_batch,
            pace=clock.advance,
        )
        engine = BreakableEngine.open(options)
        assert isinstance(engine, BreakableEngine)
        self.engine, engine.plans = engine, []
        limits = Limits(quantum=QUANTUM, chunk=64)
        cache = CachePlan(self.knobs)
        self.scheduler = Scheduler(engine, limits, clock, self.records.append, self._deliver, cache)

    def ask(self, name: str, ask: Ask) -> Job:
        guide = compiler().guide(Grammar(GRAMMARS[ask.grammar]), "") if ask.grammar else None
        sampling = ask.sampling if ask.jumps else replace(ask.sampling, logprobs=0)
        job = make_job(
            name,
            self.engine.tokenizer.encode_plain(ask.text),
            max_tokens=ask.max_tokens,
            reader=text_reader(ask.stops),
            sampling=sampling,
        )
        job = replace(job, guide=guide)
        self.events[name] = []
        self.scheduler.submit(job, min(job.max_tokens, 1024 - job.plan.rows))
        return job

    def turn(self) -> bool:
        busy = self.scheduler.turn()
        assert self.scheduler.faults() == []
        for slot, ids in enumerate(self.scheduler.books()):
            assert ids is None or ids == self.engine.held(slot)
        return busy

    def run(self) -> None:
        for _ in range(3000):
            if not self.turn():
                return
        raise AssertionError("it never ends")

    @property
    def steps(self) -> int:
        return len(self.engine.plans)

    @property
    def held(self) -> tuple[int, ...]:
        """The longest memory."""
        return max(map(self.engine.held, range(self.slots)), key=len)

    def text(self, name: str) -> str:
        return "".join(event.text for event in self.events[name] if isinstance(event, Text))

    def end(self, name: str) -> Finish:
        last = self.events[name][-1]
        assert isinstance(last, Finish), last
        return last

    def _deliver(self, out: Sequence[Delivery]) -> None:
        for name, events in out:
            self.events[name] += events


def answered(ask: Ask, **world: object) -> World:
    made = World(**world)  # type: ignore[arg-type]
    made.ask("a", ask)
    made.run()
    return made


samplings = st.builds(
    Sampling,
    temperature=st.sampled_from([0, 1.0, 1.5]),
    seed=st.integers(1, 50),
    repeat_penalty=st.sampled_from([1.0, 1.3]),
    ignore_eos=st.booleans(),
)
asks = st.builds(
    Ask,
    grammar=st.sampled_from(["", *GRAMMARS]),
    text=st.sampled_from(["tree oak", "why", "once there was a gate " * 6]),
    sampling=samplings,
    max_tokens=st.sampled_from([1, 2, 5, 20, 60, 400]),
    stops=st.sampled_from([(), (), ("oak",), ("name_of", '"'), ("else",)]),
)
worlds = st.fixed_dictionaries(
    {"slots": st.integers(1, 3), "trim": st.sampled_from(list(Trim)), "native_batch": st.booleans()}
)


@given(asks, worlds)
def test_with_and_without_jumps_the_answer_is_the_same(ask: Ask, world: dict[str, object]) -> None:
    jumping, stepping = answered(ask, **world), answered(replace(ask, jumps=False), **world)
    assert jumping.text("a") == stepping.text("a")
    one, other = jumping.end("a"), stepping.end("a")
    assert (one.reason, one.sequence, one.usage) == (other.reason, other.sequence, other.usage)
    assert jumping.steps <= stepping.steps
    held, longer = sorted((jumping.held, stepping.held), key=len)
    assert longer[: len(held)] == held


@pytest.mark.parametrize(
    ("ask", "flags", "sampled"),
    [
        (Ask("fixed"), ("CONSTRAINED",), 1),
        (Ask("fixed", jumps=False), ("CONSTRAINED",), None),
        (Ask(), (), None),
    ],
)
def test_what_was_forced_is_told(ask: Ask, flags: tuple[str, ...], sampled: int | None) -> None:
    """The first token is sampled always: nothing has come yet for it to be forced by."""
    made = answered(ask)
    (told,) = [record for record in made.records if isinstance(record, Finished)]
    assert told.subject.flags == flags
    assert told.forced == (0 if sampled is None else told.generated - sampled)
    assert told.generated > 1


@given(asks, asks, worlds)
def test_a_constrained_answer_changes_nothing_beside_it(
    one: Ask, other: Ask, world: dict[str, object]
) -> None:
    alone = answered(other, **world)
    both = World(**world)  # type: ignore[arg-type]
    both.ask("a", one)
    both.turn()
    both.turn()
    both.ask("b", other)
    both.run()
    assert both.text("b") == alone.text("a")
    assert both.end("b").usage.completion == alone.end("a").usage.completion
    for plan in both.engine.plans:
        assert sum(len(work.rows) for work in plan.works) <= 64


@given(
    st.lists(st.tuples(asks, st.integers(0, 12), st.booleans()), min_size=2, max_size=6),
    worlds,
    st.integers(0, 40),
)
def test_whoever_leaves_when_leaves_the_books_right(
    jobs: list[tuple[Ask, int, bool]], world: dict[str, object], drained: int
) -> None:
    made = World(**world)  # type: ignore[arg-type]
    leaving: deque[str] = deque()
    for number, (ask, turns, leaves) in enumerate(jobs):
        made.ask(str(number), ask)
        for _ in range(turns):
            made.turn()
        if leaves:
            leaving.append(str(number))
        if len(leaving) > 1:
            made.scheduler.cancel(leaving.popleft())
    for _ in range(drained):
        made.turn()
    made.scheduler.drain()
    made.turn()
    for name, events in made.events.items():
        ends = [event for event in events if isinstance(event, Finish | Failed)]
        assert len(ends) <= 1, name
        assert events[-1:] == ends[-1:] or not ends


def test_forced_tokens_save_steps() -> None:
    ask = Ask("record", sampling=Sampling(seed=3))
    assert answered(ask).steps < 0.7 * answered(replace(ask, jumps=False)).steps


def test_forced_tokens_are_counted_and_logged_as_sampled_ones() -> None:
    world = answered(Ask("long"))
    usage = world.end("a").usage
    assert usage.completion == len(world.engine.tokenizer.encode_plain(world.text("a")))
    logged = [record for record in world.records if isinstance(record, Decoding)]
    assert logged, "more than LOG_EVERY came at once"
    assert logged[-1].generated <= usage.completion


def test_a_complete_answer_ends_without_another_step() -> None:
    """One step: the prompt's, which gives the first token; all others are forced."""
    world = answered(Ask("fixed"))
    assert world.text("a") == "nothing else"
    assert world.end("a").reason is FinishReason.STOP
    assert world.steps == 1


def test_more_than_a_quantum_is_fed_in_parts_and_sampled_behind_the_last() -> None:
    world = answered(Ask("long"))
    parts = [plan.works[0] for plan in world.engine.plans]
    assert max(len(work.rows) for work in parts) == QUANTUM + 1
    assert [work.sampler is not None for work in parts].count(True) == 3, "the prompt's end, and twice [ab]"
    assert world.text("a")[5:-1] == LONG


@pytest.mark.parametrize(("limit", "grammar"), [(1, "record"), (3, "record"), (40, "long"), (2, "fixed")])
def test_a_limit_inside_forced_tokens_cuts_with_length(limit: int, grammar: str) -> None:
    end = answered(Ask(grammar, max_tokens=limit)).end("a")
    assert (end.reason, end.usage.completion) == (FinishReason.LENGTH, limit)


def test_an_answer_that_is_complete_at_its_limit_has_stopped() -> None:
    size = answered(Ask("fixed")).end("a").usage.completion
    assert answered(Ask("fixed", max_tokens=size)).end("a").reason is FinishReason.STOP


def test_a_stop_string_inside_forced_tokens_ends_the_answer() -> None:
    world = answered(Ask("fixed", stops=(" else",)))
    assert (world.text("a"), world.end("a").sequence) == ("nothing", " else")


def test_an_end_token_that_is_not_allowed_is_not_taken() -> None:
    """The model would end at once; JSON comes all the same."""
    world = answered(Ask("record", text="x", sampling=Sampling(temperature=0, logit_bias=())))
    assert set(json.loads(world.text("a"))) == {"name_of_the_tree", "its_height"}


def test_neighbours_get_a_row_in_every_step_while_much_is_forced() -> None:
    world = World(slots=3)
    world.ask("b", Ask(text="word " * 20, sampling=Sampling(temperature=0, ignore_eos=True), max_tokens=40))
    while not any(isinstance(event, Text) for event in world.events["b"]):
        world.turn()
    world.ask("a", Ask("long"))
    world.ask("c", Ask(text="word " * 100, max_tokens=2))
    before = world.steps
    world.run()
    for plan in world.engine.plans[before : before + 10]:
        rows = [len(work.rows) for work in plan.works]
        assert rows[0] == 1
        assert sum(rows) <= QUANTUM + 3


@pytest.mark.parametrize("trim", [Trim.WINDOW, Trim.BOUNDARY])
def test_marks_are_made_where_they_are_due_though_many_rows_come_at_once(trim: Trim) -> None:
    world = World(trim=trim, knobs=Knobs(interval=32, align=32))
    job = world.ask("a", Ask("long"))
    world.run()
    end, first = world.end("a"), job.plan.rows
    fed = first + end.usage.completion - 1
    kept = {saved.rows for saved in end.report.saved if saved.rows > first}
    assert kept == {row for row in range(32, fed + 1, 32) if row > first}


def test_a_guide_that_fails_ends_its_own_answer_alone() -> None:
    world = World()
    job = world.ask("a", Ask("open", sampling=Sampling(seed=1)))
    world.ask("b", Ask())
    world.turn()
    assert job.guide is not None
    with pytest.raises(EngineError):
        job.guide.accept(0)
    world.run()
    last = world.events["a"][-1]
    assert isinstance(last, Failed)
    assert "constraint" in last.error.message
    assert world.text("b") == "answer to oak"
    assert world.scheduler.status().readiness.value == "ready"
