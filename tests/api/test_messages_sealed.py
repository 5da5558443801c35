"""Sealed text, and readers that end with the first call."""

import base64
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.api.anthropic.tools import Toolbox as MessagesTools
from ds4.api.anthropic.turns import messages_of as messages_of_turn
from ds4.api.one_call import OneCall
from ds4.api.responses.history import messages_of as messages_of_items
from ds4.api.responses.toolbox import Toolbox as ResponsesTools
from ds4.api.sealed import Seals, seal
from ds4.core.errors import BadRequest
from ds4.core.events import Fed, FinishReason, Hint, ParsedEvent, Stop, Text, ToolArgs, ToolEnd, ToolStart
from ds4.core.messages import Message
from ds4.core.ports import Piece

PIECE = Piece(b"", 0, control=False)


def unseal(text: str) -> str | None:
    return Seals().open(text)


@given(st.text())
def test_what_was_sealed_comes_back(text: str) -> None:
    assert unseal(seal(text)) == text


def test_half_a_character_does_no_harm() -> None:
    assert unseal(seal("a\ud83d")) == "a?"


@given(st.text(max_size=20) | st.binary(max_size=20).map(lambda data: base64.b64encode(data).decode()))
def test_what_was_not_sealed_here_is_nothing(text: str) -> None:
    assert unseal(text) is None


def test_a_changed_character_never_gives_another_text() -> None:
    text = "Look it up, and then once more."
    whole = seal(text)
    for place in range(0, len(whole), 4):
        changed = whole[:place] + ("A" if whole[place] != "A" else "B") + whole[place + 1 :]
        assert unseal(changed) in (None, text)


def test_a_bomb_is_refused() -> None:
    assert Seals(1000).open(seal("a" * 1000)) == "a" * 1000
    with pytest.raises(BadRequest, match="larger than 1000 bytes"):
        Seals(1000).open(seal("a" * 1001))


def test_the_texts_of_a_request_share_one_limit() -> None:
    seals = Seals(1000)
    assert seals.open(seal("a" * 600)) == "a" * 600
    assert seals.open("foreign") is None
    with pytest.raises(BadRequest):
        seals.open(seal("b" * 401))
    assert seals.open(seal("c" * 400)) == "c" * 400


def test_what_was_inflated_for_nothing_counts() -> None:
    raw = b"\x01" + bytes(4) + zlib.compress(b"a" * 600)
    seals = Seals(1000)
    assert seals.open(base64.b64encode(raw).decode()) is None
    with pytest.raises(BadRequest):
        seals.open(seal("b" * 401))


def test_the_limit_holds_over_all_turns_and_items() -> None:
    text, tools = seal("a" * 600), MessagesTools()
    block = {"type": "thinking", "thinking": "", "signature": text}
    items: list[dict[str, object]] = [{"type": "reasoning", "summary": [], "encrypted_content": text}] * 2

    def turns(seals: Seals) -> list[Message]:
        places = ("messages.0", "messages.1")
        return [m for path in places for m in messages_of_turn("assistant", [block], path, tools, seals)]

    assert [message.reasoning for message in turns(Seals(1200))] == ["a" * 600] * 2
    with pytest.raises(BadRequest):
        turns(Seals(1000))
    (message,) = messages_of_items(items, ResponsesTools(), Seals(1200))
    assert message.reasoning == "a" * 600 + "\n\n" + "a" * 600
    with pytest.raises(BadRequest):
        messages_of_items(items, ResponsesTools(), Seals(1000))


def test_another_version_is_nothing() -> None:
    raw = b"\x02" + zlib.crc32(b"a").to_bytes(4, "big") + zlib.compress(b"a")
    assert unseal(base64.b64encode(raw).decode()) is None


class Replay:
    """A reader that answers with what it was given, and at its end with what is left."""

    def __init__(self, *batches: tuple[ParsedEvent, ...]) -> None:
        self._batches = list(batches)

    def feed(self, piece: Piece) -> Fed:  # noqa: ARG002
        return Fed(self._batches.pop(0), Hint(greedy=True))

    def flush(self, *, cut: bool = False) -> Fed:  # noqa: ARG002
        return Fed(tuple(event for batch in self._batches for event in batch))


CALL: tuple[ParsedEvent, ...] = (ToolStart(0, "a", "f"), ToolArgs(0, "{}"), ToolEnd(0))
ENDED = Hint(stop=Stop(FinishReason.TOOL_CALLS))


def test_an_answer_ends_with_its_first_call() -> None:
    reader = OneCall(Replay((Text("a"),), (*CALL, ToolStart(1, "b", "g")), (Text("b"),)))
    assert reader.feed(PIECE) == Fed((Text("a"),), Hint(greedy=True))
    assert reader.feed(PIECE) == Fed(CALL, ENDED)
    assert reader.flush() == Fed()


def test_also_when_the_call_ends_with_the_answer() -> None:
    assert OneCall(Replay((*CALL, Text("b")))).flush() == Fed(CALL, ENDED)


def test_without_calls_nothing_changes() -> None:
    reader = OneCall(Replay((Text("a"),), (Text("b"),)))
    assert reader.feed(PIECE).events == (Text("a"),)
    assert reader.flush(cut=True) == Fed((Text("b"),))
