"""Bytes to text. The first decoder of every row."""

import codecs
from collections.abc import Sequence

from ds4.core.events import Text
from ds4.core.ports import Piece
from ds4.core.sampling import Sampled
from ds4.parsing.decoder import Control, End, Item


class Utf8:
    """Piece -> Text | Control. A code point is never split; invalid bytes become U+FFFD.

    A control token ends whatever character was incomplete before it. With `want_tokens` the
    items carry the sampled tokens they were made of. `whole`: what an answer that is cut begins of a
    character is dropped.
    """

    def __init__(self, *, want_tokens: bool = False, whole: bool = False) -> None:
        self._bytes = codecs.getincrementaldecoder("utf-8")("replace")
        self._want_tokens = want_tokens
        self._whole = whole
        self._tokens: tuple[Sampled, ...] = ()

    def feed(self, item: Item) -> Sequence[Item]:
        if isinstance(item, End) and item.cut and self._whole:
            return (item,)
        if not isinstance(item, Piece):
            return (*self.flush(), item)
        if item.control:
            spelling = item.data.decode("utf-8", "replace")
            return (*self.flush(), Control(spelling, item.id, self._sampled(item)))
        self._tokens += self._sampled(item)
        text = self._bytes.decode(item.data)
        return (self._take(text),) if text else ()

    def flush(self) -> Sequence[Item]:
        text = self._bytes.decode(b"", final=True)
        # A token may stand for no bytes at all: its logprob must not get lost at the end.
        return (self._take(text),) if text or self._tokens else ()

    def _sampled(self, piece: Piece) -> tuple[Sampled, ...]:
        return (piece.sampled,) if self._want_tokens and piece.sampled else ()

    def _take(self, text: str) -> Text:
        tokens, self._tokens = self._tokens, ()
        return Text(text, tokens)
