"""Where the answers stand in a text that a template from outside has written.

The conversation is rendered once more: without the marker of the answer to generate, and with marks in the
messages around each answer, made of an unused character. If the text is otherwise the same, an answer of the
history stands between the end of the message before it and the beginning of the one behind it, and the answer
to generate begins where the two texts part. If not, nothing is known.

Rules:
- Whatever is no answer has a mark at its end, so that none of it can be taken for a part of one. Where a
  template moves a message, marks stand in another order, and the answers beside it have no place.
- System text in front of everything has none: some templates move it to the last question.
- An answer with a name has no place where the template writes the name: no model samples one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, takewhile

from ds4.core.messages import Conversation, Role
from ds4.prompt.drafts import Draft, Drafter, TemplateMessages
from ds4.prompt.folding import SYSTEM_ROLES
from ds4.prompt.prefix import common_prefix
from ds4.prompt.rendered import Span

Group = tuple[int, int]
"""A run of answers: the index of the first and of what follows the last."""


@dataclass(frozen=True, slots=True)
class Answers:
    """`begins` is where the answer to generate does, None where that is not known or none is to be."""

    past: tuple[Span, ...] = ()
    begins: int | None = None


@dataclass(frozen=True, slots=True)
class _Marked:
    """A text without its marks: the characters in front of the last mark, and those behind it.

    `places` are the marks in the text's order, with the characters in front of each.
    """

    head: str
    tail: str
    places: dict[int, int]


def find_answers(draft: Draft, drafter: Drafter, sent: Conversation) -> Answers:
    """One extra render, two where the first one differs, and one more where answers have names."""
    groups = _groups(message["role"] == Role.ASSISTANT for message in draft.messages)
    # Where a form had to be found that the template takes, answers may have become neighbours.
    known = _sizes(groups) == _sizes(_groups(message.role is Role.ASSISTANT for message in sent.messages))
    found = (_find(draft, drafter, groups) if known else None) or _find(draft, drafter, []) or Answers()
    named = [any("name" in message for message in draft.messages[start:end]) for start, end in groups]
    if not any(named) or not _shows_names(draft, drafter):
        return found
    past = zip(found.past, named, strict=False)
    return replace(found, past=tuple(Span(span.messages, 0) if has_name else span for span, has_name in past))


def _shows_names(draft: Draft, drafter: Drafter) -> bool:
    nameless = [
        {key: value for key, value in message.items() if key != "name" or message["role"] != Role.ASSISTANT}
        for message in draft.messages
    ]
    text = drafter.again(draft, nameless)
    return text is None or not text.startswith(draft.text)


def _groups(answers: Iterable[bool]) -> list[Group]:
    found = []
    at = 0
    for is_answer, run in groupby(answers):
        end = at + len(tuple(run))
        if is_answer:
            found.append((at, end))
        at = end
    return found


def _sizes(groups: Iterable[Group]) -> list[int]:
    return [end - start for start, end in groups]


def _find(draft: Draft, drafter: Drafter, groups: Sequence[Group]) -> Answers | None:
    size = len(draft.messages)
    # One that is gone on with is no past answer.
    past = [group for group in groups if not draft.continues or group[1] < size]
    wanted = {*_marks(draft.messages, past), _end(size - 1)}
    text = drafter.again(draft, _with_marks(draft, wanted), generates=False)
    found = None if text is None else _read(text, draft.guard.sentinel)
    if found is None or found.places.keys() != wanted or not draft.text.startswith(found.head):
        return None
    if draft.continues:
        return Answers(tuple(_spans(past, found.places, size)))
    begins = len(found.head) + common_prefix(found.tail, draft.text[len(found.head) :])
    if past and past[-1][1] == size:
        if begins < len(found.head) + len(found.tail):
            # Calls stand behind the last text.
            return None
        found.places[_end(size - 1)] = begins
    return Answers(tuple(_spans(past, found.places, size)), begins)


def _begin(message: int) -> int:
    return 2 * message


def _end(message: int) -> int:
    return 2 * message + 1


def _marks(messages: TemplateMessages, groups: Sequence[Group]) -> Iterator[int]:
    if not groups:
        return
    lead = sum(1 for _ in takewhile(lambda message: message["role"] in SYSTEM_ROLES, messages))
    free = lead if lead < groups[0][0] else 0
    for index, message in enumerate(messages):
        if message["role"] != Role.ASSISTANT and index >= free:
            yield _end(index)
    for _, end in groups:
        if end < len(messages):
            yield _begin(end)


def _with_marks(draft: Draft, marks: set[int]) -> TemplateMessages:
    sentinel = draft.guard.sentinel
    marked = list(draft.messages)
    for index, message in enumerate(marked):
        content = str(message["content"])
        if draft.continues and index == len(marked) - 1:
            content = content.removesuffix(sentinel)
        # Blanks at the edges may be cut off, and what stands beside them then moves.
        text = content.strip()
        lead = len(content) - len(content.lstrip())
        parts = [content[:lead], text, content[lead + len(text) :]]
        for mark, place in ((_end(index), 2), (_begin(index), 1)):
            if mark in marks:
                parts.insert(place, f"{sentinel}{mark}{sentinel}")
        if len(parts) > 3:
            marked[index] = message | {"content": "".join(parts)}
    return marked


def _read(text: str, sentinel: str) -> _Marked | None:
    """None where a mark is there twice."""
    parts = re.split(f"{sentinel}([0-9]+){sentinel}", text)
    texts, marks = parts[::2], [int(number) for number in parts[1::2]]
    places = dict(zip(marks, accumulate(map(len, texts)), strict=False))
    return _Marked("".join(texts[:-1]), texts[-1], places) if len(places) == len(marks) else None


def _spans(groups: Sequence[Group], places: dict[int, int], size: int) -> Iterator[Span]:
    in_order = [-1, *places]
    before = dict(zip(in_order[1:], in_order, strict=False))
    last = 0
    for start, end in groups:
        closing = _begin(end) if end < size else _end(size - 1)
        opening = before[closing]
        if opening in map(_end, range(last, start)):
            yield Span(end - start, places[closing], after=places[opening])
        else:
            yield Span(end - start, places[closing] if opening < 0 and not start else 0)
        last = end
