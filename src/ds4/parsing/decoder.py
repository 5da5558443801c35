"""The contract of the decoder stack.

An answer is read by decoders in a row: bytes become text, text becomes channels and tool calls,
and the visible text is searched for stop strings. Each decoder has the same one method, so a row is
built by listing them.

Rules for every decoder:
- `feed` takes one item and gives 0..n items. Nothing means "need more".
- It handles the kinds of items it knows and passes every other kind on unchanged.
- Order is kept: before another item is passed on, held text goes out. Only a Hint overtakes held
  text, since it speaks about the next sample and not about the text.
- It holds back only what could still turn out to be something else, never text for convenience.
- The last item is End. Like any other it lets held text out first, and is passed on.
- No model output raises. How the output is cut into pieces never changes what comes out, only when.
- A decoder that splits a Text leaves its tokens with the first part: a token belongs to the first
  character it helped to make.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ds4.core.events import Hint, ParsedEvent
from ds4.core.ports import Piece
from ds4.core.sampling import Sampled


@dataclass(frozen=True, slots=True)
class Control:
    """A control token in the output, with its spelling. What it means is the model family's affair."""

    spelling: str
    id: int
    tokens: tuple[Sampled, ...] = ()


@dataclass(frozen=True, slots=True)
class End:
    """The output is over. `cut`: not because the model was done."""

    cut: bool = False


Item = Piece | Control | ParsedEvent | Hint | End
"""What travels along the row. A Hint holds until the next one."""


class Decoder(Protocol):
    def feed(self, item: Item) -> Sequence[Item]: ...
