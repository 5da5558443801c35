"""Messages while they are put together from what follows one another.

Rules:
- Items of the assistant that follow one another are one turn, as the model produced it: reasoning, text,
  calls. Whatever stands on another side ends the turn.
- Results go to their call. A result whose call is not there is refused: the model would be shown an
  answer to nothing, and the client can replay what is missing.
"""

from dataclasses import dataclass, field

from ds4.core.errors import BadRequest
from ds4.core.messages import Message, Role, TextPart, Tool, ToolCall

_GAP = "\n\n"


@dataclass(slots=True)
class _Turn:
    """What the assistant has said since it was last interrupted."""

    reasoning: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)

    def message(self) -> Message:
        return Message(
            Role.ASSISTANT,
            content_of(_GAP.join(self.text)),
            reasoning=_GAP.join(self.reasoning) or None,
            tool_calls=tuple(self.calls),
        )


class Turns:
    def __init__(self) -> None:
        self._done: list[Message] = []
        self._turn: _Turn | None = None
        self._calls: set[str] = set()
        # Kept in order: a result without an id goes to the first.
        self._waiting: dict[str, None] = {}

    def think(self, text: str) -> None:
        if text:
            self._open().reasoning.append(text)

    def answer(self, text: str) -> None:
        if text:
            self._open().text.append(text)

    def call(self, call_id: str | None, name: str, arguments: str) -> None:
        call_id = call_id or f"call_{len(self._calls)}"
        self._calls.add(call_id)
        self._waiting[call_id] = None
        self._open().calls.append(ToolCall(call_id, name, arguments))

    def result(self, call_id: str | None, text: str, path: str, tools: tuple[Tool, ...] = ()) -> None:
        """Without an id it belongs to the call that waits longest. Raises BadRequest."""
        call_id = call_id or next(iter(self._waiting), None)
        if call_id not in self._calls:
            raise BadRequest(
                f"Responses continuation state is not available for call_id {call_id}; retry by replaying"
                " the full input history",
                param=path,
            )
        self._waiting.pop(call_id, None)
        self.say(Message(Role.TOOL, content_of(text), tool_call_id=call_id, tools=tools))

    def say(self, message: Message) -> None:
        """Anything but the assistant's own words."""
        self._end_turn()
        self._done.append(message)

    def messages(self) -> tuple[Message, ...]:
        self._end_turn()
        return tuple(self._done)

    def _open(self) -> _Turn:
        if self._turn is None:
            self._turn = _Turn()
        return self._turn

    def _end_turn(self) -> None:
        if self._turn is not None:
            self._done.append(self._turn.message())
            self._turn = None


def content_of(text: str) -> tuple[TextPart, ...]:
    return (TextPart(text),) if text else ()
