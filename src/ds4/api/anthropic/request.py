"""A request body as what to answer, and how.

A guarantee about the answer's form (a forced call, a strict tool, a JSON schema) is refused by name: to
accept it and answer with free text would break callers who rely on it. Claude Code asks for one when it
names a session; it does without the name when it is refused.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ds4.api.anthropic.bodies import CountBody, MessagesBody
from ds4.api.anthropic.system import SystemText, system_text
from ds4.api.anthropic.thinking import thoughts_of
from ds4.api.anthropic.tools import Choice, choice_of, refuse_strict, toolbox
from ds4.api.anthropic.turns import messages_of
from ds4.api.body import JsonObject
from ds4.api.early import refuse_many
from ds4.api.sealed import Seals
from ds4.api.services import ModelCard
from ds4.api.validate import validated
from ds4.core.errors import BadRequest, Unsupported
from ds4.core.messages import Conversation, Message, Role, TextPart
from ds4.core.sampling import Sampling

MAX_INT = 2**31 - 1
MAX_TOP_K = 1024
MAX_STOPS = 128
MAX_STOP_CHARS = 16 * 1024
DROPPED_HEADER = "BILLING-HEADER-DROPPED"
NORMALISED = "billing_header"


@dataclass(frozen=True, slots=True)
class Talk:
    """What the prompt is made of. `flags` are words for the log, `normalised` what was left out."""

    conversation: Conversation
    flags: tuple[str, ...]
    normalised: tuple[str, ...]
    one_call: bool
    shows_thinking: bool


@dataclass(frozen=True, slots=True)
class MessagesRequest:
    """`caching`: the caller marks what is worth caching, and so looks at what was."""

    talk: Talk
    model: str
    stream: bool
    max_tokens: int
    sampling: Sampling
    stops: tuple[str, ...]
    caching: bool


def messages_request(raw: JsonObject, card: ModelCard, *, keep_billing_header: bool) -> MessagesRequest:
    """Raises BadRequest."""
    refuse_many(raw.get("messages"), card.n_ctx)
    body = validated(MessagesBody, raw)
    _refuse_guarantees(body)
    return MessagesRequest(
        talk=_talk(body, card, keep_billing_header=keep_billing_header),
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


def count_request(raw: JsonObject, card: ModelCard, *, keep_billing_header: bool) -> Talk:
    """Raises BadRequest."""
    refuse_many(raw.get("messages"), card.n_ctx)
    return _talk(validated(CountBody, raw), card, keep_billing_header=keep_billing_header)


def _talk(body: CountBody, card: ModelCard, *, keep_billing_header: bool) -> Talk:
    if not body.messages:
        raise BadRequest("messages must not be empty", param="messages")
    choice, thoughts = choice_of(body.tool_choice), thoughts_of(body, card)
    system = system_text(body.system, keep_billing_header=keep_billing_header)
    conversation = _conversation(body, system, choice)
    flags = {
        "TOOLS": bool(conversation.callable_tools),
        "THINKING": bool(thoughts.asked.enabled),
        DROPPED_HEADER: system.dropped,
    }
    return Talk(
        conversation=Conversation(conversation.messages, conversation.tools, thoughts.asked),
        flags=tuple(name for name, given in flags.items() if given),
        normalised=(NORMALISED,) if system.dropped else (),
        one_call=choice.one_call,
        shows_thinking=thoughts.shown,
    )


def _conversation(body: CountBody, system: SystemText, choice: Choice) -> Conversation:
    tools, seals = toolbox(body.tools, choice), Seals()
    messages = [Message(Role.SYSTEM, (TextPart(system.text),))] if system.text else []
    for number, turn in enumerate(body.messages):
        messages += messages_of(turn.role, turn.content, f"messages.{number}", tools, seals)
    return Conversation(tuple(messages), tools.offered)


def _refuse_guarantees(body: MessagesBody) -> None:
    if choice_of(body.tool_choice).forces:
        raise Unsupported("tool_choice", "other than auto or none is not supported by this server")
    if body.output_config.format is not None:
        raise Unsupported("output_config.format")
    if body.output_format is not None:
        raise Unsupported("output_format")
    refuse_strict(body.tools)


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
