"""Where a message keeps its reasoning: in the field for it, or in think tags at the head of its content."""

from ds4.core.messages import Message, Role

_THINK, _END_THINK = "<think>", "</think>"


def given_reasoning(message: Message) -> str:
    """Blank reasoning is none: clients echo it as "", " " or not at all."""
    reasoning = message.reasoning or ""
    return reasoning if reasoning.strip() else ""


def split_thoughts(message: Message, text: str) -> tuple[str, str]:
    """(reasoning, content) of `message`, whose content is `text`.

    Some clients send earlier reasoning as tagged text at the start of an answer.
    """
    reasoning = given_reasoning(message)
    if reasoning or message.role is not Role.ASSISTANT:
        return reasoning, text
    tagged, end, rest = text.lstrip().partition(_END_THINK)
    if not end or not tagged.startswith(_THINK):
        return "", text
    inside = tagged.removeprefix(_THINK).strip("\n")
    return (inside if inside.strip() else ""), rest.lstrip("\n")
