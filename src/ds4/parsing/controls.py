"""What becomes of control tokens."""

from collections.abc import Container, Sequence

from ds4.core.events import Text
from ds4.parsing.decoder import Control, Item


class Controls:
    """Control -> its spelling as Text when `show` or when it is `markup`, else nothing.

    Stands before everything that searches text: a token nobody sees must not hide anything.
    """

    def __init__(self, *, show: bool = False, markup: Container[str] = ()) -> None:
        self._show = show
        self._markup = markup

    def feed(self, item: Item) -> Sequence[Item]:
        if not isinstance(item, Control):
            return (item,)
        if self._show or item.spelling in self._markup:
            return (Text(item.spelling, item.tokens),)
        return ()
