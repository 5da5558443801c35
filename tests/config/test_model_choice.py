import sys
from pathlib import Path

import pytest

from ds4.config import Config, EngineName, ModelChoice, choose_model, parse
from ds4.config.model import DEMO_PACKAGE, demo_model
from ds4.core.errors import ModelError, OptionError
from ds4.hub import HubReference

DEMO = Path("/demo/demo.gguf")


def demo() -> Path | None:
    return DEMO


def no_demo() -> Path | None:
    return None


def test_the_option_wins_and_is_read_from_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "ds4flash.gguf").touch()
    choice = choose_model(Config(model=Path("own.gguf")), tmp_path, demo)
    assert choice is not None
    assert choice.path == tmp_path / "own.gguf"
    assert choice.line == f"model {tmp_path / 'own.gguf'}, given with -m"


def test_the_local_file_comes_next(tmp_path: Path) -> None:
    (tmp_path / "ds4flash.gguf").touch()
    choice = choose_model(Config(), tmp_path, demo)
    assert choice is not None
    assert choice.path == tmp_path / "ds4flash.gguf"
    assert "working directory" in choice.line


def test_a_dangling_link_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "ds4flash.gguf").symlink_to(tmp_path / "gone.gguf")
    choice = choose_model(Config(), tmp_path, demo)
    assert choice is not None
    assert choice.path == tmp_path / "ds4flash.gguf"


def test_the_demo_model_is_the_last_resort(tmp_path: Path) -> None:
    choice = choose_model(Config(), tmp_path, demo)
    assert choice is not None
    assert choice.path == DEMO
    assert "demo model" in choice.line


def test_none_at_all_names_the_ways_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        choose_model(Config(), tmp_path, no_demo)
    assert caught.value.exit_code == 1
    for way in ("-m FILE", "ds4flash.gguf", "pip install 'ds4[demo]'"):
        assert way in caught.value.message


def test_the_scripted_engine_loads_a_model_only_when_told(tmp_path: Path) -> None:
    (tmp_path / "ds4flash.gguf").touch()
    scripted = Config(engine=EngineName.SCRIPTED, script=Path("s.py"))
    assert choose_model(scripted, tmp_path, demo) is None
    named = Config(engine=EngineName.SCRIPTED, script=Path("s.py"), model=Path("m.gguf"))
    choice = choose_model(named, tmp_path, demo)
    assert choice is not None
    assert choice.path == tmp_path / "m.gguf"


def test_the_packaged_model_is_found_without_importing_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / DEMO_PACKAGE
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    (package / "model.gguf").touch()
    monkeypatch.delitem(sys.modules, DEMO_PACKAGE, raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert demo_model() == package / "model.gguf"


def test_no_package_no_demo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, DEMO_PACKAGE, raising=False)
    monkeypatch.setattr(sys, "path", [])
    assert demo_model() is None


def test_a_hub_reference_is_fetched_and_said(tmp_path: Path) -> None:
    asked: list[HubReference] = []

    def fetch(reference: HubReference) -> ModelChoice:
        asked.append(reference)
        return ModelChoice(tmp_path / "got.gguf", "downloaded now")

    config = parse(["-m", "hf:owner/repo:Q8_0"])
    assert isinstance(config, Config)
    choice = choose_model(config, tmp_path, fetch_from_hub=fetch)
    assert choice == ModelChoice(tmp_path / "got.gguf", "downloaded now")
    assert [(reference.repo, reference.quant) for reference in asked] == [("owner/repo", "Q8_0")]


def test_a_malformed_hub_reference_is_a_bad_option() -> None:
    with pytest.raises(OptionError, match="hf:"):
        parse(["-m", "hf:owner"])
