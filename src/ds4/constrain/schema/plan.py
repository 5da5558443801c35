"""The graph of states, and which of them a value can have at all.

A state without a finite value (it contradicts itself, or requires itself inside itself) is as good as
`false`.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ds4.constrain.schema.build import Builder
from ds4.constrain.schema.document import Document
from ds4.constrain.schema.forms import ArrayForm, Form, Leaf, ObjectForm, inner_states
from ds4.constrain.schema.gather import State
from ds4.constrain.schema.report import Contradiction, Report
from ds4.constrain.schema.work import Work


@dataclass(frozen=True, slots=True)
class Plan:
    """`forms` has only states and forms that a value can have."""

    root: State
    forms: Mapping[State, tuple[Form, ...]]

    def has(self, state: State) -> bool:
        return not state or state in self.forms


def planned(document: Document, report: Report) -> Plan:
    """Raises Contradiction if nothing matches."""
    builder = Builder(document, report, Work(document))
    root: State = (document.root,)
    forms: dict[State, tuple[Form, ...]] = {}
    waiting = [root]
    while waiting:
        state = waiting.pop(0)
        if state not in forms:
            forms[state] = builder.forms(state)
            waiting += [inner for form in forms[state] for inner in inner_states(form)]
    plan = Plan(root, _possible(forms))
    if not plan.has(root):
        raise Contradiction(*_reason(root, forms, builder.reasons, document))
    return plan


def _possible(forms: Mapping[State, tuple[Form, ...]]) -> dict[State, tuple[Form, ...]]:
    """Grows from what needs nothing else."""
    users: dict[State, set[State]] = {}
    for state, own in forms.items():
        for inner in (inner for form in own for inner in inner_states(form)):
            users.setdefault(inner, set()).add(state)
    known: set[State] = set()
    waiting = list(forms)
    while waiting:
        state = waiting.pop()
        if state not in known and any(can_be(form, known) for form in forms[state]):
            known.add(state)
            waiting.extend(users.get(state, ()))
    return {
        state: tuple(form for form in own if can_be(form, known))
        for state, own in forms.items()
        if state in known
    }


def can_be(form: Form, known: Collection[State]) -> bool:
    """Whether a value of the form exists, by the states that are known to have one."""
    if isinstance(form, Leaf):
        return True
    if isinstance(form, ArrayForm):
        needed = form.prefix[: form.least] + (form.items,) * (form.least > len(form.prefix))
        return all(not state or state in known for state in needed)
    if not all(not one.state or one.state in known for one in form.members if one.required):
        return False
    optional = [one for one in form.members if not one.state or one.state in known]
    endless = any(
        not state or state in known for state in (form.others, *(state for _, state in form.patterns))
    )
    return endless or len(optional) >= form.least


def _reason(
    state: State,
    forms: Mapping[State, tuple[Form, ...]],
    reasons: Mapping[State, tuple[str, str]],
    document: Document,
) -> tuple[str, str]:
    """Follows what is required down to where it fails."""
    seen: set[State] = set()
    while state not in seen:
        seen.add(state)
        if state in reasons and not forms[state]:
            return reasons[state]
        inner = [one for form in forms[state] for one in _needed(form) if one]
        state = next((one for one in inner if not forms[one]), inner[0] if inner else state)
    return document.name(state[0]), "it requires itself without end, or more than there can be"


def _needed(form: Form) -> list[State]:
    if isinstance(form, ObjectForm):
        return [one.state for one in form.members if one.required]
    if isinstance(form, ArrayForm):
        return [*form.prefix[: form.least], form.items] if form.least else []
    return []
