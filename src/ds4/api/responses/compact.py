"""POST /v1/responses/compact: a history made short by the model itself.

What comes back stands for the history: its instructions as they were, and a summary that only this
server can read. The prompt is the history with one more question, so its cached rows serve.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import orjson
from pydantic import Field

from ds4.api.body import JsonObject
from ds4.api.collect import Answer
from ds4.api.responses.document import usage_json
from ds4.api.responses.history import kind_of
from ds4.api.responses.request import Asked, InputBody, asked_of
from ds4.api.responses.resolve import Resolved, Shelf, kept
from ds4.api.responses.store import Item
from ds4.api.sealed import seal
from ds4.api.services import ModelCard
from ds4.api.validate import validated
from ds4.core.errors import ServerError
from ds4.core.events import Event
from ds4.core.messages import Conversation, Message, Role, TextPart

REQUEST = (
    "The conversation up to here is about to be replaced by a summary that you write now. Somebody who knows"
    " nothing but this summary will go on with the work. Say what was asked for, in the user's words where"
    " they matter; what was decided and why; what has been done, with the names of files, commands and values"
    " that are still needed; what is left to do, and what comes next. Answer with the summary alone."
)
_INSTRUCTIONS = ("system", "developer")


class CompactBody(InputBody):
    model: Annotated[str, Field(min_length=1, max_length=256)]


@dataclass(frozen=True, slots=True)
class CompactRequest:
    """`instructions` are the items that outlive the compaction."""

    asked: Asked
    instructions: tuple[JsonObject, ...]


def compact_request(raw: JsonObject, card: ModelCard, shelf: Shelf) -> CompactRequest:
    """Raises BadRequest."""
    asked = asked_of(validated(CompactBody, raw), card, shelf)
    return CompactRequest(
        replace(asked, conversation=_asking(asked.conversation)), _outliving(asked.resolved)
    )


def _asking(conversation: Conversation) -> Conversation:
    question = Message(Role.USER, (TextPart(REQUEST),))
    return replace(conversation, messages=(*conversation.messages, question))


def _outliving(resolved: Resolved) -> tuple[JsonObject, ...]:
    return tuple(
        item for item in resolved.items if kind_of(item) == "message" and item.get("role") in _INSTRUCTIONS
    )


class CompactWire:
    """There is no stream of it."""

    def __init__(
        self, answer_id: str, created: int, instructions: Sequence[JsonObject], new_id: Callable[[str], str]
    ) -> None:
        self._id = answer_id
        self._created = created
        self._instructions = instructions
        self._new_id = new_id

    def chunks(self, choice: int, events: Sequence[Event]) -> bytes:
        raise NotImplementedError

    def end(self) -> bytes:
        raise NotImplementedError

    def heartbeat(self) -> bytes:
        raise NotImplementedError

    def whole(self, answers: Sequence[Answer]) -> bytes:
        """Raises ServerError when there is no summary: an empty one would lose the history."""
        (answer,) = answers
        summary = "".join(answer.text).strip()
        if not summary:
            raise ServerError("the model wrote no summary of the conversation")
        output = (*kept(self._instructions, self._new_id), self._compaction(summary))
        head = {"id": self._id, "object": "response.compaction", "created_at": self._created}
        items = b",".join(item.json for item in output)
        usage = orjson.dumps(usage_json(answer.finish.usage))
        return orjson.dumps(head)[:-1] + b',"output":[' + items + b'],"usage":' + usage + b"}"

    def _compaction(self, summary: str) -> Item:
        item_id = self._new_id("cmp_")
        item = {"id": item_id, "type": "compaction", "encrypted_content": seal(summary)}
        return Item(item_id, orjson.dumps(item))
