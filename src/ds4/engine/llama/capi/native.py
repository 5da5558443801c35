"""The loaded library itself: what the binding does not expose, and facts about the build."""

import ctypes
import os
from collections.abc import Callable, Sequence
from typing import Any

# An aborting llama.cpp otherwise starts gdb on its own process, which takes about a minute.
os.environ.setdefault("GGML_NO_BACKTRACE", "1")
# Threads that wait for each other spin. Spinning long costs nothing while every core is ours and most of the
# speed as soon as one is not, so they soon sleep instead. Read by GNU OpenMP when it is loaded.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "300")

import llama_cpp.llama_cpp as _binding

llama: Any = _binding


def native(name: str, restype: Any, argtypes: Sequence[Any]) -> Callable[..., Any]:
    """A C function of llama.cpp or ggml that the binding does not declare.

    A lookup in libllama also finds the symbols of the ggml libraries it links to. Indexing the library
    gives a fresh function object each time, so that no declaration is shared.
    """
    function = llama._lib[name]  # noqa: SLF001
    function.restype = restype
    function.argtypes = list(argtypes)
    found: Callable[..., Any] = function
    return found


def supports_mlock() -> bool:
    return bool(llama.llama_supports_mlock())


def version() -> str:
    text: bytes = llama.llama_version()
    return text.decode()


def build() -> str:
    """The version, and the commit where the build knows it."""
    commit: bytes = native("ggml_commit", ctypes.c_char_p, [])()
    return f"{version()} {commit.decode().removesuffix('-dirty')}"


def system_info() -> str:
    text: bytes = llama.llama_print_system_info()
    return text.decode()
