"""How an answer ends: the reader hears whether it was cut, and may know better why it ended."""

import pytest

from ds4.core.events import Fed, FinishReason, Hint, ParsedEvent, Reasoning, Stop, Text
from ds4.core.ports import Piece
from ds4.core.sampling import Sampled
from ds4.engine.scripted.bpe import packaged_bpe
from ds4.engine.scripted.tokenizer import ScriptedTokenizer
from ds4.formats.registry import family_named
from ds4.schedule.answer import digest, finish
from ds4.schedule.session import Session
from ds4.testing.jobs import make_job


class Recorder:
    """A reader that notes how it was flushed."""

    def __init__(self, hint: Hint) -> None:
        self.hint = hint
        self.cut: bool | None = None

    def feed(self, piece: Piece) -> Fed:
        raise AssertionError(piece)

    def flush(self, *, cut: bool = False) -> Fed:
        self.cut = cut
        return Fed((Text("rest"),), self.hint)


def ended(reason: FinishReason, hint: Hint) -> tuple[Recorder, FinishReason]:
    reader = Recorder(hint)
    held, end = finish(Session(make_job("a", [1], reader=reader), 5, 0.0), Stop(reason))
    assert held == (Text("rest"),)
    return reader, end.reason


@pytest.mark.parametrize(
    ("reason", "cut"),
    [
        (FinishReason.STOP, False),
        (FinishReason.TOOL_CALLS, False),
        (FinishReason.LENGTH, True),
        (FinishReason.SHUTDOWN, True),
    ],
)
def test_the_reader_hears_whether_the_answer_was_cut(reason: FinishReason, cut: bool) -> None:
    reader, finished = ended(reason, Hint())
    assert reader.cut is cut
    assert finished is reason


def test_the_reader_may_turn_the_end_token_into_tool_calls() -> None:
    _, finished = ended(FinishReason.STOP, Hint(stop=Stop(FinishReason.TOOL_CALLS)))
    assert finished is FinishReason.TOOL_CALLS


class Scripted:
    """Gives one event for each piece in turn."""

    def __init__(self, events: list[ParsedEvent | None]) -> None:
        self.events = events

    def feed(self, piece: Piece) -> Fed:  # noqa: ARG002  (the protocol's signature)
        event = self.events.pop(0)
        return Fed(() if event is None else (event,))

    def flush(self, *, cut: bool = False) -> Fed:  # noqa: ARG002  (the protocol's signature)
        return Fed(())


def test_reasoning_tokens_are_counted() -> None:
    tokenizer = ScriptedTokenizer(family_named("chatml"), packaged_bpe())
    said = [Reasoning("hm"), None, Reasoning("so"), Text("yes"), None]
    session = Session(make_job("a", [1], reader=Scripted(list(said))), 50, 0.0)
    digest(session, [Sampled(token) for token in range(len(said))], tokenizer)
    assert (session.usage.completion, session.usage.reasoning) == (5, 3)
