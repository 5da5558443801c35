"""Where the answers stand in a text that a template from outside has written.

The conversation is rendered once more: without the marker of the answer to generate, and with an unused
character in front of what follows each answer, and behind the last message. If the text up to there is
otherwise the same, it shows a place that each answer of the history ends before, and the answer to generate
begins where the two texts part. If not, nothing is known.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from ds4.core.messages import Conversation, Role
from ds4.prompt.drafts import Draft, Drafter, TemplateMessages
from ds4.prompt.prefix import common_prefix
from ds4.prompt.rendered import Span


@dataclass(frozen=True, slots=True)
class Answers:
    """`begins` is where the answer to generate does, None where that is not known or none is to be."""

    past: tuple[Span, ...] = ()
    begins: int | None = None


def find_answers(draft: Draft, drafter: Drafter, sent: Conversation) -> Answers:
    """One extra render, two where the first one differs."""
    groups = _groups(message["role"] == Role.ASSISTANT for message in draft.messages)
    # Where a form had to be found that the template takes, answers may have become neighbours.
    known = groups == _groups(message.role is Role.ASSISTANT for message in sent.messages)
    return (_find(draft, drafter, groups) if known else None) or _find(draft, drafter, []) or Answers()


def _groups(answers: Iterable[bool]) -> list[tuple[int, int]]:
    """Runs of answers: the index of the first and of what follows the last."""
    found = []
    at = 0
    for is_answer, run in groupby(answers):
        end = at + len(tuple(run))
        if is_answer:
            found.append((at, end))
        at = end
    return found


def _find(draft: Draft, drafter: Drafter, groups: Sequence[tuple[int, int]]) -> Answers | None:
    sentinel = draft.guard.sentinel
    followed = [group for group in groups if group[1] < len(draft.messages)]
    marked = _marked(draft.messages, [end for _, end in followed], sentinel)
    if not draft.continues:
        marked[-1] = marked[-1] | {"content": _ended(str(marked[-1]["content"]), sentinel)}
    text = drafter.again(draft, marked, generates=False)
    if text is None:
        return None
    *parts, tail = text.split(sentinel)
    head = "".join(parts)
    if len(parts) != len(followed) + 1 or not draft.text.startswith(head):
        return None
    past = [
        Span(end - start, until)
        for (start, end), until in zip(followed, accumulate(map(len, parts)), strict=False)
    ]
    if draft.continues:
        return Answers(tuple(past))
    begins = len(head) + common_prefix(tail, draft.text[len(head) :])
    open_ended = groups[len(followed) :]
    if open_ended and begins < len(head) + len(tail):
        # Calls stand behind the last text.
        return None
    past += [Span(end - start, begins) for start, end in open_ended]
    return Answers(tuple(past), begins)


def _marked(messages: TemplateMessages, places: Sequence[int], sentinel: str) -> TemplateMessages:
    marked = list(messages)
    for place in places:
        content = str(messages[place]["content"])
        # Blanks in front may be cut off, and what stands behind them then moves.
        text = content.lstrip()
        blanks = content[: len(content) - len(text)]
        marked[place] = messages[place] | {"content": f"{blanks}{sentinel}{text}"}
    return marked


def _ended(content: str, sentinel: str) -> str:
    text = content.rstrip()
    return f"{text}{sentinel}{content[len(text) :]}"
