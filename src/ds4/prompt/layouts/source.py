"""Conversations rendered by a built-in layout."""

from dataclasses import replace

from ds4.core.messages import Conversation, Role
from ds4.core.plan import BoundaryKind
from ds4.formats.thinking import mode
from ds4.prompt.late_tools import with_late_tools
from ds4.prompt.layouts.args import args_of
from ds4.prompt.layouts.chat import Chat, Entry, entries, is_continued, schema_lines
from ds4.prompt.layouts.registry import Layout
from ds4.prompt.layouts.values import wrapped
from ds4.prompt.layouts.writer import Writer
from ds4.prompt.options import PromptOptions
from ds4.prompt.rendered import Mark, Rendered


class LayoutSource:
    """Thread safe."""

    def __init__(self, layout: Layout, options: PromptOptions) -> None:
        self._layout = layout
        self._options = options

    def render(self, conversation: Conversation) -> Rendered:
        """Raises BadRequest, Unsupported on images."""
        chat = self._chat(with_late_tools(conversation, wraps=self._layout.wraps))
        out = Writer()
        self._layout.write(chat, out)
        rendered = out.rendered()
        return replace(rendered, marks=_marks(rendered.marks, chat))

    def _chat(self, conversation: Conversation) -> Chat:
        options, layout = self._options, self._layout
        args = args_of(conversation)
        thinking = mode(args.thinking, layout.efforts, options.n_ctx)
        schemas = schema_lines(conversation.tools)
        all_entries = entries(conversation.messages)
        lead = _lead(all_entries)
        continues = is_continued(conversation)
        return Chat(
            lead=all_entries[:lead],
            entries=all_entries[lead:],
            size=len(all_entries),
            tools=tuple(map(wrapped, schemas)) if layout.wraps else schemas,
            preamble=options.preamble or layout.preamble,
            tools_first=options.tools_first,
            thinks=thinking.enabled is not False,
            effort=layout.efforts.default if thinking.effort is None else thinking.effort,
            think_max=options.think_max,
            continues=continues,
            generates=not continues and args.generates,
            last_question=max((entry.index for entry in all_entries if entry.is_question), default=-1),
        )


def _lead(given: tuple[Entry, ...]) -> int:
    return next((i for i, entry in enumerate(given) if entry.role is not Role.SYSTEM), len(given))


def _marks(marks: tuple[Mark, ...], chat: Chat) -> tuple[Mark, ...]:
    """Without the end of a head that is not there; the turn with the last user message is named twice."""
    size = next(number for number, mark in enumerate(marks, 1) if mark.kind is BoundaryKind.SYSTEM_END)
    head, turns = marks[:size], marks[size:]
    last_user = chat.last(Role.USER)
    asked = [turn for turn in turns if turn.message is not None and turn.message <= last_user]
    named = [replace(turn, kind=BoundaryKind.LAST_USER_START) for turn in asked[-1:]]
    return (*(head if chat.lead or chat.tools else ()), *asked, *named, *turns[len(asked) :])
