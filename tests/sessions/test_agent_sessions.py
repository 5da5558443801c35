"""Recorded sessions of real agents cost their new tokens, and what else they cost is the agent's own doing.

HYPOTHESIS_PROFILE=thorough plays every session on every machine.
"""

import asyncio
import json
from dataclasses import replace

import pytest
from playing import Machine, Played, Turn, play
from recordings import history, recording
from steps import PI, SESSIONS, Session, Step

from ds4.core.step import Trim
from ds4.core.usage import CacheSource, MissReason
from thorough import THOROUGH

MARKERS = 32
"""Tokens of a template that a turn may cost beside its new ones."""
LAST_MARK = 512
"""A memory that cannot be cut back is at most so many rows in front of what changed."""
FAMILIES = ("deepseek-v4", "glm-5.2", "qwen3.8", "deepseek-v4.1", "glm-5.3", "chatml")
MACHINES = [Machine(family, trim, n_slots) for family in FAMILIES for trim in Trim for n_slots in (2, 1)]
FEW = [(session, MACHINES[(7 * n) % len(MACHINES)]) for n, session in enumerate(SESSIONS)][1::3]
CELLS = [(session, machine) for session in SESSIONS for machine in MACHINES] if THOROUGH else FEW


def name(value: object) -> str:
    if isinstance(value, Machine):
        return f"{value.family}-{value.trim}-{value.n_slots}"
    return value.name if isinstance(value, Session) else str(value)


@pytest.mark.parametrize(("session", "machine"), CELLS, ids=name)
def test_a_turn_costs_what_is_new(session: Session, machine: Machine) -> None:
    played = asyncio.run(play(session, machine))
    for turn in played.turns.values():
        assert turn.computed == turn.prefilled == turn.report.computed
        if turn.step.after is not None:
            goes_on(played, turn, turn.step.after)
        else:
            says_why(played, turn, machine.trim)


def goes_on(played: Played, turn: Turn, after: int) -> None:
    new = played.rows(played.behind_the_answer(turn, after))
    assert turn.computed <= new + MARKERS
    # What the template adds is not counted as new without bound.
    assert new <= played.rows(json.dumps(turn.new, ensure_ascii=False)) + MARKERS
    replay = turn.report.replay
    assert (replay.turns, replay.refused) == (answers_in(played, turn.step), ())
    assert turn.report.reason is MissReason.NONE


def says_why(played: Played, turn: Turn, trim: Trim) -> None:
    """Of a request that is no next turn: it is named, and what is left of the cache is used."""
    assert turn.step.own
    report = turn.report
    common = played.in_common(turn)
    if not common:
        assert (report.source, report.reason) == (CacheSource.NONE, MissReason.NONE)
    elif trim is Trim.ANY:
        assert report.reason in turn.step.reasons
        assert report.reused >= common - 1
    else:
        assert report.reason in turn.step.reasons | {MissReason.CANNOT_REWIND}
        edits = MissReason.EDITED in turn.step.reasons and common > 2 * LAST_MARK
        assert report.reused >= (common - LAST_MARK if edits else 0)


def answers_in(played: Played, step: Step) -> int:
    """How many requests it goes on from."""
    return 0 if step.after is None else 1 + answers_in(played, played.turns[step.after].step)


@pytest.mark.parametrize("family", ["deepseek-v4", "qwen3.8"])
def test_without_the_memory_of_answers_it_would_cost_more(family: str) -> None:
    """Else the sessions would not show what it is worth."""
    machine = Machine(family, Trim.BOUNDARY)
    held, lost = (asyncio.run(play(PI[0], one)) for one in (machine, replace(machine, remembers=False)))
    with pytest.raises(AssertionError, match="another prompt"):
        lost.behind_the_answer(lost.turns[3], 2)
    assert lost.turns[3].computed > held.turns[3].computed + MARKERS


@pytest.mark.parametrize("session", SESSIONS, ids=name)
def test_a_next_turn_carries_the_history_of_the_one_before(session: Session) -> None:
    requests = recording(session.recording)
    for step in session.steps:
        if step.after is None:
            continue
        before, now = (requests[number] for number in (step.after, step.number))
        held, sent = history(before.path, before.body), history(now.path, now.body)
        assert [what(item) for item in sent[: len(held)]] == [what(item) for item in held]
        assert len(sent) > len(held)


def what(item: object) -> object:
    """What a message says: a client may mark where to cache, and write one text in either form."""
    if isinstance(item, list):
        return [what(part) for part in item]
    if not isinstance(item, dict):
        return item
    found = {key: what(value) for key, value in item.items() if key != "cache_control"}
    match found.get("content"):
        case [{"type": "text", "text": text, **rest}] if not rest:
            found["content"] = text
        case _:
            pass
    return found
