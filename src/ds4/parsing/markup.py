"""Reasoning, visible text and tool calls, read by walking a format's table of places.

`walk` knows where the answer is, `steps` moves on; here are the decoder around them, what is asked
of the next sample, and the end of the answer.
"""

from collections.abc import Sequence

from ds4.core.events import FinishReason, Hint, Stop, Text
from ds4.formats.markup import Content
from ds4.parsing.decoder import End, Item
from ds4.parsing.joined import joined
from ds4.parsing.steps import step
from ds4.parsing.stretch import LEASH, Stretch
from ds4.parsing.unclosed import recover
from ds4.parsing.walk import Walk

CHUNK = 4096
"""Longer pieces are read in parts, so that cutting off their front stays cheap."""

_JSON = (Content.CALL_JSON, Content.ARGS_JSON)
_CALLS = Hint(stop=Stop(FinishReason.TOOL_CALLS))


class MarkupReader:
    """Text -> Reasoning, Text, tool events and Hints."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._stretch = Stretch()
        self._hint = Hint()

    def feed(self, item: Item) -> Sequence[Item]:
        if self._walk.stopped:
            return (item,) if isinstance(item, End) else ()
        if isinstance(item, End):
            return (*self._end(item.cut), item)
        if not isinstance(item, Text):
            return (item,)
        for at in range(0, max(len(item.text), 1), CHUNK):
            self._walk.held.add(Text(item.text[at : at + CHUNK], () if at else item.tokens))
            while not self._walk.stopped and step(self._walk):
                pass
        return [*self._events(), *self._new_hint(len(item.text))]

    def _events(self) -> Sequence[Item]:
        events = self._walk.calls.events
        out: Sequence[Item] = [*joined(events)] if len(events) > 1 else events[:]
        events.clear()
        return out

    def _new_hint(self, read: int) -> Sequence[Hint]:
        greedy = self._stretch.greedy(read, longest_structure(self._walk))
        hint = _CALLS if self._walk.stopped else Hint(greedy=greedy)
        if hint == self._hint:
            return ()
        self._hint = hint
        return (hint,)

    def _end(self, cut: bool) -> Sequence[Item]:
        walk = self._walk
        if cut and walk.assured.wordless and walk.place.content not in (Content.REASONING, Content.VALUE):
            walk.drop()
        while step(walk) or _decide(walk, cut):
            pass
        _last_words(walk, cut)
        if not cut:
            recover(walk)
        walk.visible.flush()
        if cut:
            walk.calls.cut()
        else:
            walk.calls.end()
        complete = walk.calls.ended and not cut
        return [*self._events(), *([_CALLS] if complete else [])]


def longest_structure(walk: Walk) -> int:
    """0 where the caller's sampling holds, else how long a stretch of structure may be here."""
    content = walk.place.content
    if content in _JSON:
        return LEASH if walk.json.in_structure else 0
    if content is not Content.VALUE:
        return 0 if content.free or walk.junk or walk.place.otherwise else LEASH
    if walk.calls.in_structure:
        return LEASH
    # One character may be anything; more are most likely the closing tag. If they keep coming and
    # never become it, they are not.
    return walk.tags.longest if len(walk.held.text.lstrip("\n")) > 1 else 0


def _decide(walk: Walk, cut: bool) -> bool:
    """What more text would have decided. True: there is something to read on."""
    if walk.place.otherwise is not None and walk.held.text:
        walk.go(walk.place.otherwise)
        return True
    if walk.in_doubt:
        return not _ends_in_name(walk, cut)
    if walk.place.content in _JSON:
        if not cut:
            walk.json.close(walk.held.text)
        walk.held.take_all()
    return False


def _ends_in_name(walk: Walk, cut: bool) -> bool:
    """The end closes a call of a known tool that has no arguments; other doubt becomes text."""
    name = walk.held.text.strip()
    if walk.place.content is Content.TOOL_NAME and name in walk.known and not cut:
        walk.held.take_all()
        walk.start(name)
        return True
    walk.fail()
    return False


def _last_words(walk: Walk, cut: bool) -> None:
    rest = walk.held.take_all()
    content = walk.place.content
    if content in (Content.TEXT, Content.REASONING):
        if rest.text or rest.tokens:
            walk.say(rest)
    elif content is Content.VALUE:
        walk.calls.value(rest.text)
    elif rest.text.strip() and not cut:
        walk.stray(rest)
