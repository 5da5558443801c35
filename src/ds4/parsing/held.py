"""Text that waits for its meaning, with the sampled tokens it came from."""

from ds4.core.events import Text
from ds4.core.sampling import Sampled


class Held:
    """A queue of characters. A token leaves with the first character it helped to make."""

    def __init__(self) -> None:
        self.text = ""
        self._tokens: list[tuple[int, Sampled]] = []  # with the place in `text` where each begins

    def add(self, item: Text) -> None:
        if item.tokens:
            self._tokens += [(len(self.text), token) for token in item.tokens]
        self.text += item.text

    def take(self, count: int) -> Text:
        """The first `count` characters; tokens without characters stay until `take_all`."""
        text, self.text = self.text[:count], self.text[count:]
        if not self._tokens:
            return Text(text)
        tokens = tuple(token for at, token in self._tokens if at < count)
        self._tokens = [(at - count, token) for at, token in self._tokens if at >= count]
        return Text(text, tokens)

    def take_all(self) -> Text:
        text, tokens = self.text, tuple(token for _, token in self._tokens)
        self.text = ""
        self._tokens.clear()
        return Text(text, tokens)
