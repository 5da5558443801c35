"""All tools of one request, and which name means which.

Rules:
- What is offered before the conversation begins stands at the head of the prompt, in the client's
  order. What is offered later (found by a search, or added) is shown where it comes: the head stays as
  it was, and with it the cached prefix. Without any tool at the head the later ones move there, since
  the head also says how a call is written.
- Deferred tools wait for a search, if the client offers one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ds4.api.responses.tools import Kind, Offer, Ref
from ds4.core.constraint import Signature
from ds4.core.messages import Tool


@dataclass(frozen=True, slots=True)
class Named:
    """A tool under the name the model knows it by."""

    ref: Ref
    tool: Tool
    signature: Signature


@dataclass(frozen=True, slots=True)
class Toolbox:
    """`head` is what the prompt begins with; `late` has, by the index of the item that brings them, the
    tools to show there."""

    head: tuple[Named, ...] = ()
    late: Mapping[int, tuple[Named, ...]] = field(default_factory=dict)

    @property
    def all(self) -> tuple[Named, ...]:
        return (*self.head, *(named for found in self.late.values() for named in found))

    def meant(self, name: str) -> Ref:
        """What the model means. It sometimes leaves the namespace out; names nobody offered stay as they
        are, and the client will say so."""
        every = self.all
        exact = [named.ref for named in every if named.tool.name == name]
        inner = [named.ref for named in every if named.ref.name == name]
        return exact[0] if exact else inner[0] if len(inner) == 1 else Ref(name)

    def spoken(self, name: str, namespace: str | None) -> str:
        """The model's name for a tool that the client names, offered or not."""
        known = [n.tool.name for n in self.all if (n.ref.name, n.ref.namespace) == (name, namespace)]
        return known[0] if known else Ref(name, namespace).flat


def toolbox(head: Iterable[Offer], late: Mapping[int, tuple[Offer, ...]]) -> Toolbox:
    """A tool offered twice counts once, where it comes first."""
    first = tuple(head)
    searched = any(offer.ref.kind is Kind.SEARCH for offer in first)
    shown = [offer for offer in first if not (offer.deferred and searched)]
    if not shown:
        shown, late = [offer for found in late.values() for offer in found], {}
    names: dict[Ref, str] = {}
    return Toolbox(
        _named(shown, names),
        {index: _named(found, names) for index, found in late.items()},
    )


def _named(given: Iterable[Offer], names: dict[Ref, str]) -> tuple[Named, ...]:
    """Adds to `names`, which holds the names that are taken."""
    made: list[Named] = []
    for offer in given:
        ref = offer.ref
        if ref in names:
            continue
        name = names[ref] = _free(ref.flat, names.values())
        made.append(Named(ref, offer.tool(name), offer.signature(name)))
    return tuple(made)


def _free(name: str, taken: Iterable[str]) -> str:
    used, number, free = set(taken), 2, name
    while free in used:
        free, number = f"{name}_{number}", number + 1
    return free
