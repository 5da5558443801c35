"""The truth of reuse: whatever ran before, beside or half-way, and wherever rows came from, an answer is the
one that a fresh server gives."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from truth_world import CALLERS, QUESTIONS, How, Setting, Talk, World

from ds4.core.step import Trim
from ds4.testing.inline_store import InlineStore


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
    """To a checkpoint: unreadable, changed, deleted by another process, or all reads late from now on. Or to
    the engine: a few moves of states fail, or the next step."""

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
    how=st.sampled_from([*How, How.TOLD, How.TOLD]),
    question=st.integers(0, len(QUESTIONS) - 1),
    count=st.sampled_from([1, 1, 1, 2, 3]),
    limit=st.sampled_from([24, 24, 3, 1, 0]),
    turns=st.sampled_from([40, 40, 5, 2, 1, 0]),
)
cancels = st.builds(Cancel, which=st.integers(0, 5), turns=st.integers(0, 3))
harms = st.builds(
    Harm,
    st.sampled_from(["unreadable", "changed", "deleted", "late", "stubborn", "broken"]),
    st.integers(0, 9),
)
waits = st.builds(Wait, st.booleans())
scripts = st.lists(st.one_of(asks, asks, asks, cancels, harms, waits), min_size=8, max_size=16)
places = st.builds(
    Setting,
    trim=st.just(Trim.ANY),
    slots=st.integers(1, 4),
    ram=st.sampled_from([0, 20_000, 40_000, 1 << 20]),
    marks=st.sampled_from([0, 4_000, 1 << 20]),
    store=st.booleans(),
)


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
    world.harmed = True
    if action.what == "stubborn":
        world.engine.refusals += 1 + action.which % 4
    elif action.what == "broken":
        world.engine.broken = True
    elif world.store is not None and world.store.saves:
        harm_the_store(world.store, action)


def harm_the_store(store: InlineStore, action: Harm) -> None:
    keys = list(store.saves)
    key = keys[action.which % len(keys)]
    match action.what:
        case "unreadable":
            store.damaged.add(key)
        case "changed":
            change(store, key)
        case "deleted":
            store.vanish(key)
        case _:
            store.slow = True


def change(store: InlineStore, key: str) -> None:
    save = store.saves[key]
    parts = tuple(replace(part, data=bytes(part.data)[:-1] + b"\0") for part in save.snapshot.parts)
    store.saves[key] = replace(save, snapshot=replace(save.snapshot, parts=parts))


@pytest.mark.parametrize("trim", list(Trim))
@given(place=places, script=scripts)
def test_answers_are_those_of_a_fresh_server(trim: Trim, place: Setting, script: list[Action]) -> None:
    world = World(replace(place, trim=trim))
    play(world, script)
    world.check_answers()
