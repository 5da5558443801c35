import secrets

import pytest

from ds4.core.clock import RandomIds
from ds4.core.ports import Clock, Ids
from ds4.testing.clock import FakeClock
from ds4.testing.ids import SequentialIds


def test_time_moves_only_when_advanced() -> None:
    clock: Clock = (fake := FakeClock(start=5.0, epoch=100.0))
    assert (clock.now(), clock.now(), clock.wall()) == (5.0, 5.0, 100.0)
    fake.advance(2.5)
    assert (clock.now(), clock.wall()) == (7.5, 102.5)


def test_time_never_goes_back() -> None:
    clock = FakeClock()
    with pytest.raises(ValueError, match="cannot go back"):
        clock.advance(-0.1)
    assert clock.now() == 0.0


def test_ids_count_up_in_the_shape_of_real_ones() -> None:
    ids: Ids = SequentialIds()
    first, second = ids.new("req_"), ids.new("chatcmpl-")
    assert first == "req_" + "0" * 32
    assert second == "chatcmpl-" + "0" * 31 + "1"
    assert len(first) == len(RandomIds().new("req_"))


def test_real_ids_are_not_to_be_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    """128 bits from the system's own source of randomness."""
    assert len({RandomIds().new("call_") for _ in range(1000)}) == 1000
    monkeypatch.setattr(secrets, "token_hex", lambda size: f"{size} bytes")
    assert RandomIds().new("call_") == "call_16 bytes"
