"""What the options of the command line make of the memory of answers."""

from pathlib import Path

import numpy as np
import pytest

from ds4.config import Config, parse
from ds4.engine.scripted.engine import ScriptedEngine, ScriptedOptions
from ds4.formats.registry import family_named
from ds4.kv.replay.database import FILE
from ds4.kv.replay.meaning import Meaning
from ds4.kv.replay.notebook import Notebook, Options
from ds4.kv.replay.record import Record, digest_of
from ds4.schedule.scheduler import CachePlan
from ds4.testing.clock import FakeClock
from ds4.wiring import cache_plan

IDS = np.arange(5, dtype=np.int32)


def plan(*argv: str) -> CachePlan:
    config = parse(argv)
    assert isinstance(config, Config)
    engine = ScriptedEngine.open(ScriptedOptions(lambda _: "Hi.", family_named("chatml")))
    try:
        return cache_plan(config, engine, FakeClock(), lambda _: None, lambda disk: disk)
    finally:
        engine.close()


def notebook(*argv: str) -> Notebook:
    made = plan("--kv-ram-mb", "0", *argv).notebook
    assert made is not None
    return made


def remember(made: Notebook, *places: int) -> None:
    for place in places:
        made.remember(Record("", digest_of(IDS[:place]), place, IDS, Meaning(("Hi.",))))


def known(made: Notebook) -> list[int]:
    return [place for place in range(1, 5) if made.of("").find(digest_of(IDS[:place]))]


def test_by_default_a_hundred_thousand_calls_in_512_mib_are_remembered() -> None:
    made = notebook()
    assert (made.options.bounds.calls, made.options.bounds.size) == (100_000, 512 << 20)
    assert made.options == Options()


def test_the_bound_is_the_operator_s(tmp_path: Path) -> None:
    argv = ("--tool-memory-max-ids", "2", "--kv-disk-dir", str(tmp_path))
    made = notebook(*argv)
    remember(made, 1, 2, 3)
    assert known(made) == [2, 3]
    made.close()
    again = notebook(*argv)
    assert known(again) == [2, 3]
    again.close()


def test_it_outlives_the_process_only_with_a_directory(tmp_path: Path) -> None:
    for argv, expected in (((), []), (("--kv-disk-dir", str(tmp_path / "d")), [1])):
        made = notebook(*argv)
        remember(made, 1)
        made.close()
        again = notebook(*argv)
        assert known(again) == expected
        again.close()
    assert [path.name for path in tmp_path.rglob(f"{FILE}*")] == [FILE]


@pytest.mark.parametrize("argv", [("--reasoning-by-template",), ()])
def test_whether_reasoning_stays_is_the_operator_s(argv: tuple[str, ...]) -> None:
    assert notebook(*argv).options.keeps_reasoning is not bool(argv)


def test_it_can_be_turned_off(tmp_path: Path) -> None:
    argv = ("--disable-exact-dsml-tool-replay", "--kv-ram-mb", "0", "--kv-disk-dir", str(tmp_path))
    made = plan(*argv)
    assert made.notebook is None
    assert made.store is not None
    made.store.close()
    assert not list(tmp_path.rglob(f"{FILE}*"))
