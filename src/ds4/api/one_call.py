"""For callers who forbid parallel tool calls: an answer that ends behind its first call."""

from ds4.api.services import ReaderFactory
from ds4.core.events import Fed, FinishReason, Hint, Stop, ToolEnd
from ds4.core.ports import Piece, Reader


def one_call(reader: ReaderFactory) -> ReaderFactory:
    return lambda wished: OneCall(reader(wished))


class OneCall:
    """A Reader around another."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._ended = False

    def feed(self, piece: Piece) -> Fed:
        return self._up_to_call(self._reader.feed(piece))

    def flush(self, *, cut: bool = False) -> Fed:
        return Fed() if self._ended else self._up_to_call(self._reader.flush(cut=cut))

    def _up_to_call(self, fed: Fed) -> Fed:
        for number, event in enumerate(fed.events, start=1):
            if isinstance(event, ToolEnd):
                self._ended = True
                return Fed(fed.events[:number], Hint(stop=Stop(FinishReason.TOOL_CALLS)))
        return fed
