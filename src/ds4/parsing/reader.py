"""A row of decoders as the Reader the scheduler feeds."""

from collections.abc import Iterable, Sequence

from ds4.core.events import Fed, Hint, ParsedEvent
from ds4.core.ports import Piece, Reader
from ds4.parsing.controls import Controls
from ds4.parsing.decoder import Decoder, End, Item
from ds4.parsing.stops import StopStrings
from ds4.parsing.utf8 import Utf8


class Row:
    """Implements `core.ports.Reader`. Items no decoder turned into an event are not part of the answer."""

    def __init__(self, decoders: Iterable[Decoder]) -> None:
        self._decoders = tuple(decoders)
        self._hint = Hint()

    def feed(self, piece: Piece) -> Fed:
        return self._fed(piece)

    def flush(self, *, cut: bool = False) -> Fed:
        return self._fed(End(cut))

    def _fed(self, item: Item) -> Fed:
        items: Sequence[Item] = (item,)
        for decoder in self._decoders:
            if not items:
                break
            items = decoder.feed(items[0]) if len(items) == 1 else _fed_all(decoder, items)
        return self._sorted(items)

    def _sorted(self, items: Sequence[Item]) -> Fed:
        for item in items:
            if isinstance(item, Hint):
                self._hint = item
        return Fed(tuple(item for item in items if isinstance(item, ParsedEvent)), self._hint)


def _fed_all(decoder: Decoder, items: Sequence[Item]) -> Sequence[Item]:
    return [out for item in items for out in decoder.feed(item)]


def text_reader(
    stops: tuple[str, ...] = (), *, want_tokens: bool = False, show_control: bool = False
) -> Reader:
    """Everything the model says is visible text, up to a stop string.

    `want_tokens`: each Text names the sampled tokens that begin in it. `show_control`: control
    tokens appear with their spelling (raw completions) instead of not at all.
    """
    return Row((Utf8(want_tokens=want_tokens), Controls(show=show_control), StopStrings(stops)))
