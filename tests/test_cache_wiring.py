"""What is said of the cache at the start."""

from pathlib import Path

from ds4.config import Config, parse
from ds4.engine.scripted.engine import ScriptedEngine, ScriptedOptions
from ds4.formats.registry import family_named
from ds4.observe.records import Notice, Record
from ds4.testing.clock import FakeClock
from ds4.wiring import cache_plan


def said(*argv: str) -> list[str]:
    config, heard = parse(argv), list[Record]()
    assert isinstance(config, Config)
    engine = ScriptedEngine.open(ScriptedOptions(lambda _: "Hi.", family_named("chatml")))
    plan = cache_plan(config, engine, FakeClock(), heard.append, lambda disk: disk)
    for part in (plan.store, plan.notebook):
        if part is not None:
            part.close()
    engine.close()
    return [each.text for each in heard if isinstance(each, Notice)]


def test_the_directory_and_its_bounds_are_told(tmp_path: Path) -> None:
    words = said("--kv-disk-dir", str(tmp_path), "--kv-disk-space-mb", "77", "--kv-ram-mb", "5")
    assert words[0].startswith("KV RAM cache 5 MiB ")
    assert words[1] == (
        f"KV disk cache {tmp_path} (budget=77 MiB min=512 cold_max=30000 interval=10240 align=2048)"
    )


def test_without_a_directory_nothing_is_told_of_one(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert not [words for words in said() if "disk cache /" in words]
    assert not [words for words in said("--kv-disk-dir", str(file)) if words.startswith("KV disk cache")]
