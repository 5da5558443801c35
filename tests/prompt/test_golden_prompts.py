"""Each family's prompts, byte for byte and token for token."""

import pytest
from golden_prompts import CONVERSATIONS, FAMILIES, conversation, golden, renderer


@pytest.mark.parametrize("name", CONVERSATIONS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_prompt_is_the_golden_one(family: str, name: str) -> None:
    plan = renderer(family).render(conversation(name))
    text, ids = golden(family, name)
    assert plan.text == text
    assert list(map(int, plan.ids)) == ids


def test_there_are_conversations() -> None:
    assert {"agent", "chat", "late_system", "unicode"} <= set(CONVERSATIONS)
