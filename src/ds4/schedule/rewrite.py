"""A prompt in the tokens of a memory that spells the same text (see `kv.healing`)."""

from dataclasses import replace

import numpy as np

from ds4.core.plan import Boundary, Ids, PromptPlan
from ds4.core.ports import Tokenizer
from ds4.kv.healing import Healed, Spell, heal


def rewritten(
    plan: PromptPlan, held: Ids, common: int, spell: Spell, tokenizer: Tokenizer
) -> tuple[PromptPlan, int] | None:
    """The plan with the tokens of `held`, and how many rows they have in common then.

    None where the text parts with the tokens, after `common` rows.
    """
    found = heal(held, plan.ids, common, spell)
    bridge = tokenizer.encode_plain(found.bridge) if found and found.bridge else []
    if found and found.bridge and b"".join(map(tokenizer.piece, bridge)) != found.bridge.encode():
        # Some vocabularies put a space in front of whatever they encode.
        found, bridge = heal(held, plan.ids, common, spell, bridges=False), []
    return None if found is None else (_with(plan, held, found, bridge), found.held)


def _with(plan: PromptPlan, held: Ids, found: Healed, bridge: list[int]) -> PromptPlan:
    ids = np.concatenate([held[: found.held], np.array(bridge, np.int32), plan.ids[found.wanted :]])
    ids.setflags(write=False)
    grown = ids.size - plan.rows
    boundaries = tuple(_moved(b, found, grown) for b in plan.boundaries if not found.parts(b.row))
    return replace(plan, ids=ids, boundaries=boundaries)


def _moved(boundary: Boundary, found: Healed, grown: int) -> Boundary:
    return boundary if boundary.row < found.wanted else replace(boundary, row=boundary.row + grown)
