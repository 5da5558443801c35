"""Builds llama-server from the sources inside the pinned llama-cpp-python package, with our CPU flags.

Usage: python -m bench.build_peer

A measuring tool, not a dependency: it goes to .cache/bench. Takes about ten minutes on two cores and
needs cmake on the PATH.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from bench.servers import llama_server_program

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

from ds4_setup.flags import cmake_flags
from ds4_setup.host import this_host
from ds4_setup.wheel import PACKAGE, pinned_requirement

OPTIONS = ("-DCMAKE_BUILD_TYPE=Release", "-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF")


def main() -> None:
    target = llama_server_program()
    with tempfile.TemporaryDirectory() as scratch:
        source = _source(Path(scratch))
        build = source / "build"
        flags = cmake_flags(this_host(), "cpu")
        # Static, so that one file can be moved away from the build.
        subprocess.run(
            ["cmake", "-S", source, "-B", build, "-DBUILD_SHARED_LIBS=OFF", *OPTIONS, *flags], check=True
        )
        jobs = str(os.cpu_count() or 1)
        subprocess.run(["cmake", "--build", build, "--target", "llama-server", "-j", jobs], check=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(build / "bin" / "llama-server", target)
    print(f"built {target}")


def _source(folder: Path) -> Path:
    requirement = pinned_requirement((Path(__file__).parents[1] / "pyproject.toml").read_text())
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", PACKAGE]
    subprocess.run([*pip, "-d", folder, requirement], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return next(folder.glob("*/vendor/llama.cpp"))


if __name__ == "__main__":
    main()
