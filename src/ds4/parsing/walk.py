"""Where an answer is in its format's table of places, and what is known of it so far.

Rules:
- From the opening of a block to the name of its first call the text is in doubt, and kept. A name
  makes it markup; a surprise makes it text, and reading goes on at the surprise.
- After that nothing is taken back. Text inside a call that is no part of it comes after it.
"""

from collections.abc import Callable, Mapping

from ds4.core.events import Reasoning, Text
from ds4.formats.markup import TEXT, Content
from ds4.parsing.assured import Assured
from ds4.parsing.calls import Calls
from ds4.parsing.held import Held
from ds4.parsing.json_args import JsonArgs
from ds4.parsing.json_call import JsonCall
from ds4.parsing.table import PLAIN, Spot
from ds4.parsing.tags import Found
from ds4.parsing.visible import Visible

SHOWN = 200
"""Characters of an answer in a remark."""


class Walk:
    """`known` are the names of the caller's tools. `remark` hears what was odd.

    `json` is the reader at a place of JSON; `junk` says that a place of structure has held
    something else since its last tag. `thoughts` is the reasoning so far.
    """

    def __init__(
        self,
        spots: Mapping[str, Spot],
        start: str,
        calls: Calls,
        known: frozenset[str],
        remark: Callable[[str], None],
        assured: Assured,
    ) -> None:
        self.calls = calls
        self.assured = assured
        self.known = known
        self.held = Held()
        self.visible = Visible(calls.events)
        self.json: JsonCall | JsonArgs = JsonArgs(calls)
        self.junk = False
        self.stopped = False
        self.thoughts: list[str] = []
        self._spots = spots
        self.remark = remark
        self._doubt: list[Text] | None = None
        self.go(start)

    def fresh(self) -> "Walk":
        """Another one in visible text, which tells nobody anything."""
        return Walk(self._spots, TEXT, self.calls.fresh(), self.known, lambda _: None, self.assured)

    def openings(self, text: str) -> list[int]:
        """Where `text` would leave visible text."""
        return self._spots[TEXT].tags.starts(text)

    @property
    def in_doubt(self) -> bool:
        return self._doubt is not None

    def go(self, name: str) -> None:
        spot = self._spots[name]
        self.place, self.tags = spot.place, spot.tags
        self.junk = False
        self._skip = self.place.skip
        if self.place.content is Content.CALL_JSON:
            self._doubt = [] if self._doubt is None else self._doubt
            self.json = JsonCall(self.calls, self.known if self.place.known else None)
        elif self.place.content is Content.ARGS_JSON:
            self.json = JsonArgs(self.calls)

    def skip(self) -> None:
        """Takes what is markup at the beginning of the place."""
        while self._skip and self.held.text:
            here = self.held.text[0] == self._skip[0]
            self._skip = self._skip[1:] if here else ""
            if here:
                self.mark(1)

    def ahead(self) -> tuple[Found | None, int]:
        """The next tag, and how many characters before it, or before what may become one, are decided."""
        found = self.tags.find(self.held.text)
        if found is not None:
            return found, found.start
        return None, len(self.held.text) - self.tags.undecided(self.held.text)

    # What the text in front is.

    def mark(self, count: int) -> None:
        """Markup, unless doubt turns it into text."""
        if count:
            text = self.held.take(count)
            if self._doubt is not None:
                self._doubt.append(text)

    def say(self, text: Text) -> None:
        if self.place.content is Content.REASONING:
            self.thoughts.append(text.text)
            self.calls.events.append(Reasoning(text.text))
        elif self.assured.formed and text.text.strip():
            self.go(PLAIN)
            self.visible.flush()
            self.calls.events.append(text)
        elif self.place.tags:
            self.visible.say(text)
        else:
            self.calls.events.append(text)

    def stray(self, text: Text) -> None:
        """Text where none belongs."""
        if self.calls.active:
            self.calls.stray(text)
        else:
            self.say(text)

    # What becomes of a block.

    def open(self) -> None:
        self.end_call()
        self._doubt = []

    def start(self, name: str) -> None:
        self.calls.start(name)
        self.settle()

    def settle(self) -> None:
        """A call has been named: what was in doubt is markup."""
        self._doubt = None
        self.visible.call()

    def trust(self) -> None:
        """What was in doubt is markup, though of no call."""
        self._doubt = None

    def fail(self) -> None:
        """What was in doubt is text. What is still held is read as text, so a call in it counts."""
        doubt, self._doubt = self._doubt or [], None
        self.remark(f"invalid tool call returned as text: {''.join(text.text for text in doubt)[:SHOWN]!r}")
        self.go(TEXT)
        for text in doubt:
            self.say(text)

    def drop(self) -> None:
        """The answer is cut within what was to become a call."""
        self.held.take_all()
        self.visible.call()
        self._doubt = None

    def end_call(self) -> None:
        if self.calls.active:
            self.calls.end()
            self.visible.call_ended()

    def stop(self) -> None:
        """The end of a block; a block without a call was none."""
        if self.in_doubt:
            self.fail()
        else:
            self.end_call()
            self.stopped = True
