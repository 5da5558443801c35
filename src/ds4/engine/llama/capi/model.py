"""A loaded model: weights or vocabulary only."""

import ctypes
import os
import re
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ds4.core.errors import ModelError
from ds4.engine.llama.capi.log import captured_log
from ds4.engine.llama.capi.native import llama

# llama_load_mode by (mapped, locked)
_LOAD_MODES = {(False, False): 0, (True, False): 1, (False, True): 2, (True, True): 3}
_NOT_LOCKED = re.compile(r"failed to (?:mlock|VirtualLock) .*?\): (.*)")
_META_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class ModelParams:
    """`devices` are handles from `capi.devices`: None lets llama.cpp choose, () means the CPU alone.

    `n_gpu_layers` < 0 is all of them. `mlock` keeps weights from being swapped out. `no_alloc` loads no
    weights; a context on such a model reports the memory it would take.
    """

    mmap: bool = True
    mlock: bool = False
    n_gpu_layers: int = -1
    devices: tuple[int, ...] | None = None
    extra_buffers: bool = True
    vocab_only: bool = False
    no_alloc: bool = False


class Model:
    """Freed when the last reference goes, so that a tokenizer may outlive the engine that opened it."""

    def __init__(self, handle: int, not_locked: str = "") -> None:
        """`not_locked` is the system's reason, where weights should be locked in memory and are not."""
        self.handle = handle
        self.not_locked = not_locked
        # Not at exit: another thread may still be tokenizing then.
        weakref.finalize(self, llama.llama_model_free, handle).atexit = False

    @classmethod
    def load(cls, path: Path, params: ModelParams) -> "Model":
        """Raises ModelError with llama.cpp's reason. A split model is given by its first file."""
        llama.llama_backend_init()
        devices = _device_list(params.devices)
        with captured_log() as log:
            handle = llama.llama_model_load_from_file(os.fsencode(path), _c_params(params, devices))
        if not handle:
            raise ModelError(f"{path}: {log.cause()}")
        return cls(handle, lock_failure(log.text))

    @property
    def description(self) -> str:
        buffer = ctypes.create_string_buffer(256)
        llama.llama_model_desc(self.handle, buffer, len(buffer))
        return buffer.value.decode("utf-8", "replace")

    @property
    def bytes(self) -> int:
        """The size of all tensors."""
        return int(llama.llama_model_size(self.handle))

    @property
    def n_ctx_train(self) -> int:
        return int(llama.llama_model_n_ctx_train(self.handle))

    @property
    def window(self) -> int:
        """Sliding window in rows, 0 without one."""
        return int(llama.llama_model_n_swa(self.handle))

    @property
    def recurrent(self) -> bool:
        return bool(llama.llama_model_is_recurrent(self.handle))

    @property
    def hybrid(self) -> bool:
        return bool(llama.llama_model_is_hybrid(self.handle))

    @property
    def generates(self) -> bool:
        """A decoder alone; encoders and diffusion models do not produce text token by token."""
        return bool(llama.llama_model_has_decoder(self.handle)) and not (
            llama.llama_model_has_encoder(self.handle) or llama.llama_model_is_diffusion(self.handle)
        )

    @property
    def chat_template(self) -> str | None:
        raw: bytes | None = llama.llama_model_chat_template(self.handle, None)
        return None if raw is None else raw.decode("utf-8", "replace")

    def meta(self, key: str) -> str | None:
        """A scalar of the metadata as text, cut at 64 KiB."""
        buffer = ctypes.create_string_buffer(_META_BYTES)
        if llama.llama_model_meta_val_str(self.handle, key.encode(), buffer, len(buffer)) < 0:
            return None
        return buffer.value.decode("utf-8", "replace")


def lock_failure(log: str) -> str:
    """Why the system did not lock the weights, in its own words; empty when it did or was not asked."""
    found = _NOT_LOCKED.search(log)
    return found[1].strip() if found else ""


def _device_list(devices: tuple[int, ...] | None) -> Any:
    """A NULL-terminated array; the caller keeps it alive during the load."""
    return None if devices is None else (ctypes.c_void_p * (len(devices) + 1))(*devices, None)


def _c_params(params: ModelParams, devices: Any) -> Any:
    c = llama.llama_model_default_params()
    c.vocab_only = params.vocab_only
    c.no_alloc = params.no_alloc
    c.use_extra_bufts = params.extra_buffers
    c.n_gpu_layers = params.n_gpu_layers
    # llama.cpp asserts that a model without allocation is not mapped.
    c.load_mode = 0 if params.no_alloc else _LOAD_MODES[params.mmap, params.mlock]
    if devices is not None:
        c.devices = ctypes.addressof(devices)
    return c
