"""What becomes of control tokens that no family decoder claimed."""

from collections.abc import Sequence

from ds4.core.events import Text
from ds4.parsing.decoder import Control, Item


class Controls:
    """Control -> nothing, or with `show` its spelling as Text.

    Stands before the stop strings: a token nobody sees must not hide one.
    """

    def __init__(self, *, show: bool = False) -> None:
        self._show = show

    def feed(self, item: Item) -> Sequence[Item]:
        if not isinstance(item, Control):
            return (item,)
        return (Text(item.spelling, item.tokens),) if self._show else ()

    def flush(self) -> Sequence[Item]:
        return ()
