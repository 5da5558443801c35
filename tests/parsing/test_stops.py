"""Stop strings: nothing leaks, nothing is swallowed, nothing is held without need."""

from itertools import pairwise

import pytest
from feeding import TRAILING, Answer, Way, bytewise, control, every_way, plain, read, text_of
from hypothesis import example, given
from hypothesis import strategies as st

from ds4.core.events import FinishReason, Hint, Stop, Text, ToolEnd
from ds4.core.ports import Piece
from ds4.core.sampling import Sampled
from ds4.parsing.reader import text_reader
from ds4.parsing.stops import StopStrings

STOP_LISTS = st.lists(st.text("abé🙂", max_size=5), max_size=4).map(tuple)
OUTPUT = st.text("abcé🙂", max_size=30)


def stopped(text: str, sequence: str) -> Answer:
    return Answer(text, Stop(FinishReason.STOP, sequence))


def expected(text: str, stops: tuple[str, ...]) -> Answer:
    """What the rules say, found the slow way."""
    matches = [
        (text.find(stop) + len(stop), text.find(stop), stop) for stop in stops if stop and stop in text
    ]
    if not matches:
        return Answer(text)
    _, start, sequence = min(matches)
    return stopped(text[:start], sequence)


def held(text: str, stops: tuple[str, ...]) -> int:
    """Characters at the end of `text` that may begin a stop string."""
    return max(
        (n for n in range(1, len(text) + 1) if any(stop.startswith(text[-n:]) for stop in stops)), default=0
    )


@every_way
@pytest.mark.parametrize(
    ("output", "stops", "text", "sequence"),
    [
        pytest.param("one END two", ("END",), "one ", "END", id="in the middle"),
        pytest.param("END", ("END",), "", "END", id="nothing before it"),
        pytest.param("a\n\nb", ("\n\n",), "a", "\n\n", id="newlines"),
        pytest.param("ENENEND", ("END",), "ENEN", "END", id="false starts"),
        pytest.param("aabaabaac", ("aabaac",), "aab", "aabaac", id="overlapping starts"),
        pytest.param("x🙂🙃", ("🙂🙃",), "x", "🙂🙃", id="beyond ASCII"),
        pytest.param("one two", ("two", "one"), "", "one", id="the first in the text, not in the list"),
        pytest.param("abcd", ("abcd", "bc"), "a", "bc", id="the first complete one"),
        pytest.param("abc", ("bc", "abc"), "", "abc", id="the longer of two that end together"),
        pytest.param("ab", ("a", "ab"), "", "a", id="no waiting for a longer one"),
    ],
)
def test_a_stop_string_ends_the_text(
    way: Way, output: str, stops: tuple[str, ...], text: str, sequence: str
) -> None:
    assert way.read(text_reader(stops), output) == stopped(text, sequence)


@every_way
@pytest.mark.parametrize(
    ("output", "stops"),
    [
        pytest.param("plain", ("END",), id="none near"),
        pytest.param("the EN", ("END",), id="half of one at the end"),
        pytest.param("E N D", ("END",), id="not in one piece"),
        pytest.param("a", ("",), id="an empty one never matches"),
    ],
)
def test_without_a_stop_string_nothing_is_lost(way: Way, output: str, stops: tuple[str, ...]) -> None:
    assert way.read(text_reader(stops), output) == Answer(output + way.trailing)


def test_the_piece_that_completes_it_says_stop() -> None:
    reader = text_reader(("END",))
    assert reader.feed(plain(b"go EN")).hint == Hint()
    assert reader.feed(plain(b"D")).hint == Hint(stop=Stop(FinishReason.STOP, "END"))


def test_what_an_earlier_decoder_held_can_still_complete_it() -> None:
    reader = text_reader(("E\ufffd",))
    assert read(reader, [plain(b"go E\xf0\x9f")]) == stopped("go ", "E\ufffd")


def test_nothing_comes_after_a_stop() -> None:
    reader = text_reader(("END",))
    stop = reader.feed(plain(b"END")).hint
    for fed in (reader.feed(plain(TRAILING.encode())), reader.feed(plain(b"END")), reader.flush()):
        assert (fed.events, fed.hint) == ((), stop)


def test_an_invisible_control_token_does_not_hide_a_stop_string() -> None:
    assert read(text_reader(("END",)), [plain(b"a E"), control("<x>"), plain(b"ND")]) == stopped("a ", "END")


def test_a_visible_control_token_can_be_a_stop_string() -> None:
    reader = text_reader(("<eot>",), show_control=True)
    assert read(reader, [plain(b"a"), control("<eot>"), plain(b"b")]) == stopped("a", "<eot>")


def test_an_event_between_texts_parts_them_and_a_hint_does_not() -> None:
    decoder = StopStrings(("END",))
    assert list(decoder.feed(Text("E"))) == []
    assert list(decoder.feed(ToolEnd(0))) == [Text("E"), ToolEnd(0)]
    assert list(decoder.feed(Text("ND EN"))) == [Text("ND ")]
    assert list(decoder.feed(Hint(greedy=True))) == [Hint(greedy=True)]
    assert list(decoder.feed(Text("D"))) == [Hint(stop=Stop(FinishReason.STOP, "END"))]


def test_tokens_travel_with_held_text_and_end_with_the_stop() -> None:
    reader = text_reader(("END",), want_tokens=True)
    parts = [b"a E", b"N", b"x", b"y E", b"ND"]
    sampled = [Sampled(token) for token in range(len(parts))]
    fed = [reader.feed(Piece(part, s.id, False, s)).events for part, s in zip(parts, sampled, strict=True)]
    assert fed == [
        (Text("a ", (sampled[0],)),),
        (),
        (Text("ENx", (sampled[1], sampled[2])),),
        (Text("y ", (sampled[3],)),),
        (),
    ]
    assert reader.flush().events == ()


def test_tokens_are_left_out_unless_wanted() -> None:
    fed = text_reader().feed(Piece(b"a", 5, False, Sampled(5)))
    assert fed.events == (Text("a"),)


@given(OUTPUT, STOP_LISTS, st.data())
@example("abab", ("abb", "ba"), None)
def test_the_cut_never_matters(output: str, stops: tuple[str, ...], data: st.DataObject | None) -> None:
    raw = output.encode()
    parts = bytewise(raw) if data is None else data.draw(cuts(raw))
    assert read(text_reader(stops), map(plain, parts)) == expected(output, stops)


@given(OUTPUT, STOP_LISTS)
def test_text_appears_as_soon_as_it_cannot_become_a_stop_string(output: str, stops: tuple[str, ...]) -> None:
    reader = text_reader(stops)
    shown = ""
    for end, char in enumerate(output, 1):
        shown += text_of(reader.feed(plain(char.encode())).events)
        seen = output[:end]
        want = expected(seen, stops)
        assert shown == (want.text if want.stop else seen[: end - held(seen, stops)])
        if want.stop:
            return


@given(OUTPUT, STOP_LISTS)
def test_every_text_names_the_tokens_that_begin_in_it(output: str, stops: tuple[str, ...]) -> None:
    reader = text_reader(stops, want_tokens=True)
    pieces = [Piece(char.encode(), at, False, Sampled(at)) for at, char in enumerate(output)]
    events = [event for piece in pieces for event in reader.feed(piece).events] + [*reader.flush().events]
    shown = 0
    for event in events:
        assert isinstance(event, Text)
        assert [token.id for token in event.tokens] == [*range(shown, shown + len(event.text))]
        shown += len(event.text)


def cuts(data: bytes) -> st.SearchStrategy[list[bytes]]:
    """`data` in pieces of any length, empty ones included."""
    places = st.lists(st.integers(0, len(data))).map(lambda inner: [0, *sorted(inner), len(data)])
    return places.map(lambda at: [data[a:b] for a, b in pairwise(at)])
