"""The set-up without pip: what it decides, and what it says when it cannot go on."""

import ast
import os
import stat
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from ds4_setup import environment, main, stamp
from ds4_setup.errors import SetupError
from ds4_setup.host import check_backend_tools, check_compilers
from ds4_setup.stamp import Stamp
from ds4_setup.wheel import Build, cache_folder, pinned_requirement, wheel

ROOT = Path(__file__).parents[2]
STAMP = Stamp("3.12.1", "/src/ds4", "abc", "-DX=ON", "auto", ("demo", "dev"))
BUILD = Build("llama-cpp-python==1.0", "-DX=ON", "auto")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with an empty .venv that passes for usable."""
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["llama-cpp-python==1.0"]\n')
    (tmp_path / ".venv").mkdir()
    monkeypatch.setattr(environment, "usable", lambda _: True)
    return tmp_path


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[Stamp]:
    """What the install step was asked for, instead of doing it; it leaves its stamp."""
    asked: list[Stamp] = []

    def record(_root: Path, venv: Path, wanted: Stamp) -> None:
        asked.append(wanted)
        stamp.write(venv, wanted)

    monkeypatch.setattr("ds4_setup.main._install", record)
    return asked


def test_a_second_run_does_nothing(root: Path, installed: list[Stamp]) -> None:
    main.prepare(root, ("demo", "dev"), {})
    main.prepare(root, ("demo", "dev"), {})
    main.prepare(root, ("demo",), {})
    assert len(installed) == 1


def test_more_extras_install_again_and_keep_the_others(root: Path, installed: list[Stamp]) -> None:
    main.prepare(root, ("demo",), {})
    main.prepare(root, ("dev",), {})
    assert [asked.extras for asked in installed] == [("demo",), ("demo", "dev")]


def test_a_changed_pyproject_installs_again(root: Path, installed: list[Stamp]) -> None:
    main.prepare(root, ("demo",), {})
    with (root / "pyproject.toml").open("a") as file:
        file.write("# changed\n")
    main.prepare(root, ("demo",), {})
    assert len(installed) == 2


def test_own_flags_come_last(root: Path, installed: list[Stamp]) -> None:
    main.prepare(root, ("demo",), {"CMAKE_ARGS": "-DGGML_RPC=OFF"})
    assert installed[0].cmake_args.startswith("-DGGML_NATIVE=OFF -DGGML_RPC=ON")
    assert installed[0].cmake_args.endswith(" -DGGML_RPC=OFF")


def test_the_backend_stays_until_another_is_asked_for(root: Path, installed: list[Stamp]) -> None:
    main.prepare(root, ("demo",), {"BACKEND": "cuda"})
    main.prepare(root, ("demo",), {})
    main.prepare(root, ("demo",), {"BACKEND": ""})
    assert [asked.backend for asked in installed] == ["cuda"]
    main.prepare(root, ("demo",), {"BACKEND": "cpu"})
    assert installed[-1].backend == "cpu"
    assert "CUDA" not in installed[-1].cmake_args


def test_stamps_survive_the_disk(tmp_path: Path) -> None:
    stamp.write(tmp_path, STAMP)
    assert stamp.read(tmp_path) == STAMP
    stamp.remove(tmp_path)
    assert stamp.read(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"extras": [], "colour": "red"}', '{"extras": 1}'])
def test_a_damaged_stamp_is_no_stamp(tmp_path: Path, text: str) -> None:
    (tmp_path / stamp.NAME).write_text(text)
    assert stamp.read(tmp_path) is None


@pytest.mark.parametrize("field", ["python", "root", "project", "cmake_args", "backend"])
def test_every_field_of_a_stamp_counts(field: str) -> None:
    assert STAMP.covers(STAMP)
    assert not STAMP.covers(Stamp(**{**asdict(STAMP), field: "other"}))


def test_a_wheel_in_the_cache_is_taken_without_a_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    folder = tmp_path / BUILD.key(os.environ)
    folder.mkdir()
    (folder / "x.whl").touch()
    assert wheel(BUILD, Path("no-python"), tmp_path) == folder / "x.whl"


def test_the_cache_key_covers_what_shapes_the_binary() -> None:
    keys = {
        BUILD.key({}),
        replace(BUILD, requirement="llama-cpp-python==1.1").key({}),
        replace(BUILD, cmake_args="-DX=OFF").key({}),
        BUILD.key({"CXX": "clang++"}),
    }
    assert len(keys) == 4
    assert BUILD.key({"HOME": "/elsewhere"}) == BUILD.key({})


def test_the_cache_follows_xdg() -> None:
    home = Path("/home/me")
    assert cache_folder({}, home) == home / ".cache/ds4/wheels"
    assert cache_folder({"XDG_CACHE_HOME": "/big"}, home) == Path("/big/ds4/wheels")


def test_the_binding_is_pinned() -> None:
    requirement = pinned_requirement((ROOT / "pyproject.toml").read_text())
    assert requirement.startswith("llama-cpp-python==")
    with pytest.raises(SetupError, match="does not pin"):
        pinned_requirement('[project]\ndependencies = ["llama-cpp-python>=1"]\n')


def test_a_missing_compiler_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SetupError, match="compiler is needed") as caught:
        check_compilers()
    assert "\n" not in str(caught.value)


def test_a_compiler_named_in_vain_is_named_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(SetupError, match="no-such-compiler does not work"):
        check_compilers()


def test_a_missing_gpu_toolkit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ds4_setup.host.BACKEND_TOOLS", {"cuda": ("no-nvcc", "NO_CXX", "/none", "CUDA")})
    with pytest.raises(SetupError, match="BACKEND=cuda needs CUDA, and no-nvcc is not on PATH"):
        check_backend_tools("cuda")
    check_backend_tools("cpu")


def test_wrong_use_and_wrong_backend_exit_with_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main.main([]) == 1
    assert capsys.readouterr().err == "setup: say what for: serve or test\n"
    monkeypatch.setenv("BACKEND", "npu")
    assert main.main(["serve"]) == 1
    assert capsys.readouterr().err.startswith("setup: BACKEND=npu is unknown")


def test_python_without_ensurepip_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(SetupError, match="apt install python3-venv"):
        environment.create(tmp_path / ".venv")


def test_the_first_script_runs_on_an_old_python() -> None:
    source = (ROOT / "scripts" / "setup.py").read_text()
    assert ast.parse(source, feature_version=(3, 5))


def test_ci_can_be_run() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & stat.S_IXUSR
    commands = script.read_text().splitlines()
    assert "set -euo pipefail" in commands
    assert commands[-2:] == ["HYPOTHESIS_PROFILE=thorough make check", "make test"]
