"""Stop strings, searched in the visible text.

Rules:
- The answer ends at the first character that completes a stop string; of two that are complete at
  the same character the longer one counts. So no later text can change the verdict, and the model
  never samples on just to settle it.
- Text before the stop string goes out; the stop string and everything after it never do.
- Held back is the longest end of the text that begins some stop string, and not a character more.

Verdict and held length are both read off one state of an Aho-Corasick table, since a state stands
for just that longest end. A character costs the same however many or long the stop strings are:
callers choose them, and the engine thread pays.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ds4.core.events import FinishReason, Hint, Stop, Text
from ds4.core.sampling import Sampled
from ds4.parsing.decoder import Item

START = 0


@dataclass(frozen=True, slots=True)
class StopTable:
    """Indexed by state: the next state by character, the state to retry from where there is none,
    the number of characters to hold, and the longest stop string that is complete there."""

    steps: list[dict[str, int]]
    retry: list[int]
    held: list[int]
    match: list[str | None]

    def after(self, state: int, char: str) -> int:
        while state != START and char not in self.steps[state]:
            state = self.retry[state]
        return self.steps[state].get(char, START)


def stop_table(stops: Iterable[str]) -> StopTable:
    """Takes time and memory by the total length of `stops`. Empty ones are ignored."""
    table = StopTable([{}], [START], [0], [None])
    for stop in filter(None, stops):
        _add(table, stop)
    # Breadth first: a state's retry state is shorter, so it is complete before it is needed.
    order = [START]
    for state in order:
        for char, child in table.steps[state].items():
            if state != START:
                table.retry[child] = table.after(table.retry[state], char)
            table.match[child] = table.match[child] or table.match[table.retry[child]]
            order.append(child)
    return table


def _add(table: StopTable, stop: str) -> None:
    state = START
    for depth, char in enumerate(stop, 1):
        if char not in table.steps[state]:
            table.steps[state][char] = len(table.steps)
            table.steps.append({})
            table.retry.append(START)
            table.held.append(depth)
            table.match.append(None)
        state = table.steps[state][char]
    table.match[state] = stop


class StopStrings:
    """Text -> Text and, once a stop string is complete, a Hint to stop. After that, nothing.

    Any event between two texts (a tool call, say) parts them: no stop string reaches across it.
    """

    def __init__(self, stops: Iterable[str]) -> None:
        self._table = stop_table(stops)
        self._state = START
        self._held = ""
        self._tokens: list[tuple[int, Sampled]] = []  # with the place in _held where each begins
        self._stopped = False

    def feed(self, item: Item) -> Sequence[Item]:
        if self._stopped:
            return ()
        if isinstance(item, Hint):
            return (item,)
        if not isinstance(item, Text):
            return (*self.flush(), item)
        return self._search(item)

    def flush(self) -> Sequence[Item]:
        self._state = START
        text, tokens = self._held, tuple(token for _, token in self._tokens)
        self._held = ""
        self._tokens.clear()
        return (Text(text, tokens),) if text or tokens else ()

    def _search(self, item: Text) -> Sequence[Item]:
        before = len(self._held)
        self._held += item.text
        self._tokens += [(before, token) for token in item.tokens]
        if not self._table.steps[START]:  # no stop strings
            return self._release(len(self._held))
        for end, char in enumerate(item.text, before + 1):
            self._state = self._table.after(self._state, char)
            stop = self._table.match[self._state]
            if stop is not None:
                return self._finish(stop, end)
        return self._release(len(self._held) - self._table.held[self._state])

    def _finish(self, stop: str, end: int) -> Sequence[Item]:
        self._stopped = True
        before = self._release(end - len(stop))
        self._held = ""
        self._tokens.clear()
        return (*before, Hint(stop=Stop(FinishReason.STOP, stop)))

    def _release(self, count: int) -> Sequence[Item]:
        """Gives out the first `count` characters of what is held."""
        if not count:
            return ()
        text, self._held = self._held[:count], self._held[count:]
        tokens = tuple(token for at, token in self._tokens if at < count)
        self._tokens = [(at - count, token) for at, token in self._tokens if at >= count]
        return (Text(text, tokens),)
