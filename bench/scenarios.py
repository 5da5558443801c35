"""What agents do to a cache, turn by turn. Every scenario begins with a fresh server."""

import asyncio
import copy
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field

from bench.desk import Cost, Desk
from bench.shapes import Shape, filler
from bench.talk import Answer, Results, Turn, User, body, side_request

TURNS = 8
REST = 5.0
"""Seconds in which nobody asks anything."""


@dataclass(slots=True)
class Agent:
    """One conversation. `kept` tokens of it have been computed once: the prompt and the answer before.

    `wording` is the length of what a user says, `result` of what a tool says, in characters.
    """

    desk: Desk
    shape: Shape
    name: str
    max_tokens: int
    wording: int = 300
    result: int = 600
    turns: list[Turn] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    asked: int = 0

    async def turn(self, what: str = "") -> Cost:
        """The next one: what the tools said, when the last answer called any, else the user's words."""
        last = self.turns[-1] if self.turns else None
        self.asked += 1
        if isinstance(last, Answer) and last.calls:
            said = (
                (call.id, filler(f"{self.name} {self.asked} {call.id}", self.result)) for call in last.calls
            )
            self.turns.append(Results(tuple(said)))
        else:
            self.turns.append(User(filler(f"{self.name} {self.asked}", self.wording)))
        return await self.send(what or f"turn {self.asked}")

    async def send(self, what: str, kept: int | None = None) -> Cost:
        known = (self.kept[-1] if self.kept else 0) if kept is None else kept
        asked = body(self.shape, self.turns, self.max_tokens)
        answer, cost = await self.desk.ask(self.shape.api, asked, who=self.name, what=what, kept=known)
        self.turns.append(answer)
        self.kept.append(cost.prompt + cost.completion)
        return cost

    async def again(self) -> Cost:
        """Regenerates: the last prompt is sent once more."""
        del self.turns[-1]
        answered = self.kept.pop()
        return await self.send("again", answered - self.desk.costs[-1].completion)

    async def edit(self, turn: int) -> Cost:
        """The words of that turn (from 1) become others, and what followed them is gone."""
        self.turns = [*self.turns[: 2 * turn - 2], User(filler(f"{self.name} edited {turn}", self.wording))]
        del self.kept[turn - 1 :]
        return await self.send(f"edit of turn {turn}")

    async def aside(self) -> None:
        asked = side_request(self.shape, filler(self.name, self.wording))
        await self.desk.ask(self.shape.api, asked, who=self.name, what="title, aside", kept=0)

    def branch(self, name: str) -> "Agent":
        fork = copy.copy(self)
        fork.name, fork.turns, fork.kept = name, list(self.turns), list(self.kept)
        return fork


Hire = Callable[[str], Agent]
"""A new agent of that name."""


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    slots: int
    play: Callable[[Desk, Hire], Coroutine[None, None, None]]


async def one(_desk: Desk, hire: Hire) -> None:
    await turns(hire("A"), TURNS)


async def two_on_one_slot(_desk: Desk, hire: Hire) -> None:
    agents = hire("A"), hire("B")
    for _ in range(TURNS // 2):
        for agent in agents:
            await agent.turn()


async def five_on_four_slots(_desk: Desk, hire: Hire) -> None:
    """All at once, again and again: one of them waits, and takes a slot that another has just left."""
    agents = [hire(name) for name in "ABCDE"]
    for _ in range(TURNS // 2):
        await asyncio.gather(*(agent.turn() for agent in agents))


async def terminated(desk: Desk, hire: Hire) -> None:
    await _around(desk, hire("A"), kill=False)


async def killed(desk: Desk, hire: Hire) -> None:
    await _around(desk, hire("A"), kill=True)


async def killed_at_rest(desk: Desk, hire: Hire) -> None:
    await _around(desk, hire("A"), kill=True, rest=REST)


async def edited(_desk: Desk, hire: Hire) -> None:
    agent = hire("A")
    await turns(agent, 5)
    await agent.edit(3)
    await turns(agent, 2)


async def regenerated(_desk: Desk, hire: Hire) -> None:
    agent = hire("A")
    await turns(agent, 3)
    await agent.again()
    await agent.again()
    await turns(agent, 1)


async def title_between(_desk: Desk, hire: Hire) -> None:
    agent = hire("A")
    await turns(agent, 2)
    await agent.aside()
    await turns(agent, 2)
    await agent.aside()
    await turns(agent, 1)


async def eight_branches(_desk: Desk, hire: Hire) -> None:
    """From one conversation, all at once, in eight slots."""
    agent = hire("A")
    await turns(agent, 3)
    await asyncio.gather(*(agent.branch(f"A{number}").turn("branch") for number in range(8)))


async def eight_at_once(_desk: Desk, hire: Hire) -> None:
    """Sub-agents with the same tools and system text, on a fresh server."""
    await asyncio.gather(*(hire(f"S{number}").turn() for number in range(8)))


async def turns(agent: Agent, count: int) -> None:
    for _ in range(count):
        await agent.turn()


async def _around(desk: Desk, agent: Agent, *, kill: bool, rest: float = 0) -> None:
    await turns(agent, TURNS // 2)
    await asyncio.sleep(rest)
    desk.restart(kill=kill)
    await agent.turn("after kill -9" if kill else "after SIGTERM")
    await turns(agent, 1)


SCENARIOS = (
    Scenario("one agent", 1, one),
    Scenario("two agents on one slot", 1, two_on_one_slot),
    Scenario("five agents on four slots", 4, five_on_four_slots),
    Scenario("restart", 1, terminated),
    Scenario("kill -9", 1, killed),
    Scenario("kill -9 at rest", 1, killed_at_rest),
    Scenario("edit", 1, edited),
    Scenario("regenerate", 1, regenerated),
    Scenario("title in between", 1, title_between),
    Scenario("eight branches", 8, eight_branches),
    Scenario("eight at once", 8, eight_at_once),
)


def chosen(names: Iterable[str], *, virtual: bool = False) -> list[Scenario]:
    """Those whose names have one of the words. On a `virtual` clock nobody rests."""
    wanted = list(names) or [""]
    found = [scenario for scenario in SCENARIOS if any(word in scenario.name for word in wanted)]
    return [scenario for scenario in found if not (virtual and scenario.play is killed_at_rest)]
