"""The raw content of a GGUF's metadata: where its tensors lie, and any value as bytes."""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ds4.engine.llama.capi.gguf import Gguf
from ds4.engine.llama.capi.native import native

# gguf_type
_STRING, _ARRAY = 8, 9
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """`type` is ggml's name of it, `ne` the shape without trailing ones, innermost first; `start` and `size`
    are bytes of the file."""

    name: str
    type: str
    ne: tuple[int, ...]
    start: int
    size: int


def tensors(gguf: Gguf) -> list[TensorEntry]:
    """In the file's order."""
    base = int(native("gguf_get_data_offset", ctypes.c_size_t, [ctypes.c_void_p])(gguf.handle))
    name = _by_index("gguf_get_tensor_name", ctypes.c_char_p)
    kind = _by_index("gguf_get_tensor_type", ctypes.c_int)
    shape = _by_index("gguf_get_tensor_ne", ctypes.POINTER(ctypes.c_int64))
    offset = _by_index("gguf_get_tensor_offset", ctypes.c_size_t)
    size = _by_index("gguf_get_tensor_size", ctypes.c_size_t)
    type_name = native("ggml_type_name", ctypes.c_char_p, [ctypes.c_int])
    h = gguf.handle
    return [
        TensorEntry(
            name=name(h, i).decode("utf-8", "replace"),
            type=(type_name(kind(h, i)) or b"?").decode(),
            ne=_trimmed(shape(h, i)[:4]),
            start=base + offset(h, i),
            size=size(h, i),
        )
        for i in range(_count("gguf_get_n_tensors", h))
    ]


def gguf_keys(gguf: Gguf) -> dict[str, int]:
    """Every key and its number, for `gguf_value`."""
    name = _by_index("gguf_get_key", ctypes.c_char_p)
    count = _count("gguf_get_n_kv", gguf.handle)
    return {name(gguf.handle, i).decode("utf-8", "replace"): i for i in range(count)}


def gguf_value(gguf: Gguf, number: int) -> Iterator[bytes]:
    """The type of the value and its bytes, in parts; different values differ."""
    kind = _by_index("gguf_get_kv_type", ctypes.c_int)(gguf.handle, number)
    yield bytes([kind])
    if kind == _STRING:
        yield _by_index("gguf_get_val_str", ctypes.c_char_p)(gguf.handle, number)
    elif kind == _ARRAY:
        yield from _array(gguf.handle, number)
    else:
        at = _by_index("gguf_get_val_data", ctypes.c_void_p)(gguf.handle, number)
        yield ctypes.string_at(at, _SIZES[kind])


def _array(handle: int, number: int) -> Iterator[bytes]:
    kind = _by_index("gguf_get_arr_type", ctypes.c_int)(handle, number)
    count = int(_by_index("gguf_get_arr_n", ctypes.c_size_t)(handle, number))
    yield bytes([kind]) + count.to_bytes(8, "little")
    if kind == _STRING:
        item = native("gguf_get_arr_str", ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_int64, ctypes.c_size_t])
        yield b"\0".join([item(handle, number, i) for i in range(count)])
    elif kind in _SIZES and count:
        at = _by_index("gguf_get_arr_data", ctypes.c_void_p)(handle, number)
        yield ctypes.string_at(at, count * _SIZES[kind])


def _by_index(name: str, restype: Any) -> Any:
    return native(name, restype, [ctypes.c_void_p, ctypes.c_int64])


def _count(name: str, handle: int) -> int:
    return int(native(name, ctypes.c_int64, [ctypes.c_void_p])(handle))


def _trimmed(ne: list[int]) -> tuple[int, ...]:
    while len(ne) > 1 and ne[-1] == 1:
        ne = ne[:-1]
    return tuple(ne)
