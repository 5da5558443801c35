"""What a template's source says about the conversations it understands."""

import re
from dataclasses import dataclass

from ds4.formats.templates import knows_tools

_REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")


@dataclass(frozen=True, slots=True)
class Traits:
    """`reasoning_key` is the message field that holds reasoning.

    `splits_thinking`: the template has a place for reasoning, or cuts it out of the content.
    `short_ids`: it insists on tool call ids of nine letters and digits.
    `tools`: it shows them to the model. `channels`: it is gpt-oss's, where a turn of calls has one place
    for what was said before them, be it reasoning or text.
    """

    developer: bool
    reasoning_key: str
    splits_thinking: bool
    short_ids: bool
    tools: bool = True
    channels: bool = False


def traits(source: str) -> Traits:
    keys = [key for key in _REASONING_KEYS if re.search(rf"""[.'"]{key}\b""", source)]
    return Traits(
        developer=re.search(r"""['"]developer['"]""", source) is not None,
        reasoning_key=keys[0] if keys else _REASONING_KEYS[0],
        splits_thinking=bool(keys) or "</think>" in source,
        short_ids=re.search(r"length\s*!=\s*9\b", source) is not None,
        tools=knows_tools(source),
        channels="<|channel|>" in source,
    )
