"""Plays a recorded session against this server: the model says what the recording's model said."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from answers import Answer, answer_of, sampled
from recordings import Asked, Json, carried, recording
from returning import answered, mapped, names_in, renamed
from steps import Session, Step

from ds4.core.step import Trim
from ds4.core.usage import CacheReport
from ds4.kv.replay.notebook import Notebook, Options
from ds4.schedule.scheduler import CachePlan, Limits
from ds4.testing.clock import FakeClock
from ds4.testing.inside import Inside, Setting, inside

DONE = Answer("That was all.", "Done.")
LIMITS = Limits(quantum=2048, chunk=2048)


@dataclass(frozen=True)
class Machine:
    """What the model is, and what there is room for. Unless it `remembers`, no answer is replayed."""

    family: str
    trim: Trim = Trim.ANY
    n_slots: int = 2
    remembers: bool = True

    def serve(self, model: "Model") -> Inside:
        notebook = Notebook(Options(), FakeClock()) if self.remembers else None
        cache = CachePlan(ram=1 << 30, notebook=notebook)
        setting = Setting(self.family, 1 << 17, self.n_slots, limits=LIMITS, trim=self.trim, cache=cache)
        return inside(model, setting)


@dataclass(slots=True)
class Model:
    """Says what it is told to say next, and keeps what it saw and said."""

    says: Answer = DONE
    prompt: str = ""
    said: str = ""

    def __call__(self, prompt: str) -> str:
        self.prompt = prompt
        self.said = sampled(self.says, prompt)
        return self.said


@dataclass(frozen=True)
class Turn:
    """What became of one step. `computed` is what GET /requests says, `prefilled` what the engine was given.

    `new` is what is behind the last answer in the agent's request, tools that were not there before included.
    """

    step: Step
    report: CacheReport
    computed: int
    prefilled: int
    prompt: str
    said: str
    new: tuple[Json, ...]

    @property
    def text(self) -> str:
        return self.prompt + self.said


@dataclass(slots=True)
class Played:
    server: Inside
    turns: dict[int, Turn] = field(default_factory=dict)

    def rows(self, text: str) -> int:
        return len(self.server.engine.tokenizer.encode_raw(text))

    def behind_the_answer(self, turn: Turn, after: int) -> str:
        """The rest of the prompt behind the one before and its answer, each as it was sampled."""
        before = self.turns[after].text
        if not turn.prompt.startswith(before):
            at = agreeing(turn.prompt, before)
            held, wanted = before[at - 60 : at + 60], turn.prompt[at - 60 : at + 60]
            raise AssertionError(f"another prompt from character {at}: {held!r}, now {wanted!r}")
        return turn.prompt[len(before) :]

    def in_common(self, turn: Turn) -> int:
        """Rows that some prompt before begins with, too."""
        earlier = takewhile(lambda one: one is not turn, self.turns.values())
        agreed = max((agreeing(turn.prompt, one.text) for one in earlier), default=0)
        return self.rows(turn.prompt[:agreed])


def agreeing(one: str, other: str) -> int:
    """With how many characters both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (here, there) in pairs if here != there), min(len(one), len(other)))


async def play(session: Session, machine: Machine) -> Played:
    """Needs an event loop."""
    model = Model()
    played = Played(machine.serve(model))
    requests, steps = recording(session.recording), session.steps
    names: dict[str, str] = {}
    for step in steps:
        asked = requests[step.number]
        carries = _carried(requests, steps, step)
        model.says = _answer(asked, carries)
        body = json.dumps(renamed(asked.body, names)).encode()
        reply = await played.server.client.request("POST", asked.target, body=body, headers=asked.headers)
        if reply.status != 200:
            raise AssertionError(f"{session.name} {step.number}: {reply.status} {reply.body.decode()}")
        names |= mapped(names_in(carries), names_in(answered(asked.path, reply.body)))
        played.turns[step.number] = await _turn(played.server, model, step, _new(requests, step))
    return played


async def _turn(server: Inside, model: Model, step: Step, new: tuple[Json, ...]) -> Turn:
    newest = (await server.client.get("/requests?limit=1")).json()["requests"][0]
    computed, prefilled = newest["computed_tokens"], server.last_cost().computed
    return Turn(step, server.last_report(), computed, prefilled, model.prompt, model.said, new)


def _carried(requests: Sequence[Asked], steps: Sequence[Step], step: Step) -> list[Json]:
    """The answer to `step`, as the agent sends it back later."""
    later = next((one for one in steps if one.after == step.number), None)
    return [] if later is None else carried(requests[step.number], requests[later.number])[0]


def _answer(asked: Asked, carries: list[Json]) -> Answer:
    """Over chat an agent may leave out what the model thought."""
    answer = answer_of(carries) if carries else DONE
    if answer.reasoning or asked.path != "/v1/chat/completions":
        return answer
    return Answer("What the agent leaves out.", answer.text, answer.calls)


def _new(requests: Sequence[Asked], step: Step) -> tuple[Json, ...]:
    if step.after is None:
        return ()
    before, now = requests[step.after], requests[step.number]
    known = before.body.get("tools") or []
    tools = [tool for tool in now.body.get("tools") or [] if tool not in known]
    return (*carried(before, now)[1], *tools)
