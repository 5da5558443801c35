"""From states to forms: every state that the root leads to, each once."""

from collections.abc import Iterator

from ds4.constrain.schema.arrays import array_form
from ds4.constrain.schema.document import Document, Place
from ds4.constrain.schema.forms import ArrayForm, Form, Impossible, Leaf, ObjectForm, with_states
from ds4.constrain.schema.gather import Alternative, Gatherer, State
from ds4.constrain.schema.kinds import types_said
from ds4.constrain.schema.library import possible
from ds4.constrain.schema.limits import STEPS_OF_A_QUESTION
from ds4.constrain.schema.literals import Judge, listed, literals
from ds4.constrain.schema.nodes import Nodes
from ds4.constrain.schema.numbers import number_form
from ds4.constrain.schema.objects import object_form
from ds4.constrain.schema.report import Contradiction, Report
from ds4.constrain.schema.texts import text_form
from ds4.constrain.schema.work import Work

ANYTHING = Leaf(True)
_FREE: list[Form] = [
    Leaf({"type": "null"}),
    Leaf({"type": "boolean"}),
    Leaf({"type": "number"}),
    Leaf({"type": "string"}),
    ArrayForm(),
    ObjectForm(),
]
"""What says nothing."""
_OVERLAP_DEPTH = 3


class Builder:
    """`reasons` says of a state without forms why, as a field of the request and an explanation."""

    def __init__(self, document: Document, report: Report, work: Work) -> None:
        self._document = document
        self._report = report
        self._work = work
        self._nodes = Nodes(document, report)
        self._gatherer = Gatherer(document, self._nodes, report, work, self._is_impossible)
        self._judge = Judge(self._gatherer.alternatives, self._nodes, self._matches)
        self._silent = Report(document, strict=False)
        self._found: dict[tuple[str, str], bool] = {}
        self.reasons: dict[State, tuple[str, str]] = {}

    def forms(self, state: State) -> tuple[Form, ...]:
        """Raises Contradiction where one schema contradicts itself."""
        found: dict[str, Form] = {}
        for alternative in self._gatherer.alternatives(state):
            for form in self._of_alternative(alternative, state):
                found[repr(form)] = form
        if ANYTHING in found.values():
            return (ANYTHING,)
        if not found:
            reason = (self._document.name(state[0]), "nothing matches all that it says")
            self.reasons.setdefault(state, reason)
        return tuple(found.values())

    def _of_alternative(self, alternative: Alternative, state: State) -> list[Form]:
        forms = []
        for form in self._possible(alternative, self._report):
            if not isinstance(form, Impossible):
                forms.append(with_states(form, self._gatherer.short))
                continue
            name = self._document.name(form.place, form.keyword)
            if form.own:
                raise Contradiction(name, form.why)
            self.reasons[state] = (name, form.why)
        return [ANYTHING] if forms == _FREE else forms

    def _possible(self, alternative: Alternative, report: Report) -> Iterator[Form | Impossible]:
        kinds, whole = types_said(alternative)
        try:
            stated = listed(alternative)
        except Impossible as reason:
            yield reason
            return
        if stated is not None:
            yield self._listed(alternative, *stated)
            return
        for kind in kinds:
            try:
                yield self._of_kind(kind, alternative, whole=whole, report=report)
            except Impossible as reason:
                yield reason

    def _listed(self, alternative: Alternative, place: Place, values: list[object]) -> Leaf | Impossible:
        fitting = [value for value in values if self._judge.fits(value, alternative)]
        if fitting:
            return literals(fitting)
        return Impossible(
            Place(place.keys[:-1], None), str(place.keys[-1]), "none of its values matches the rest"
        )

    def _of_kind(self, kind: str, alternative: Alternative, *, whole: bool, report: Report) -> Form:
        if kind == "number":
            return number_form(alternative, whole=whole, report=report)
        if kind == "string":
            return text_form(alternative, self._nodes, report)
        if kind == "array":
            return array_form(alternative)
        if kind == "object":
            return object_form(alternative, self._nodes, self._matches, report)
        return Leaf({"type": kind})

    def _is_impossible(self, alternative: Alternative, depth: int = _OVERLAP_DEPTH) -> bool:
        """Whether it surely is. Looks at what an object requires, not at all that is inside."""
        for form in self._possible(alternative, self._silent):
            required = (
                [one.state for one in form.members if one.required] if isinstance(form, ObjectForm) else []
            )
            if not isinstance(form, Impossible) and not any(
                self._is_empty(state, depth - 1) for state in required
            ):
                return False
        return True

    def _is_empty(self, state: State, depth: int) -> bool:
        if not state or not depth:
            return False
        return all(self._is_impossible(one, depth) for one in self._gatherer.alternatives(state))

    def _matches(self, pattern: str, text: str) -> bool:
        if (pattern, text) not in self._found:
            self._work.spend(self._document.root, STEPS_OF_A_QUESTION)
            leaf = {"type": "string", "pattern": self._nodes.regex(pattern)}
            self._found[pattern, text] = possible(leaf, {"const": text})
        return self._found[pattern, text]
