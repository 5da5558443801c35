"""System text for templates that take it only in one place, or not at all.

A system message in mid-conversation is rendered where it stands whenever the template allows. Where it
does not, its text joins the neighbouring user turn. It is never hoisted to the top: that would change
the prompt's beginning, and with it lose the whole cached prefix, every time one is added.
"""

from collections.abc import Iterator
from dataclasses import replace

from ds4.core.messages import Conversation, Message, Part, Role, TextPart

SYSTEM_ROLES = frozenset({Role.SYSTEM, Role.DEVELOPER})
GAP = "\n\n"


def forms(conversation: Conversation) -> Iterator[Conversation]:
    """The conversation as it is, then the forms to try when the template refuses it, gentlest first."""
    tried = []
    late = _fold(conversation.messages, keep_lead=True)
    for messages in (
        conversation.messages,
        late,
        _join_users(late),
        _join_users(_fold(conversation.messages, keep_lead=False)),
    ):
        if messages not in tried:
            tried.append(messages)
            yield replace(conversation, messages=messages)


def lead(messages: tuple[Message, ...]) -> int:
    """How many system messages stand at the beginning."""
    return next((i for i, m in enumerate(messages) if m.role not in SYSTEM_ROLES), len(messages))


def _fold(messages: tuple[Message, ...], *, keep_lead: bool) -> tuple[Message, ...]:
    start = lead(messages)
    waiting = [m.content for m in messages[:start] if m.text]
    out: list[Message] = []
    if keep_lead and start:
        out.append(Message(Role.SYSTEM, _joined(waiting)))
        waiting = []
    for message in messages[start:]:
        if message.role in SYSTEM_ROLES:
            waiting += [message.content] if message.text else []
        elif message.role is Role.USER:
            out.append(replace(message, content=_joined([*waiting, message.content])))
            waiting = []
        else:
            _after(out, waiting)
            waiting = []
            out.append(message)
    _after(out, waiting)
    return tuple(out)


def _after(out: list[Message], waiting: list[tuple[Part, ...]]) -> None:
    """Adds to the turn that ends `out` if it is on the user's side, else as a user turn of its own."""
    if not waiting:
        return
    if out and out[-1].role in (Role.USER, Role.TOOL):
        out[-1] = replace(out[-1], content=_joined([out[-1].content, *waiting]))
    else:
        out.append(Message(Role.USER, _joined(waiting)))


def _join_users(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Templates that refuse a system turn mostly insist on alternating roles too."""
    out: list[Message] = []
    for message in messages:
        if out and out[-1].role is message.role is Role.USER:
            out[-1] = replace(out[-1], content=_joined([out[-1].content, message.content]))
        else:
            out.append(message)
    return tuple(out)


def _joined(contents: list[tuple[Part, ...]]) -> tuple[Part, ...]:
    return tuple(part for content in contents for part in (TextPart(GAP), *content))[1:]
