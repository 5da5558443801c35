"""What a value can be, one JSON type each. All that an alternative says about the type is merged in it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ds4.constrain.schema.document import Place
from ds4.constrain.schema.gather import State
from ds4.constrain.schema.nodes import Node


class Impossible(Exception):
    """No value of this type matches. `place` and `keyword` say why."""

    def __init__(self, place: Place, keyword: str, why: str, *, own: bool = False) -> None:
        super().__init__(why)
        self.place = place
        self.keyword = keyword
        self.why = why
        self.own = own
        """One schema contradicts itself; otherwise several that must all hold do."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """Has no schemas inside: ready for the library. True: any value."""

    schema: Mapping[str, object] | bool


@dataclass(frozen=True, slots=True)
class ArrayForm:
    """The empty state is any value."""

    prefix: tuple[State, ...] = ()
    items: State = ()
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Member:
    name: str
    state: State
    required: bool


@dataclass(frozen=True, slots=True)
class ObjectForm:
    """`patterns` are regexes that share no name; `others` is for names that nothing else covers.

    `at` is where an object that cannot be written as said is reported.
    """

    members: tuple[Member, ...] = ()
    patterns: tuple[tuple[str, State], ...] = ()
    others: State = ()
    least: int = 0
    most: int | None = None
    at: Place | None = field(default=None, compare=False)


Form = Leaf | ArrayForm | ObjectForm


def inner_states(form: Form) -> tuple[State, ...]:
    """Of a form's parts, those that may be anything left out."""
    states: tuple[State, ...] = ()
    if isinstance(form, ArrayForm):
        states = (*form.prefix, form.items)
    elif isinstance(form, ObjectForm):
        states = (
            *(member.state for member in form.members),
            *(state for _, state in form.patterns),
            form.others,
        )
    return tuple(state for state in states if state)


def with_states(form: Form, change: Callable[[State], State]) -> Form:
    if isinstance(form, ArrayForm):
        return replace(form, prefix=tuple(map(change, form.prefix)), items=change(form.items))
    if isinstance(form, ObjectForm):
        return replace(
            form,
            members=tuple(replace(member, state=change(member.state)) for member in form.members),
            patterns=tuple((regex, change(state)) for regex, state in form.patterns),
            others=change(form.others),
        )
    return form


@dataclass(frozen=True, slots=True)
class Said:
    """A keyword with a value, and where."""

    value: int | float
    node: Node
    keyword: str
    exclusive: bool = False


def strictest(nodes: tuple[Node, ...], keyword: str, *, largest: bool) -> Said | None:
    """Of a keyword with a number."""
    said = [Said(value, node, keyword) for node in nodes if (value := number_of(node, keyword)) is not None]
    return (max if largest else min)(said, key=lambda one: one.value, default=None)


def number_of(node: Node, keyword: str) -> int | float | None:
    value = node.keywords.get(keyword)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def contradiction(low: Said, high: Said) -> Impossible:
    return Impossible(
        high.node.place,
        high.keyword,
        f"{low.keyword} {low.value} and {high.keyword} {high.value}",
        own=low.node == high.node,
    )
