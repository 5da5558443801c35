"""Which compute devices this build of llama.cpp can use."""

import ctypes
from dataclasses import dataclass

from ds4.engine.llama.capi.native import native

_GPU, _IGPU = 1, 2


@dataclass(frozen=True, slots=True)
class Device:
    """`backend` is ggml's name for it: CPU, CUDA, ROCm, MTL, Vulkan, RPC, ...

    `gpu` includes integrated ones; `shares_host` means that it uses the host's memory. `free` in bytes.
    """

    handle: int
    name: str
    backend: str
    gpu: bool
    shares_host: bool
    free: int


def list_devices() -> tuple[Device, ...]:
    count = native("ggml_backend_dev_count", ctypes.c_size_t, [])
    get = native("ggml_backend_dev_get", ctypes.c_void_p, [ctypes.c_size_t])
    return tuple(_device(get(i)) for i in range(count()))


def list_backends() -> tuple[str, ...]:
    """Names of what is compiled in, whether or not a device is present."""
    count = native("ggml_backend_reg_count", ctypes.c_size_t, [])
    get = native("ggml_backend_reg_get", ctypes.c_void_p, [ctypes.c_size_t])
    name = native("ggml_backend_reg_name", ctypes.c_char_p, [ctypes.c_void_p])
    return tuple(name(get(i)).decode() for i in range(count()))


def _device(handle: int) -> Device:
    kind = native("ggml_backend_dev_type", ctypes.c_int, [ctypes.c_void_p])(handle)
    registry = native("ggml_backend_dev_backend_reg", ctypes.c_void_p, [ctypes.c_void_p])(handle)
    backend = _name("ggml_backend_reg_name", registry)
    return Device(
        handle=handle,
        name=_name("ggml_backend_dev_name", handle),
        backend=backend,
        gpu=kind in (_GPU, _IGPU),
        shares_host=kind == _IGPU or backend == "MTL",
        free=_free(handle),
    )


def _name(function: str, handle: int) -> str:
    raw: bytes = native(function, ctypes.c_char_p, [ctypes.c_void_p])(handle)
    return raw.decode()


def _free(handle: int) -> int:
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    size_p = ctypes.POINTER(ctypes.c_size_t)
    memory = native("ggml_backend_dev_memory", None, [ctypes.c_void_p, size_p, size_p])
    memory(handle, ctypes.byref(free), ctypes.byref(total))
    return free.value
