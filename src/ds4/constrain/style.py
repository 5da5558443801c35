"""How the model writes, as far as a grammar of its answer needs it."""

from collections.abc import Mapping
from dataclasses import dataclass

from ds4.formats.markup import Reasoning, ToolFormat


@dataclass(frozen=True, slots=True)
class Style:
    """`reasoning` are the marks that count (a format with channels has its own)."""

    reasoning: Reasoning
    tool_format: ToolFormat


@dataclass(frozen=True, slots=True)
class Start:
    """Where the answer begins. `in_reasoning`: inside reasoning. `may_reason`: reasoning may begin.

    `begun` is text of the answer that stands in the prompt already.
    """

    in_reasoning: bool = False
    may_reason: bool = False
    begun: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """The vocabulary's own entries: `ids` has those spellings of markup that are one token. All of `ends` end
    an answer. A spelling without an entry is written in ordinary tokens."""

    ids: Mapping[str, int]
    ends: tuple[int, ...]
