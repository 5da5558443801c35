"""The steps, in order. A second run with nothing changed does nothing and says nothing."""

import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ds4_setup import environment, stamp
from ds4_setup.errors import SetupError
from ds4_setup.flags import cmake_flags
from ds4_setup.host import this_host
from ds4_setup.stamp import Stamp
from ds4_setup.wheel import Build, cache_folder, pinned_requirement, wheel

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = {"serve": ("demo",), "test": ("demo", "dev")}


def main(argv: Sequence[str]) -> int:
    try:
        if len(argv) != 1 or argv[0] not in EXTRAS:
            raise SetupError(f"say what for: {' or '.join(EXTRAS)}")
        prepare(ROOT, EXTRAS[argv[0]], os.environ)
    except SetupError as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nsetup: interrupted; the next run goes on from here", file=sys.stderr)
        return 130
    return 0


def prepare(root: Path, extras: tuple[str, ...], environ: Mapping[str, str]) -> None:
    """Leaves root/.venv with the project and `extras` installed. Raises SetupError."""
    venv = root / ".venv"
    present = stamp.read(venv)
    wanted = wanted_stamp(root, extras, environ, present)
    if present and present.covers(wanted) and environment.usable(venv):
        return
    if present:
        wanted = replace(wanted, extras=tuple(sorted({*wanted.extras, *present.extras})))
    _install(root, venv, wanted)


def wanted_stamp(
    root: Path, extras: tuple[str, ...], environ: Mapping[str, str], present: Stamp | None
) -> Stamp:
    """What .venv should hold. BACKEND unset keeps the backend that is there."""
    backend = environ.get("BACKEND") or (present.backend if present else "auto")
    flags = " ".join(cmake_flags(this_host(), backend))
    own = environ.get("CMAKE_ARGS", "").strip()
    return Stamp(
        python=environment.version(),
        root=str(root),
        project=hashlib.sha256((root / "pyproject.toml").read_bytes()).hexdigest(),
        # CMake takes the last of two contradicting flags: the user's.
        cmake_args=f"{flags} {own}".strip(),
        backend=backend,
        extras=extras,
    )


def _install(root: Path, venv: Path, wanted: Stamp) -> None:
    own = os.environ.get("CMAKE_ARGS", "").strip()
    if own:
        print(f"setup: CMAKE_ARGS is set, so {own} is added to the project's own flags", flush=True)
    stamp.remove(venv)
    environment.create(venv)
    requirement = pinned_requirement((root / "pyproject.toml").read_text())
    build = Build(requirement, wanted.cmake_args, wanted.backend)
    llama = wheel(build, environment.python_of(venv), cache_folder(os.environ, Path.home()))
    print(f"setup: installing ds4 with {', '.join(wanted.extras)}", flush=True)
    environment.install(venv, "--force-reinstall", "--no-deps", str(llama))
    environment.install(venv, "--editable", f"{root}[{','.join(wanted.extras)}]")
    stamp.write(venv, wanted)
