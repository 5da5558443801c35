"""Refuses a llama.cpp library that is not the one this engine was written against."""

from dataclasses import fields

from ds4.core.errors import StartError
from ds4.engine.llama.capi import AbiDefaults

KNOWN_VERSIONS = ("0.5.0-dev",)
REINSTALL = "reinstall llama-cpp-python 0.3.36 and unset LLAMA_CPP_LIB_PATH"

EXPECTED = AbiDefaults(
    n_ctx=512,
    n_batch=2048,
    n_ubatch=512,
    n_seq_max=1,
    type_k=1,
    type_v=1,
    flash_attn_type=-1,
    offload_kqv=True,
    op_offload=True,
    swa_full=True,
    no_perf=True,
    kv_unified=False,
    n_gpu_layers=-1,
    split_mode=1,
    load_mode=-1,
    use_extra_bufts=True,
    load_mtp=False,
)


def check_library(version: str, defaults: AbiDefaults) -> None:
    """Raises StartError: a struct that does not match would give wrong answers or crashes later."""
    if version not in KNOWN_VERSIONS:
        known = ", ".join(KNOWN_VERSIONS)
        raise StartError(f"llama.cpp {version} is not supported (known: {known}); {REINSTALL}")
    wrong = [f.name for f in fields(AbiDefaults) if getattr(defaults, f.name) != getattr(EXPECTED, f.name)]
    if wrong:
        raise StartError(f"llama.cpp's structs do not match the binding ({', '.join(wrong)}); {REINSTALL}")


def extra_buffers_safe(system_info: str) -> bool:
    """False on a build with AMX: its repacked weights crash with some compilers, and give wrong rows
    for all sequences but the first on hybrid models."""
    return "AMX_INT8 = 1" not in system_info
