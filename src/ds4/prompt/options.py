"""What the operator decides about prompts, besides the template."""

from dataclasses import dataclass

from ds4.formats.preamble import THINK_MAX, Preamble
from ds4.formats.thinking import NAMED, Efforts


@dataclass(frozen=True, slots=True)
class PromptOptions:
    """`n_ctx` is the context of one slot, in rows. `efforts` is the family's table for a file's own template.

    `tools_first`: the tools stand before the system text, which changes more often (date, git state).
    `preamble` replaces the built-in words around the tools, `think_max` those for DeepSeek's strongest
    effort.
    """

    n_ctx: int = 0
    efforts: Efforts = NAMED
    tools_first: bool = True
    preamble: Preamble | None = None
    think_max: str = THINK_MAX
