"""Where the answers stand in a text that a template from outside has written.

The conversation is rendered once more: without the marker of the answer to generate, and with an unused
character in front of what follows each answer. If the text is otherwise the same, it shows where the answer
to generate begins, and a place that each answer of the history ends before. If not, nothing is known.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from ds4.core.messages import Conversation, Role
from ds4.prompt.drafts import Draft, Drafter, TemplateMessages
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
    runs = [
        (is_answer, [i for i, _ in run])
        for is_answer, run in groupby(enumerate(answers), lambda pair: pair[1])
    ]
    return [(run[0], run[-1] + 1) for is_answer, run in runs if is_answer]


def _find(draft: Draft, drafter: Drafter, groups: Sequence[tuple[int, int]]) -> Answers | None:
    sentinel = draft.guard.sentinel
    followed = [group for group in groups if group[1] < len(draft.messages)]
    text = drafter.again(
        draft, _marked(draft.messages, [end for _, end in followed], sentinel), generates=False
    )
    if text is None:
        return None
    parts = text.split(sentinel)
    if draft.continues:
        parts.pop()
    head = "".join(parts)
    if len(parts) != len(followed) + 1 or not draft.text.startswith(head):
        return None
    places = accumulate(map(len, parts[:-1]))
    past = [Span(end - start, until) for (start, end), until in zip(followed, places, strict=True)]
    if draft.continues:
        return Answers(tuple(past))
    past += [Span(end - start, len(head)) for start, end in groups[len(followed) :]]
    return Answers(tuple(past), len(head))


def _marked(messages: TemplateMessages, places: Sequence[int], sentinel: str) -> TemplateMessages:
    marked = list(messages)
    for place in places:
        content = str(messages[place]["content"])
        # Blanks in front may be cut off, and what stands behind them then moves.
        text = content.lstrip()
        blanks = content[: len(content) - len(text)]
        marked[place] = messages[place] | {"content": f"{blanks}{sentinel}{text}"}
    return marked
