"""Checkpoints' rows in a trace: all of them, each once."""

from collections.abc import Sequence

import numpy as np
import orjson
from hypothesis import given
from hypothesis import strategies as st
from reruns import as_read

from ds4.core.step import SnapshotKind
from ds4.kv.checkpoint import Appeared, Checkpoint, News, Vanished, checkpoint_key
from ds4.observe.trace.values import Json
from ds4.rerun.moment import Callers, ReadMoments
from ds4.rerun.record.store import NotedStore
from ds4.rerun.replay.lines import TurnLine
from ds4.rerun.replay.script import Script
from ds4.rerun.replay.store import RecordedStore
from ds4.rerun.tape import Tape
from ds4.testing.clock import FakeClock
from ds4.testing.inline_store import InlineStore


def checkpoint(ids: Sequence[int], kind: SnapshotKind = SnapshotKind.FULL) -> Checkpoint:
    rows = np.array(ids, np.int32)
    return Checkpoint(checkpoint_key("", kind, rows), "", rows, kind, 1)


class Told(InlineStore):
    def __init__(self, news: Sequence[News]) -> None:
        super().__init__()
        self._all = news

    def news(self) -> Sequence[News]:
        return self._all


def noted(news: Sequence[News]) -> Json:
    """The turn's line, as read from a file."""
    lines: list[Json] = []
    tape = Tape(lines.append, ReadMoments(FakeClock()))
    tape.begin()
    NotedStore(Told(news), tape, Callers()).news()
    tape.end()
    return as_read(lines)[0]


def again(line: Json) -> Sequence[News]:
    script = Script()
    script.load(TurnLine.of(line))
    return RecordedStore(script).news()


ROWS = st.lists(st.integers(0, 2), max_size=30).map(tuple)
BEGUN = st.tuples(st.sampled_from([(), (1,) * 9, (1,) * 9 + (2,) * 12]), ROWS).map(
    lambda two: two[0] + two[1]
)


@given(st.lists(st.tuples(BEGUN, st.booleans()), unique_by=lambda one: one[0], min_size=1, max_size=12))
def test_they_come_back_as_they_were(made: list[tuple[tuple[int, ...], bool]]) -> None:
    news: list[News] = []
    for ids, goes in made:
        one = checkpoint(ids)
        news.append(Appeared(one))
        if goes:
            news.append(Vanished(one.key))
    back = again(noted(news))
    assert [_plain(one) for one in back] == [_plain(one) for one in news]


def _plain(news: News) -> object:
    if isinstance(news, Appeared):
        return (news.checkpoint.key, news.checkpoint.ids.tolist())
    return news


def test_a_long_conversation_is_told_once() -> None:
    talk = range(100_000, 110_000)
    line = noted([Appeared(checkpoint(talk[:rows])) for rows in range(10_000, 0, -100)])
    assert len(orjson.dumps(line)) < 8 * len(talk) + 100 * 100
