"""Random traffic through the scheduler: a few short prompts that share beginnings, come while others run,
go on from earlier answers and are cancelled half-way."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from ds4.core.events import Fed
from ds4.core.ports import Engine, Piece
from ds4.core.sampling import Sampled, Sampling
from ds4.schedule.scheduler import Limits
from ds4.testing.backend import Pump
from ds4.testing.clock import FakeClock
from ds4.testing.jobs import make_job

BEGINNING = tuple(range(300, 316))
TAILS = (tuple(range(20, 28)), tuple(range(40, 48)), tuple(range(600, 608)))
GREEDY = Sampling(temperature=0, logprobs=5)


@dataclass(frozen=True)
class Move:
    """A request, `wait` turns after the one before: `shared` rows of the common beginning and `own` rows of
    a tail, or an earlier answer's conversation and `own` rows. `cancels` the request before it first."""

    wait: int
    shared: int
    tail: int
    own: int
    tokens: int
    follows: bool = False
    cancels: bool = False


@dataclass
class Answer:
    """A Reader that keeps what was sampled: ids and logprobs, which follow every bit of the logits."""

    prompt: tuple[int, ...]
    limit: int
    sampled: list[Sampled] = field(default_factory=list)
    finished: bool = False

    def feed(self, piece: Piece) -> Fed:
        assert piece.sampled is not None
        self.sampled.append(piece.sampled)
        return Fed(())

    def flush(self, *, cut: bool = False) -> Fed:
        del cut
        self.finished = True
        return Fed(())

    @property
    def conversation(self) -> tuple[int, ...]:
        return (*self.prompt, *(sampled.id for sampled in self.sampled))


moves = st.builds(
    Move,
    wait=st.integers(0, 40),
    shared=st.integers(len(BEGINNING) // 2, len(BEGINNING)),
    tail=st.integers(0, len(TAILS) - 1),
    own=st.integers(1, len(TAILS[0])),
    tokens=st.integers(1, 6),
    follows=st.booleans(),
    cancels=st.booleans(),
)
traffic = st.lists(moves, min_size=3, max_size=6)


def play(engine: Engine, moves: Sequence[Move], limits: Limits) -> list[Answer]:
    """The answers that were not cancelled."""
    return asyncio.run(_play(engine, moves, limits))


def answer_alone(engine: Engine, prompt: tuple[int, ...], limit: int, limits: Limits) -> list[Sampled]:
    """What the engine says with nothing in its memory and nobody beside."""
    for slot in range(engine.info.n_slots):
        engine.clear(slot)
    return asyncio.run(_answer_alone(engine, prompt, limit, limits)).sampled


async def _answer_alone(engine: Engine, prompt: tuple[int, ...], limit: int, limits: Limits) -> Answer:
    pump = Pump(engine, FakeClock(), limits=limits)
    pump.hold()
    answer = Answer(prompt, limit)
    _submit(pump, answer, 0)
    _run_out(pump)
    assert answer.finished
    return answer


async def _play(engine: Engine, moves: Sequence[Move], limits: Limits) -> list[Answer]:
    pump = Pump(engine, FakeClock(), limits=limits)
    pump.hold()
    answers: list[Answer] = []
    cancelled = set()
    for number, move in enumerate(moves):
        for _ in range(move.wait):
            pump.step()
        if move.cancels and answers and not answers[-1].finished:
            cancelled.add(number - 1)
            pump.backend.cancel(_name(number - 1))
        answers.append(Answer(_prompt(move, answers), move.tokens))
        _submit(pump, answers[-1], number)
    _run_out(pump)
    kept = [answer for number, answer in enumerate(answers) if number not in cancelled]
    assert all(answer.finished for answer in kept)
    return kept


def _run_out(pump: Pump) -> None:
    while pump.step():
        pass


def _submit(pump: Pump, answer: Answer, number: int) -> None:
    job = make_job(
        _name(number), list(answer.prompt), max_tokens=answer.limit, reader=answer, sampling=GREEDY
    )
    pump.backend.submit(job)


def _name(number: int) -> str:
    return f"job{number}"


def _prompt(move: Move, answers: Sequence[Answer]) -> tuple[int, ...]:
    own = TAILS[move.tail][: move.own]
    told = [answer for answer in answers if answer.finished]
    return (*told[-1].conversation, *own) if move.follows and told else (*BEGINNING[: move.shared], *own)
