"""System text for templates that take it only in one place, or not at all.

A system message in mid-conversation is rendered where it stands whenever the template allows. Where it
does not, its text joins the neighbouring user turn. It is never hoisted to the top: that would change
the prompt's beginning, and with it lose the whole cached prefix, every time one is added.
"""

from collections.abc import Iterator
from dataclasses import replace

from ds4.core.messages import Conversation, Message, Role, TextPart

SYSTEM_ROLES = frozenset({Role.SYSTEM, Role.DEVELOPER})
_GAP = "\n\n"


def forms(conversation: Conversation) -> Iterator[Conversation]:
    """The conversation as it is, then the forms to try when the template refuses it, gentlest first."""
    tried = []
    for messages in (
        conversation.messages,
        _fold(conversation.messages, keep_lead=True),
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
    waiting = [m.text for m in messages[:start]]
    out: list[Message] = []
    if keep_lead and start:
        out.append(_text_message(Role.SYSTEM, waiting))
        waiting = []
    for message in messages[start:]:
        if message.role in SYSTEM_ROLES:
            waiting.append(message.text)
        elif message.role is Role.USER:
            out.append(_before(message, waiting))
            waiting = []
        else:
            _after(out, waiting)
            waiting = []
            out.append(message)
    _after(out, waiting)
    return tuple(out)


def _before(message: Message, texts: list[str]) -> Message:
    kept = [TextPart(text + _GAP) for text in texts if text]
    return replace(message, content=(*kept, *message.content)) if kept else message


def _after(out: list[Message], texts: list[str]) -> None:
    """Adds to the turn that ends `out` if it is on the user's side, else as a user turn of its own."""
    kept = [text for text in texts if text]
    if not kept:
        return
    if out and out[-1].role in (Role.USER, Role.TOOL):
        added = tuple(TextPart(_GAP + text) for text in kept)
        out[-1] = replace(out[-1], content=out[-1].content + added)
    else:
        out.append(_text_message(Role.USER, kept))


def _join_users(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Templates that refuse a system turn mostly insist on alternating roles too."""
    out: list[Message] = []
    for message in messages:
        if out and out[-1].role is message.role is Role.USER:
            out[-1] = replace(out[-1], content=(*out[-1].content, TextPart(_GAP), *message.content))
        else:
            out.append(message)
    return tuple(out)


def _text_message(role: Role, texts: list[str]) -> Message:
    return Message(role, (TextPart(_GAP.join(filter(None, texts))),))
