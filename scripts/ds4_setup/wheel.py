"""llama-cpp-python's wheel, built from source with our flags and kept for the next clone.

Rules: pip's own wheel cache is keyed by the source package alone, so it would hand out a wheel built with
other flags; it is never used here. Ours lies in ~/.cache/ds4/wheels/KEY/, where KEY covers the version,
the flags and whatever else shapes the binary. A wheel moves there only when it is complete.
"""

import hashlib
import math
import os
import platform
import subprocess
import sysconfig
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ds4_setup.errors import SetupError
from ds4_setup.host import check_backend_tools, check_compilers, cores

PACKAGE = "llama-cpp-python"
CPU_MINUTES = 7.0
"""Measured for a CPU-only build on a 2-core Xeon. GPU kernels take longer."""

COMPILER_VARIABLES = ("CC", "CXX", "CFLAGS", "CXXFLAGS", "LDFLAGS", "CUDAARCHS", "CUDACXX")


@dataclass(frozen=True, slots=True)
class Build:
    """What is to be built. `cmake_args` is the whole flag line, the user's own flags last."""

    requirement: str
    cmake_args: str
    backend: str

    def key(self, environ: Mapping[str, str]) -> str:
        shaped_by = [self.requirement, self.cmake_args, sysconfig.get_platform(), *platform.libc_ver()]
        shaped_by += [f"{name}={environ.get(name, '')}" for name in COMPILER_VARIABLES]
        return hashlib.sha256("\n".join(shaped_by).encode()).hexdigest()[:16]


def pinned_requirement(pyproject: str) -> str:
    """`llama-cpp-python==VERSION` as pyproject.toml pins it."""
    for requirement in tomllib.loads(pyproject)["project"]["dependencies"]:
        if requirement.startswith(f"{PACKAGE}=="):
            return str(requirement)
    raise SetupError(f"pyproject.toml does not pin {PACKAGE}")


def cache_folder(environ: Mapping[str, str], home: Path) -> Path:
    base = environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else home / ".cache") / "ds4" / "wheels"


def wheel(build: Build, python: Path, cache: Path) -> Path:
    """The built wheel, from the cache or made now."""
    folder = cache / build.key(os.environ)
    ready = sorted(folder.glob("*.whl"))
    if ready:
        print(f"setup: llama.cpp as built before ({ready[0]})", flush=True)
        return ready[0]
    check_compilers()
    check_backend_tools(build.backend)
    folder.mkdir(parents=True, exist_ok=True)
    # Beside its final place, so that the last move is atomic.
    with tempfile.TemporaryDirectory(dir=cache, prefix="building-") as scratch:
        made = _make(build, python, Path(scratch))
        target = folder / made.name
        made.replace(target)
    return target


def _make(build: Build, python: Path, target: Path) -> Path:
    n = cores()
    minutes = math.ceil(CPU_MINUTES / n)
    print(f"setup: building llama.cpp, about {minutes} min on {n} cores, once per set of flags", flush=True)
    print(f"setup: CMAKE_ARGS={build.cmake_args}", flush=True)
    environ = {"CMAKE_BUILD_PARALLEL_LEVEL": str(n), **os.environ, "CMAKE_ARGS": build.cmake_args}
    command = [str(python), "-m", "pip", "wheel", "--no-deps", "--no-cache-dir", "--no-binary", PACKAGE]
    command += ["--disable-pip-version-check", "--no-input", "--wheel-dir", str(target), build.requirement]
    if subprocess.run(command, env=environ).returncode != 0:
        raise SetupError(f"{build.requirement} could not be built; pip's lines above say why")
    return next(target.glob("*.whl"))
