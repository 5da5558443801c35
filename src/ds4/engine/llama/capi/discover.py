"""Which tensors a model's metadata asks for, so that test models can be written without a tensor table."""

import ctypes
from pathlib import Path
from typing import Any

from ds4.core.errors import ModelError
from ds4.engine.llama.capi.gguf import opened
from ds4.engine.llama.capi.log import captured_log
from ds4.engine.llama.capi.native import llama, native


class _TensorHead(ctypes.Structure):
    """The first fields of ggml_tensor."""

    _fields_ = (("type", ctypes.c_int), ("buffer", ctypes.c_void_p), ("ne", ctypes.c_int64 * 4))


def discover_tensors(metadata_gguf: Path) -> list[tuple[str, tuple[int, ...]]]:
    """Name and shape (ggml's order, innermost first) of every tensor the loader wants.

    `metadata_gguf` needs metadata and at least one tensor of any name. Raises ModelError when the
    metadata is refused.
    """
    found: dict[str, tuple[int, ...]] = {}
    name_of = native("ggml_get_name", ctypes.c_char_p, [ctypes.c_void_p])

    def note(tensor: int, _data: object) -> None:
        found[name_of(tensor).decode()] = _shape(tensor)

    with opened(metadata_gguf) as gguf, captured_log() as log:
        model = _load(gguf.handle, llama.llama_model_set_tensor_data_t(note))
        if not model:
            raise ModelError(f"{metadata_gguf}: {log.cause()}")
        llama.llama_model_free(model)
    return list(found.items())


def _load(metadata: int, callback: Any) -> int | None:
    params = llama.llama_model_default_params()
    params.use_extra_bufts = False
    params.load_mtp = True  # without it glm-dsa aborts, and MTP tensors would be missing elsewhere
    model: int | None = llama.llama_model_init_from_user(metadata, callback, None, params)
    return model


def _shape(tensor: int) -> tuple[int, ...]:
    sizes = list(_TensorHead.from_address(tensor).ne)
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return tuple(sizes)
