"""A prompt in the tokens of a memory that spells the same text (see `kv.healing`)."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ds4.core.plan import Boundary, Ids, PromptPlan
from ds4.core.ports import Tokenizer
from ds4.kv.healing import heal, speller


@dataclass(frozen=True, slots=True)
class Alike:
    """The first `held` rows of a memory and the `bridge` spell what the first `wanted` of a prompt do."""

    held: int
    wanted: int
    bridge: tuple[int, ...] = ()


Comparer = Callable[[Ids, Ids, int], Alike | None]
"""Takes what is held, a prompt's rows, and how many are equal; None where the texts part there, too."""


def comparer(tokenizer: Tokenizer) -> Comparer:
    # Markup like <think> is no text either: what a client spells so is not what the template meant.
    spell = speller(tokenizer.piece, frozenset(tokenizer.controls.values()))

    def compare(held: Ids, wanted: Ids, common: int) -> Alike | None:
        found = heal(held, wanted, common, spell)
        bridge = tokenizer.encode_plain(found.bridge) if found and found.bridge else []
        if found and found.bridge and b"".join(map(tokenizer.piece, bridge)) != found.bridge.encode():
            # Some vocabularies put a space in front of whatever they encode.
            found, bridge = heal(held, wanted, common, spell, bridges=False), []
        return None if found is None else Alike(found.held, found.wanted, tuple(bridge))

    return compare


def rewritten(plan: PromptPlan, held: Ids, common: int, alike: Alike) -> PromptPlan:
    """The plan with the tokens of `held`. Boundaries inside what is spelled otherwise have no equal there."""
    bridge = np.array(alike.bridge, np.int32)
    ids = np.concatenate([held[: alike.held], bridge, plan.ids[alike.wanted :]])
    ids.setflags(write=False)
    grown = ids.size - plan.rows
    kept = (b for b in plan.boundaries if not common < b.row < alike.wanted)
    return replace(plan, ids=ids, boundaries=tuple(_moved(b, alike, grown) for b in kept))


def _moved(boundary: Boundary, alike: Alike, grown: int) -> Boundary:
    return boundary if boundary.row < alike.wanted else replace(boundary, row=boundary.row + grown)
