"""Both transition tables, checked against each other cell by cell."""

import itertools

import numpy as np
import pytest

from ds4.kv.policy import Place
from ds4.schedule import session, slots
from ds4.schedule.session import IllegalTransition, Session, State, Step
from ds4.schedule.slots import Change, Residency, Slot
from ds4.testing.jobs import make_job


def a_session() -> Session:
    return Session(make_job("j", list(range(10)), namespace="team"), 5, submitted=0.0)


@pytest.mark.parametrize(("state", "step"), list(itertools.product(State, Step)))
def test_request_transitions(state: State, step: Step) -> None:
    request = a_session()
    request.state = state
    target = session.TRANSITIONS.get((state, step))
    if target is None:
        with pytest.raises(IllegalTransition):
            request.advance(step)
        assert request.state is state
    else:
        request.advance(step)
        assert request.state is target


@pytest.mark.parametrize("state", [State.FINISHED, State.CANCELLED, State.FAILED])
def test_ends_are_final(state: State) -> None:
    assert not [key for key in session.TRANSITIONS if key[0] is state]


def test_every_living_request_can_be_cancelled_and_failed() -> None:
    for state in (State.QUEUED, State.PREFILL, State.DECODE):
        assert session.TRANSITIONS[state, Step.CANCEL] is State.CANCELLED
        assert session.TRANSITIONS[state, Step.FAIL] is State.FAILED


@pytest.mark.parametrize(("residency", "change"), list(itertools.product(Residency, Change)))
def test_slot_transitions(residency: Residency, change: Change) -> None:
    slot = Slot(0)
    slot.rows.extend(np.arange(7, dtype=np.int32))
    slot.residency = residency
    actions = {
        Change.LEASE: lambda: slot.lease(a_session(), reused=3),
        Change.RELEASE: lambda: slot.release(1.0),
        Change.WIPE: slot.wipe,
    }
    target = slots.TRANSITIONS.get((residency, change))
    if target is None:
        with pytest.raises(IllegalTransition):
            actions[change]()
        assert (slot.residency, len(slot.rows), slot.session) == (residency, 7, None)
    else:
        actions[change]()
        assert slot.residency is target


def test_a_lease_takes_the_prompts_rows_and_the_namespace() -> None:
    slot, request = Slot(0), a_session()
    slot.rows.extend(np.full(7, 99, dtype=np.int32))
    slot.lease(request, reused=3)
    assert slot.rows.view().tolist() == request.plan.ids[:3].tolist()
    assert (slot.namespace, slot.session) == ("team", request)


def test_stops_are_walked_in_order() -> None:
    request = a_session()
    request.stops = {8: Place(8), 4: Place(4)}
    seen = []
    while request.remaining:
        seen.append(request.to_stop)
        request.prefilled += request.to_stop
    assert seen == [4, 4, 2]
