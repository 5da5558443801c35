"""The ways in which chat clients ask for reasoning, or against it."""

from typing import Any

import pytest
from api_fakes import CARD

from ds4.api.openai.chat import chat_request
from ds4.api.services import Alias, ModelCard
from ds4.core.messages import Thinking

DEEPSEEK = ModelCard("ds", "DS", 100, 50, (Alias("ds-chat", thinking=False), Alias("ds-reasoner", True)))


def thinking_of(fields: dict[str, Any], card: ModelCard = CARD) -> Thinking:
    body = {"messages": [{"role": "user", "content": "hi"}], **fields}
    return chat_request(body, card, n_vocab=257).conversation.thinking


@pytest.mark.parametrize(
    ("fields", "thinking"),
    [
        ({"thinking": {"type": "enabled", "budget_tokens": 5}}, Thinking(enabled=True)),
        ({"thinking": {"type": "disabled"}}, Thinking(enabled=False)),
        ({"thinking": {"type": "adaptive"}}, Thinking()),
        ({"thinking": {}}, Thinking()),
        ({"thinking": True}, Thinking(enabled=True)),
        ({"think": False}, Thinking(enabled=False)),
        ({"enable_thinking": False}, Thinking(enabled=False)),
        ({"enable_thinking": True}, Thinking(enabled=True)),
        ({"reasoning": {"effort": "none"}}, Thinking(enabled=False, effort="none")),
        ({"reasoning": {"effort": "high"}}, Thinking(effort="high")),
        ({"reasoning": {"enabled": False}}, Thinking(enabled=False)),
        ({"reasoning": {"enabled": True, "exclude": True}}, Thinking(enabled=True)),
        ({"reasoning": {"effort": "low"}, "reasoning_effort": "high"}, Thinking(effort="high")),
        ({"think": True, "thinking": False}, Thinking(enabled=False)),
        ({"reasoning_effort": "high"}, Thinking(effort="high")),
        ({"reasoning_effort": 30}, Thinking(effort="30")),
        ({"reasoning_effort": "none", "think": True}, Thinking(enabled=False, effort="none")),
    ],
)
def test_thinking(fields: dict[str, Any], thinking: Thinking) -> None:
    assert thinking_of(fields) == thinking


@pytest.mark.parametrize(
    ("fields", "enabled"),
    [
        ({"model": "ds-chat"}, False),
        ({"model": "ds-reasoner"}, True),
        ({"model": "ds"}, None),
        ({"model": "anything"}, None),
        ({"model": "ds-chat", "think": True}, True),
        ({"model": "ds-reasoner", "thinking": {"type": "disabled"}}, False),
        ({"model": "ds-chat", "reasoning_effort": "high"}, False),
        ({"model": "ds-chat", "thinking": None}, False),
    ],
)
def test_a_models_other_names_set_the_default_for_thinking(
    fields: dict[str, Any], enabled: bool | None
) -> None:
    assert thinking_of(fields, DEEPSEEK).enabled is enabled
