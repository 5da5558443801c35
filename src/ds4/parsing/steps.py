"""One step of the walk: takes what is decided from the front of the held text.

Rules:
- What stands at the place decides which step is made, see STEPS. A step returns whether there is
  more to do; False means that more text must come.
- What could still become a tag stays, everything else goes.
- What a tag does is looked up in MEANS; then the walk goes where the tag leads.
"""

import re
from collections.abc import Callable

from ds4.formats.markup import Content, Means, Rest
from ds4.parsing.calls import Kind
from ds4.parsing.tags import MAX_TAG, Found
from ds4.parsing.walk import Walk

MAX_HEADER = 256
_TOOL_NAME = re.compile(r"\s*[^\s<>{}\[\]\"'`]{0,128}\s*")


def step(walk: Walk) -> bool:
    walk.skip()
    return bool(walk.held.text) and STEPS[walk.place.content](walk)


def _text(walk: Walk) -> bool:
    found, count = walk.ahead()
    place = walk.place
    if count:
        walk.say(walk.held.take(count))
        if walk.place is not place:
            return True
    return found is not None and _pass(walk, found)


def _value(walk: Walk) -> bool:
    found, count = walk.ahead()
    if count:
        walk.calls.value(walk.held.take(count).text)
    if found is not None and walk.assured.sound and walk.calls.in_json_string:
        walk.calls.value(walk.held.take(1).text)
        return True
    return found is not None and _pass(walk, found)


def _ignored(walk: Walk) -> bool:
    found, count = walk.ahead()
    walk.mark(count)
    return found is not None and _pass(walk, found)


def _space(walk: Walk) -> bool:
    found, count = walk.ahead()
    surprise = bool(walk.held.text[:count].strip())
    if walk.place.otherwise is not None:
        return _or_otherwise(walk, found, surprise)
    if surprise and walk.in_doubt:
        walk.fail()
        return True
    _keep_stray(walk, count, surprise)
    return found is not None and _pass(walk, found)


def _or_otherwise(walk: Walk, found: Found | None, surprise: bool) -> bool:
    """Whitespace stays until it is clear where it belongs."""
    if walk.place.otherwise and (surprise or not walk.place.tags):
        walk.go(walk.place.otherwise)
        return True
    if found is None or found.end is None:
        return False
    walk.mark(found.start)
    return _pass(walk, found)


def _keep_stray(walk: Walk, count: int, surprise: bool) -> None:
    """Blanks between tags are markup, those inside a surprise are part of it."""
    if surprise and not walk.junk:
        before = walk.held.text[:count]
        blanks = count - len(before.lstrip())
        walk.mark(blanks)
        count -= blanks
        walk.junk = True
    if count and walk.junk:
        walk.stray(walk.held.take(count))
    else:
        walk.mark(count)


def _tool_name(walk: Walk) -> bool:
    found, count = walk.ahead()
    text = walk.held.text[:count]
    if not _TOOL_NAME.fullmatch(text) or (found and not text.strip()):
        walk.fail()
        return True
    if found is None:
        return False
    walk.mark(count)
    walk.start(text.strip())
    return _pass(walk, found)


def _key(walk: Walk) -> bool:
    found, count = walk.ahead()
    if found is None:
        if count > MAX_TAG:
            walk.stray(walk.held.take(count))
        return False
    name = walk.held.text[:count].strip()
    walk.mark(count)
    walk.calls.key(name, None)
    return _pass(walk, found)


def _header(walk: Walk) -> bool:
    found = walk.tags.find(walk.held.text)
    text = walk.held.text[: found.start if found else None]
    if len(text) > MAX_HEADER or "\n" in text:
        walk.fail()
        return True
    if found is None or found.end is None:
        return False
    walk.mark(found.end)
    walk.trust()
    walk.go(_addressee(walk, text) or found.tag.to)
    return True


def _addressee(walk: Walk, header: str) -> str | None:
    """The place the message goes to, None for text. A message to a tool starts a call."""
    rule = walk.place.header
    if rule is None:
        return None
    recipient = re.search(rule.recipient, header)
    if recipient and walk.known:
        walk.start(recipient[1])
        return rule.call_to
    return rule.reasoning_to if re.search(rule.reasoning, header) else None


def _object(walk: Walk) -> bool:
    walk.mark(walk.json.read(walk.held.text))
    if walk.calls.active:
        walk.settle()
    if walk.json.failed:
        walk.fail()
    elif walk.json.done:
        walk.end_call()
        walk.go(walk.place.then)
    else:
        return False
    return True


STEPS: dict[Content, Callable[[Walk], bool]] = {
    Content.TEXT: _text,
    Content.REASONING: _text,
    Content.SPACE: _space,
    Content.TOOL_NAME: _tool_name,
    Content.KEY: _key,
    Content.VALUE: _value,
    Content.HEADER: _header,
    Content.IGNORED: _ignored,
    Content.CALL_JSON: _object,
    Content.ARGS_JSON: _object,
}


def _pass(walk: Walk, found: Found) -> bool:
    """Goes through the tag in front, if it is whole."""
    tag = found.tag
    if found.end is None:
        return False
    if tag.means is Means.OPEN:
        walk.open()
    if not tag.peek:
        walk.mark(found.end - found.start)
    if tag.means is Means.END_ANSWER:
        walk.stop()
        return True
    if tag.means in MEANS:
        MEANS[tag.means](walk, found)
    walk.go(tag.bare_to if tag.bare_to and found.string is None else tag.to)
    return True


def _named_key(walk: Walk, found: Found) -> None:
    kind = None if found.string is None else Kind.RAW if found.string else Kind.JSON
    unknown = Kind.RAW if found.tag.rest is Rest.ATTRIBUTES else Kind.OPEN
    walk.calls.key(found.name or "", kind, unknown)


def _inner_key(walk: Walk, found: Found) -> None:
    walk.calls.nest()
    _named_key(walk, found)


MEANS: dict[Means, Callable[[Walk, Found], None]] = {
    Means.CALL: lambda walk, found: walk.start(found.name or ""),
    Means.KEY: _named_key,
    Means.INNER_KEY: _inner_key,
    Means.END_VALUE: lambda walk, _: walk.calls.end_value(),
    Means.END_OBJECT: lambda walk, _: walk.calls.unnest(),
    Means.END_CALL: lambda walk, _: walk.end_call(),
    Means.LITERAL: lambda walk, found: walk.calls.value(found.tag.literal),
}
"""What is missing here only leads on, or changes what the text before it is."""
