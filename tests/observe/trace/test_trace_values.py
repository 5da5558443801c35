"""Values as JSON and back."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.observe.trace.values import Json, packed, plain, unpacked, written


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Thing:
    colour: Colour
    parts: tuple[object, ...]


@given(st.binary())
def test_bytes_come_back(data: bytes) -> None:
    assert unpacked(packed(data)) == data


@pytest.mark.parametrize("value", [7, None, {"b65": "x"}, {"b64": "?"}])
def test_what_was_never_packed_is_refused(value: object) -> None:
    with pytest.raises(ValueError):
        unpacked(value)


def test_a_dataclass_is_its_fields() -> None:
    thing = Thing(Colour.RED, (np.arange(2, dtype=np.int32), b"ab", frozenset({"y", "x"}), None))
    assert plain(thing) == {"colour": "red", "parts": [[0, 1], "ab", ["x", "y"], None]}
    assert plain({"a": thing}, kinds=True) == {"a": {"kind": "Thing", **_fields(thing)}}


def test_a_line_is_written_as_its_plain_values() -> None:
    other = np.arange(8, dtype=np.int32)[::2]
    thing = Thing(Colour.RED, (other, np.arange(2, dtype=np.int32), b"\xff", frozenset({2, 1}), 0.1, None))
    line: Json = {"at": "x", "thing": thing, "many": [{"one": thing}], "colour": Colour.RED}
    assert written(line) == orjson.dumps(plain(line)) + b"\n"


@pytest.mark.parametrize("value", [object(), {1}, "\ud800"])
def test_what_has_no_place_in_a_line_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        written({"at": value})


def _fields(thing: Thing) -> dict[str, object]:
    found = plain(thing)
    assert isinstance(found, dict)
    return found
