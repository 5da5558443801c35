"""GGUF metadata through ggml's own reader, without loading a tensor."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ds4.core.errors import ModelError
from ds4.engine.llama.capi.log import captured_log
from ds4.engine.llama.capi.native import native

# gguf_type
_UINT16, _UINT32, _INT32, _STRING, _ARRAY, _UINT64 = 2, 4, 5, 8, 9, 10


class _InitParams(ctypes.Structure):
    _fields_ = (("no_alloc", ctypes.c_bool), ("ctx", ctypes.c_void_p))


class Gguf:
    """An open metadata block; only valid inside `opened`."""

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def string(self, key: str) -> str | None:
        index = self._find(key, _STRING)
        return None if index is None else _text(self._call("gguf_get_val_str", ctypes.c_char_p, index))

    def integer(self, key: str) -> int | None:
        """An unsigned 16, 32 or 64 bit value, or a signed 32 bit one."""
        for kind, name, ctype in _INTEGERS:
            index = self._find(key, kind)
            if index is not None:
                return int(self._call(name, ctype, index))
        return None

    def strings(self, key: str) -> tuple[str, ...]:
        """An array of strings; empty when there is none."""
        index = self._find(key, _ARRAY)
        if index is None or self._call("gguf_get_arr_type", ctypes.c_int, index) != _STRING:
            return ()
        item = native("gguf_get_arr_str", ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_int64, ctypes.c_size_t])
        return tuple(_text(item(self.handle, index, i)) for i in range(self._length(index)))

    def int32s(self, key: str) -> tuple[int, ...]:
        """An array of signed 32 bit integers; empty when there is none."""
        index = self._find(key, _ARRAY)
        if index is None or self._call("gguf_get_arr_type", ctypes.c_int, index) != _INT32:
            return ()
        size = self._length(index)
        address = self._call("gguf_get_arr_data", ctypes.c_void_p, index)
        return tuple((ctypes.c_int32 * size).from_address(address)) if size else ()

    def data_end(self) -> int:
        """The least size in bytes of a file that holds all its tensors."""
        start = int(native("gguf_get_data_offset", ctypes.c_size_t, [ctypes.c_void_p])(self.handle))
        count = int(native("gguf_get_n_tensors", ctypes.c_int64, [ctypes.c_void_p])(self.handle))
        arguments = [ctypes.c_void_p, ctypes.c_int64]
        offset = native("gguf_get_tensor_offset", ctypes.c_size_t, arguments)
        size = native("gguf_get_tensor_size", ctypes.c_size_t, arguments)
        ends = (offset(self.handle, i) + size(self.handle, i) for i in range(count))
        return start + max(ends, default=0)

    def _find(self, key: str, kind: int) -> int | None:
        find = native("gguf_find_key", ctypes.c_int64, [ctypes.c_void_p, ctypes.c_char_p])
        index = int(find(self.handle, key.encode()))
        if index < 0 or self._call("gguf_get_kv_type", ctypes.c_int, index) != kind:
            return None
        return index

    def _length(self, index: int) -> int:
        return int(self._call("gguf_get_arr_n", ctypes.c_size_t, index))

    def _call(self, name: str, restype: Any, index: int) -> Any:
        return native(name, restype, [ctypes.c_void_p, ctypes.c_int64])(self.handle, index)


_INTEGERS = (
    (_UINT32, "gguf_get_val_u32", ctypes.c_uint32),
    (_UINT16, "gguf_get_val_u16", ctypes.c_uint16),
    (_INT32, "gguf_get_val_i32", ctypes.c_int32),
    (_UINT64, "gguf_get_val_u64", ctypes.c_uint64),
)


@contextmanager
def opened(path: Path) -> Iterator[Gguf]:
    """Raises ModelError when the metadata cannot be read."""
    read = native("gguf_init_from_file", ctypes.c_void_p, [ctypes.c_char_p, _InitParams])
    with captured_log() as log:
        handle = read(os.fsencode(path), _InitParams(True, None))
    if not handle:
        raise ModelError(f"{path}: {_explained(log.cause())}")
    try:
        yield Gguf(handle)
    finally:
        native("gguf_free", None, [ctypes.c_void_p])(handle)


def _explained(cause: str) -> str:
    return f"the file is truncated or damaged ({cause})" if cause.startswith("failed to read") else cause


def _text(raw: object) -> str:
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else ""
