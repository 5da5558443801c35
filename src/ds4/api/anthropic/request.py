"""A request body as what to answer, and how."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ds4.api.anthropic.bodies import CountBody, MessagesBody
from ds4.api.anthropic.constraints import demanded
from ds4.api.anthropic.system import SystemText, system_text
from ds4.api.anthropic.thinking import thoughts_of
from ds4.api.anthropic.tools import Choice, Toolbox, choice_of, toolbox
from ds4.api.anthropic.turns import leaves_out, messages_of
from ds4.api.body import JsonObject
from ds4.api.early import refuse_many
from ds4.api.normalise import ALL_NORMALISED, BILLING_HEADER, IDS, UNKNOWN_ITEMS, AsSent, lacks_ids, names
from ds4.api.sealed import Seals
from ds4.api.services import ModelCard
from ds4.api.validate import validated
from ds4.core.constraint import Constraint, Signature
from ds4.core.errors import BadRequest
from ds4.core.messages import Conversation, Message, Role, TextPart
from ds4.core.sampling import Sampling

MAX_INT = 2**31 - 1
MAX_TOP_K = 1024
MAX_STOPS = 128
MAX_STOP_CHARS = 16 * 1024
DROPPED_HEADER = "BILLING-HEADER-DROPPED"


@dataclass(frozen=True, slots=True)
class Talk:
    """What the prompt is made of. `flags` are words for the log, `normalised` what was left out.

    `choice` is that of the tools, which `signatures` describe where the model can call them.
    """

    conversation: Conversation
    choice: Choice
    signatures: tuple[Signature, ...]
    flags: tuple[str, ...]
    normalised: tuple[str, ...]
    shows_thinking: bool


@dataclass(frozen=True, slots=True)
class MessagesRequest:
    """`caching`: the caller marks what is worth caching, and so looks at what was."""

    talk: Talk
    constraint: Constraint | None
    model: str
    stream: bool
    max_tokens: int
    sampling: Sampling
    stops: tuple[str, ...]
    caching: bool


def messages_request(raw: JsonObject, card: ModelCard, as_sent: AsSent = ALL_NORMALISED) -> MessagesRequest:
    """Raises BadRequest."""
    refuse_many(raw.get("messages"), card.n_ctx)
    body = validated(MessagesBody, raw)
    talk = _talk(body, card, as_sent)
    _refuse_strays(talk.conversation.messages)
    return MessagesRequest(
        talk=talk,
        constraint=demanded(body, talk.choice, talk.signatures),
        model=body.model or card.id,
        stream=body.stream,
        max_tokens=card.max_tokens if body.max_tokens is None else max(0, min(body.max_tokens, MAX_INT)),
        sampling=Sampling(
            temperature=body.temperature,
            top_p=body.top_p if 0 < body.top_p <= 1 else 1.0,
            top_k=max(0, min(body.top_k, MAX_TOP_K)),
        ),
        stops=_stops(body.stop_sequences),
        caching=any(place.get("cache_control") is not None for place in _places(raw)),
    )


def count_request(raw: JsonObject, card: ModelCard, as_sent: AsSent = ALL_NORMALISED) -> Talk:
    """Raises BadRequest."""
    refuse_many(raw.get("messages"), card.n_ctx)
    return _talk(validated(CountBody, raw), card, as_sent)


def _talk(body: CountBody, card: ModelCard, as_sent: AsSent) -> Talk:
    if not body.messages:
        raise BadRequest("messages must not be empty", param="messages")
    choice, thoughts = choice_of(body.tool_choice), thoughts_of(body, card)
    system = system_text(body.system, as_sent)
    tools = toolbox(body.tools, choice)
    conversation = _conversation(body, system, tools)
    flags = {
        "TOOLS": bool(conversation.callable_tools),
        "THINKING": bool(thoughts.asked.enabled),
        DROPPED_HEADER: system.dropped,
    }
    return Talk(
        conversation=Conversation(conversation.messages, conversation.tools, thoughts.asked),
        choice=choice,
        signatures=tuple(tools.signatures[tool.name] for tool in conversation.callable_tools),
        flags=tuple(name for name, given in flags.items() if given),
        normalised=names(
            (
                BILLING_HEADER if system.dropped else None,
                IDS if lacks_ids(conversation.messages) else None,
                UNKNOWN_ITEMS if any(leaves_out(turn.content) for turn in body.messages) else None,
            )
        ),
        shows_thinking=thoughts.shown,
    )


def _conversation(body: CountBody, system: SystemText, tools: Toolbox) -> Conversation:
    seals = Seals()
    messages = [Message(Role.SYSTEM, (TextPart(system.text),))] if system.text else []
    for number, turn in enumerate(body.messages):
        messages += messages_of(turn.role, turn.content, f"messages.{number}", tools, seals)
    return Conversation(tuple(messages), tools.offered)


def _refuse_strays(messages: Sequence[Message]) -> None:
    """A result whose call is not there would show the model an answer to nothing."""
    called: set[str | None] = set()
    for message in messages:
        called.update(call.id for call in message.tool_calls)
        call_id = message.tool_call_id
        if message.role is Role.TOOL and (call_id not in called if call_id else not called):
            raise BadRequest(
                f"Anthropic continuation state is not available for tool_use_id {call_id}; retry by replaying"
                " the full messages history",
                param="messages",
            )


def _stops(given: list[str]) -> tuple[str, ...]:
    stops = tuple(stop for stop in given if stop)
    if len(stops) > MAX_STOPS or sum(map(len, stops)) > MAX_STOP_CHARS:
        limit = f"{MAX_STOPS} strings and {MAX_STOP_CHARS} characters"
        raise BadRequest(f"stop_sequences may hold at most {limit}", param="stop_sequences")
    return stops


def _places(raw: JsonObject) -> Iterator[Mapping[str, object]]:
    """Where cache marks may stand: the request itself, its tools, and blocks."""
    yield raw
    contents = [turn.get("content") for turn in _objects(raw.get("messages"))]
    for found in (raw.get("system"), raw.get("tools"), *contents):
        yield from _objects(found)


def _objects(value: object) -> list[JsonObject]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
