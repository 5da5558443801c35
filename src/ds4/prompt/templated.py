"""Conversations rendered by a template from outside: the model file's own."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ds4.core.messages import Conversation
from ds4.core.plan import BoundaryKind
from ds4.core.ports import Clock
from ds4.prompt.boundaries import find_marks
from ds4.prompt.drafts import Draft, Drafter
from ds4.prompt.late_tools import with_late_tools
from ds4.prompt.options import PromptOptions
from ds4.prompt.rendered import Mark, Rendered
from ds4.prompt.results import in_call_order
from ds4.prompt.tool_place import find_tools
from ds4.prompt.turns import find_answers


class TemplateSource:
    """Thread safe."""

    def __init__(
        self,
        source: str,
        clock: Clock,
        spellings: list[str],
        *,
        names: dict[str, str],
        options: PromptOptions,
        min_boundary_chars: int,
    ) -> None:
        """Boundaries are looked for in texts of at least `min_boundary_chars`, since each costs a render.

        Raises ModelError when the template does not compile.
        """
        self._drafter = Drafter(source, clock, spellings, names, options)
        self._min_boundary_chars = min_boundary_chars

    def render(self, conversation: Conversation) -> Rendered:
        """Raises BadRequest on what the template refuses, TemplateError on what it fails at."""
        order = tuple(in_call_order(conversation.messages))
        ordered = replace(conversation, messages=tuple(conversation.messages[index] for index in order))
        draft = self._drafter.draft(with_late_tools(ordered, wraps=True))
        answers = find_answers(draft, self._drafter, ordered)
        marks = self._marks(draft, order)
        if answers.begins is not None:
            end = len(conversation.messages) if draft.as_sent else None
            marks = (*marks, Mark(answers.begins, BoundaryKind.ANSWER_START, end))
        return Rendered(draft.guard.restore(draft.text), draft.text, marks, answers.past)

    def _marks(self, draft: Draft, order: Sequence[int]) -> tuple[Mark, ...]:
        """`order` are the client's indexes of the messages."""
        if len(draft.text) < self._min_boundary_chars:
            return ()
        render = partial(self._drafter.again, draft)
        found = find_marks(
            draft.text, draft.messages, bool(draft.values["tools"]), draft.guard.sentinel, render
        )
        head = next((mark for mark in found if mark.kind is BoundaryKind.SYSTEM_END), None)
        found = [*find_tools(draft, head, self._drafter), *found]
        return tuple(replace(mark, message=_sent(mark, order) if draft.as_sent else None) for mark in found)


def _sent(mark: Mark, order: Sequence[int]) -> int | None:
    """The index that the client knows; one behind all messages stays."""
    message = mark.message
    return order[message] if message is not None and message < len(order) else message
