"""The truth of reuse: whatever ran before, beside or half-way, and wherever rows came from, an answer is the
one that a fresh server gives."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from truth_world import CALLERS, QUESTIONS, How, Setting, Talk, World

from ds4.core.step import Trim


@dataclass(frozen=True)
class Ask:
    """`count` equal requests in a conversation, then `turns` turns."""

    talk: int
    how: How
    question: int
    count: int
    limit: int
    turns: int


@dataclass(frozen=True)
class Cancel:
    which: int
    turns: int


@dataclass(frozen=True)
class Harm:
    """To a checkpoint: unreadable, changed, deleted by another process, or all reads late from now on."""

    what: str
    which: int


@dataclass(frozen=True)
class Wait:
    """Until everything is answered; then a new process, if `restart`."""

    restart: bool


Action = Ask | Cancel | Harm | Wait

asks = st.builds(
    Ask,
    talk=st.integers(0, len(CALLERS) - 1),
    how=st.sampled_from(How),
    question=st.integers(0, len(QUESTIONS) - 1),
    count=st.sampled_from([1, 1, 1, 2, 3]),
    limit=st.sampled_from([0, 1, 3, 24]),
    turns=st.sampled_from([0, 1, 2, 5, 40]),
)
cancels = st.builds(Cancel, which=st.integers(0, 5), turns=st.integers(0, 3))
harms = st.builds(Harm, st.sampled_from(["unreadable", "changed", "deleted", "late"]), st.integers(0, 9))
waits = st.builds(Wait, st.booleans())
scripts = st.lists(st.one_of(asks, asks, asks, cancels, harms, waits), min_size=4, max_size=14)
places = st.builds(
    Setting,
    trim=st.just(Trim.ANY),
    slots=st.integers(1, 4),
    ram=st.sampled_from([0, 20_000, 40_000, 1 << 20]),
    marks=st.sampled_from([0, 4_000, 1 << 20]),
    store=st.booleans(),
)
half = settings(max_examples=max(1, settings().max_examples // 2))
"""Each example is a whole day of traffic."""


def play(world: World, script: list[Action]) -> None:
    talks = [Talk(namespace) for namespace in CALLERS]
    for action in script:
        match action:
            case Ask():
                ask(world, talks[action.talk], action)
            case Cancel(which, turns):
                if which < len(world.live):
                    world.cancel(world.live[which])
                take(world, turns)
            case Harm():
                harm(world, action)
            case Wait(restart):
                world.run_out()
                if restart:
                    world.restart()
    world.run_out()


def ask(world: World, talk: Talk, action: Ask) -> None:
    plan = talk.go_on(world.words, action.how, QUESTIONS[action.question])
    for _ in range(action.count):
        talk.last = world.ask(plan, action.limit)
    take(world, action.turns)


def take(world: World, turns: int) -> None:
    for _ in range(turns):
        world.turn()


def harm(world: World, action: Harm) -> None:
    if world.store is None or not world.store.saves:
        return
    keys = list(world.store.saves)
    key = keys[action.which % len(keys)]
    match action.what:
        case "unreadable":
            world.store.damaged.add(key)
        case "changed":
            change(world, key)
        case "deleted":
            world.store.vanish(key)
        case _:
            world.store.slow = True


def change(world: World, key: str) -> None:
    assert world.store is not None
    save = world.store.saves[key]
    parts = tuple(replace(part, data=bytes(part.data)[:-1] + b"\0") for part in save.snapshot.parts)
    world.store.saves[key] = replace(save, snapshot=replace(save.snapshot, parts=parts))


@pytest.mark.parametrize("trim", list(Trim))
@half
@given(place=places, script=scripts)
def test_answers_are_those_of_a_fresh_server(trim: Trim, place: Setting, script: list[Action]) -> None:
    world = World(replace(place, trim=trim))
    play(world, script)
    world.check_answers()
