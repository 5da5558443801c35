"""What this machine is and has."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

from ds4_setup.errors import SetupError
from ds4_setup.flags import Host, parse_cpuinfo

TINY_C = "#include <stdlib.h>\nint main(void) { return EXIT_SUCCESS; }\n"
TINY_CXX = "#include <filesystem>\nint main() { return std::filesystem::path().empty() ? 0 : 1; }\n"

COMPILER_HELP = (
    "a C and C++17 compiler is needed to build llama.cpp, and {problem}; install one "
    "(Debian, Ubuntu: apt install build-essential; Fedora: dnf install gcc-c++; "
    "macOS: xcode-select --install)"
)

BACKEND_TOOLS = {
    "cuda": ("nvcc", "CUDACXX", "/usr/local/cuda/bin", "the CUDA toolkit"),
    "rocm": ("hipconfig", "HIPCXX", "/opt/rocm/bin", "ROCm with its HIP SDK"),
    "vulkan": ("glslc", "VULKAN_SDK", "/usr/bin", "the Vulkan SDK with glslc"),
}


def this_host() -> Host:
    cpuinfo = Path("/proc/cpuinfo")
    flags = parse_cpuinfo(cpuinfo.read_text()) if cpuinfo.exists() else frozenset()
    return Host(platform.system(), platform.machine(), flags)


def cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_compilers() -> None:
    """Compiles two tiny programs: on macOS, `cc` exists before the compiler behind it is installed."""
    _check_compiler("CC", ("cc", "gcc", "clang"), ("-x", "c"), TINY_C)
    _check_compiler("CXX", ("c++", "g++", "clang++"), ("-x", "c++", "-std=c++17"), TINY_CXX)


def _check_compiler(variable: str, names: tuple[str, ...], flags: tuple[str, ...], program: str) -> None:
    asked = os.environ.get(variable)
    found = asked.split() if asked else [path for path in map(shutil.which, names) if path][:1]
    if not found:
        raise SetupError(COMPILER_HELP.format(problem=f"none of {', '.join(names)} is on PATH"))
    if not _compiles([*found, *flags, "-fsyntax-only", "-"], program):
        raise SetupError(COMPILER_HELP.format(problem=f"{found[0]} does not work here"))


def _compiles(command: list[str], program: str) -> bool:
    try:
        return subprocess.run(command, input=program, text=True, capture_output=True).returncode == 0
    except OSError:
        return False


def check_backend_tools(backend: str) -> None:
    if backend not in BACKEND_TOOLS:
        return
    tool, variable, folder, name = BACKEND_TOOLS[backend]
    if not (os.environ.get(variable) or shutil.which(tool) or (Path(folder) / tool).exists()):
        raise SetupError(f"BACKEND={backend} needs {name}, and {tool} is not on PATH")
