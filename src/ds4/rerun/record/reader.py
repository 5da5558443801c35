"""An answer's reader and the comparison of texts, with what they say noted on the tape.

Both work on what tokens spell, and that is not in every trace.
"""

from ds4.core.events import Fed, Hint
from ds4.core.plan import Ids
from ds4.core.ports import Piece, Reader
from ds4.rerun.tape import Tape
from ds4.schedule.rewrite import Alike, Comparer

_NO_HINT = Hint()


class NotedReader:
    """`core.ports.Reader` around another."""

    def __init__(self, reader: Reader, tape: Tape) -> None:
        self._reader = reader
        self._tape = tape

    def feed(self, piece: Piece) -> Fed:
        return self._noted(self._reader.feed(piece))

    def flush(self, *, cut: bool = False) -> Fed:
        return self._noted(self._reader.flush(cut=cut))

    def _noted(self, fed: Fed) -> Fed:
        self._tape.note("fed", _words(fed))
        return fed


def noted_comparer(compare: Comparer, tape: Tape) -> Comparer:
    def noted(held: Ids, wanted: Ids, common: int) -> Alike | None:
        alike = compare(held, wanted, common)
        words = None if alike is None else [alike.held, alike.wanted, alike.bridge]
        tape.note("alike", words)
        return alike

    return noted


def _words(fed: Fed) -> object:
    """The number of events alone, if nothing is asked of the next sample. A stop string is not told: it is
    the client's."""
    count, hint = len(fed.events), fed.hint
    if hint == _NO_HINT:
        return count
    stop = None if hint.stop is None else [hint.stop.reason, hint.stop.sequence is not None]
    return {"events": count, "greedy": hint.greedy, "constrain": hint.constrain, "stop": stop}
