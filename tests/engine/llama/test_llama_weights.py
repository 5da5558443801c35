"""Locking weights in memory, and reading them ahead."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from llama_driver import small

from ds4.core.errors import ModelError, OptionError
from ds4.engine.llama import LlamaEngine, load
from ds4.engine.llama.capi.model import lock_failure
from ds4.engine.llama.warm import BLOCK, warm
from ds4.testing.tiny import tiny_model

pytest_plugins = ("llama_fixtures",)

REFUSED = (
    "load_tensors: loading model tensors\n"
    "warning: failed to mlock 90-byte buffer (after previously locking 0 bytes): Cannot allocate memory\n"
    "Try increasing RLIMIT_MEMLOCK ('ulimit -l' as root).\n"
)


def test_why_weights_are_not_locked_is_read_from_the_log() -> None:
    assert lock_failure(REFUSED) == "Cannot allocate memory"
    assert lock_failure("load_tensors: loading model tensors\n") == ""


def test_files_that_fit_are_read(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a", "b", "empty")]
    for file, size in zip(files, (3, BLOCK + 1, 0), strict=True):
        file.write_bytes(b"x" * size)
    assert warm(files, BLOCK + 4) == ""
    assert warm(files, None) == ""


def test_files_larger_than_memory_are_not_read(tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.touch()
    os.truncate(large, 3 << 30)
    said = warm([large], 2 << 30)
    assert "3.00 GiB" in said
    assert "2.00 GiB" in said


def test_a_file_that_goes_away_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"gone\.gguf: there is no such file"):
        warm([tmp_path / "gone.gguf"], None)


def test_a_system_that_cannot_lock_refuses_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "supports_mlock", lambda: False)
    with pytest.raises(OptionError, match="--mlock"):
        load.load(replace(small(Path("any.gguf")), mlock=True))


@pytest.mark.engine
@pytest.mark.parametrize("mmap", [True, False])
def test_weights_are_locked_or_the_engine_says_so(mmap: bool) -> None:
    before = _locked()
    options = replace(small(tiny_model("llama")), mlock=True, mmap=mmap, warm_weights=True)
    engine = LlamaEngine.open(options)
    locked = _locked() - before
    engine.close()
    if engine.info.notes:
        assert "--mlock" in engine.info.notes[0]
    else:
        assert locked > tiny_model("llama").stat().st_size // 2


@pytest.mark.engine
def test_nothing_asked_nothing_noted(demo_path: Path) -> None:
    before = _locked()
    engine = LlamaEngine.open(small(demo_path))
    assert engine.info.notes == ()
    assert _locked() == before
    engine.close()


def _locked() -> int:
    """Bytes of this process that are locked in memory."""
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("this system does not tell what is locked")
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmLck"))
    return int(line.split()[1]) * 1024
