"""A plan in the tokens of a memory."""

import numpy as np

from ds4.core.plan import Boundary, BoundaryKind, Origin, PromptPlan, Tokens
from ds4.engine.scripted.bpe import packaged_bpe
from ds4.engine.scripted.tokenizer import ScriptedTokenizer
from ds4.formats.registry import family_named
from ds4.schedule.rewrite import Alike, comparer, rewritten


def test_markup_is_not_the_text_that_spells_it() -> None:
    """Entries that an answer shows as text are tokens of their own to the model."""
    tokenizer = ScriptedTokenizer(family_named("qwen3.8"), packaged_bpe())
    template = np.array(tokenizer.encode_raw("<think>so it is"), np.int32)
    client = np.array(tokenizer.encode_plain("<think>so it is"), np.int32)
    assert not tokenizer.is_control(tokenizer.controls["<think>"])
    assert comparer(tokenizer)(template, client, 0) is None


def test_only_boundaries_inside_the_healed_part_have_no_equal() -> None:
    turns = [Boundary(row, BoundaryKind.TURN_START) for row in range(10)]
    plan = PromptPlan.of([Tokens(tuple(range(10)), Origin.PLAIN)], boundaries=turns)
    held = np.array([0, 1, 2, 3, 40, 41, 42, 43, 44], np.int32)
    made = rewritten(plan, held, 4, Alike(held=9, wanted=7, bridge=(50,)))
    assert made.ids.tolist() == [0, 1, 2, 3, 40, 41, 42, 43, 44, 50, 7, 8, 9]
    assert [boundary.row for boundary in made.boundaries] == [0, 1, 2, 3, 4, 10, 11, 12]
