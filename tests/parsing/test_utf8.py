"""Bytes to text: nothing split, nothing lost, whatever the cut."""

from feeding import Answer, Way, bytewise, control, every_way, plain, read, text_of
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.events import Text, ToolEnd
from ds4.core.ports import Piece
from ds4.core.sampling import Sampled
from ds4.parsing.decoder import Control
from ds4.parsing.reader import text_reader
from ds4.parsing.utf8 import Utf8

FAMILY = "👩‍👩‍👧‍👦"  # seven code points, joined
BAD = "\ufffd"


@every_way
def test_every_code_point_comes_through(way: Way) -> None:
    text = f"a é 漢 🙂 {FAMILY} שלום"
    assert way.read(text_reader(), text) == Answer(text + way.trailing)


@every_way
def test_an_invalid_byte_becomes_one_replacement_character(way: Way) -> None:
    assert way.read(text_reader(), b"a\xffb") == Answer(f"a{BAD}b{way.trailing}")


@every_way
def test_an_incomplete_end_becomes_one_replacement_character(way: Way) -> None:
    assert way.read(text_reader(), "ok 🙂".encode()[:-1]) == Answer(f"ok {BAD}{way.trailing}")


def test_every_split_of_a_joined_emoji() -> None:
    data = FAMILY.encode()
    for at in range(len(data) + 1):
        assert read(text_reader(), [plain(data[:at]), plain(data[at:])]).text == FAMILY


def test_a_code_point_appears_with_its_last_byte() -> None:
    reader = text_reader()
    seen = [text_of(reader.feed(plain(byte)).events) for byte in bytewise("é🙂".encode())]
    assert seen == ["", "é", "", "", "", "🙂"]


def test_a_control_token_ends_an_incomplete_character() -> None:
    pieces = [plain(b"a\xe2\x82"), control("<eot>"), plain(b"\xac")]
    assert read(text_reader(), pieces).text == f"a{BAD}{BAD}"


def test_other_items_pass_in_order() -> None:
    decoder = Utf8()
    assert decoder.feed(plain(b"\xf0\x9f")) == ()
    assert decoder.feed(ToolEnd(0)) == (Text(BAD), ToolEnd(0))
    assert decoder.feed(control("<eot>", 7)) == (Control("<eot>", 7),)


def test_tokens_travel_with_the_character_they_make() -> None:
    decoder = Utf8(want_tokens=True)
    sampled = [Sampled(token) for token in range(4)]
    parts = [b"a\xf0", b"\x9f\x99", b"\x82b", b""]
    fed = [decoder.feed(Piece(part, s.id, False, s)) for part, s in zip(parts, sampled, strict=True)]
    assert fed == [(Text("a", (sampled[0],)),), (), (Text("🙂b", tuple(sampled[1:3])),), ()]
    assert decoder.flush() == (Text("", (sampled[3],)),)


@given(st.lists(st.binary(max_size=6)))
def test_any_cut_of_any_bytes_equals_decoding_them_at_once(parts: list[bytes]) -> None:
    assert read(text_reader(), map(plain, parts)).text == b"".join(parts).decode(errors="replace")
