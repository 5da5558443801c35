"""Visible text, without the whitespace around blocks of calls.

Whitespace waits until text comes behind it, which makes it text, or a call, which makes it markup.
What follows a call directly is markup at once.
"""

from ds4.core.events import ParsedEvent, Text


class Visible:
    def __init__(self, events: list[ParsedEvent]) -> None:
        """Text goes to the end of `events`."""
        self._events = events
        self._blanks: list[Text] = []
        self._after_call = False

    def say(self, text: Text) -> None:
        if self._after_call:
            text = Text(text.text.lstrip(), text.tokens)
            self._after_call = not text.text
        solid = text.text.rstrip()
        if solid:
            self._events += [*self._blanks, Text(solid, text.tokens)]
            self._blanks.clear()
        if len(solid) < len(text.text) or not text.text:
            self._blanks.append(Text(text.text[len(solid) :], () if solid else text.tokens))

    def call(self) -> None:
        """A call begins here."""
        self._blanks.clear()

    def call_ended(self) -> None:
        self._after_call = True

    def flush(self) -> None:
        if not self._after_call:
            self._events += [text for text in self._blanks if text.text or text.tokens]
        self._blanks.clear()
