"""Refusals that need no work: what certainly does not fit, and what there is no place for.

The bounds of the context are sound: nothing is refused that could fit.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from starlette.requests import Request

from ds4.api.race import while_connected
from ds4.api.services import Services
from ds4.core.errors import BadRequest, ContextOverflow, Overloaded, Unavailable
from ds4.core.messages import Conversation, Role, TextPart
from ds4.core.ports import Tokenizer
from ds4.core.status import Readiness, Status

T = TypeVar("T")


async def prepared(
    request: Request, services: Services, work: Callable[[], T], *, choices: int = 1, blamed: str = "n"
) -> T:
    """What `work` makes of a request whose body has been read, unless its `choices` have no chance.

    Raises RequestError or Unavailable; `blamed` is the field that makes so many choices.
    """
    refuse_crowd(services.backend.status(), choices, blamed)
    return await while_connected(request.receive, services.run(work))


def refuse_crowd(status: Status, choices: int, blamed: str) -> None:
    """Raises BadRequest, Overloaded or Unavailable. An unknown capacity refuses nothing."""
    if status.readiness is Readiness.DRAINING:
        raise Unavailable("server shutting down")
    if not status.capacity:
        return
    if choices > status.capacity:
        why = f"{choices} choices are more than this server can hold, which is {status.capacity}"
        raise BadRequest(f"{blamed}: {why}", param=blamed)
    running = sum(slot.job is not None for slot in status.slots)
    if running + status.queued >= status.capacity:
        limit = status.capacity - len(status.slots)
        raise Overloaded(
            f"{status.queued} requests are already waiting, the limit is {limit}",
            retry_after=status.retry_after,
        )


def refuse_many(items: object, n_ctx: int) -> None:
    """`items`, where they are a list, take at least a row each. Raises ContextOverflow."""
    if isinstance(items, list | tuple) and len(items) >= n_ctx:
        raise ContextOverflow(len(items), n_ctx)


def refuse_overlong(services: Services, conversation: Conversation) -> None:
    """Raises ContextOverflow for a conversation of too many pieces or too much text."""
    calls = [call for message in conversation.messages for call in message.tool_calls]
    refuse_many([*conversation.messages, *calls, *conversation.tools], services.card.n_ctx)
    refuse_long(services, _surely_rendered(conversation))


def refuse_long(services: Services, texts: Iterable[str]) -> None:
    """`texts` are parts of one prompt. Raises ContextOverflow."""
    n_ctx = services.card.n_ctx
    size = sum(len(text.strip()) for text in texts)
    # A row stands for a character at least: the vocabulary need not be asked about short texts.
    if size >= n_ctx and (rows := size // services.longest_piece()) >= n_ctx:
        raise ContextOverflow(rows, n_ctx)


def _surely_rendered(conversation: Conversation) -> Iterator[str]:
    """Texts that every template shows, give or take blanks at their ends. Earlier answers are not among
    them: templates leave out their reasoning."""
    for message in conversation.messages:
        if message.role is not Role.ASSISTANT:
            yield from (part.text for part in message.content if isinstance(part, TextPart))


def longest_piece(tokenizer: Tokenizer) -> int:
    """In bytes, over the whole vocabulary."""
    return max(len(tokenizer.piece(token)) for token in range(tokenizer.n_vocab))
