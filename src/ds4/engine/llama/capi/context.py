"""A context: the KV memory of all slots, and running rows through the model.

Rules: slots are sequence ids. Wrong slots, too many rows and unknown tokens would abort the process or
corrupt memory, so they are checked here, whoever calls.

A copy is only noted: positions change at once, the data follow when the next decode begins. Until then some
memories let neither side change: emptying one wipes compressed and recurrent state on the spot, and the copy
then brings the wiped state to the other side, or an old one back. `noted` tells which slots that concerns.
"""

import ctypes
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ds4.core.errors import EngineError, StartError
from ds4.engine.llama.capi.batch import Batch
from ds4.engine.llama.capi.log import captured_log
from ds4.engine.llama.capi.model import Model
from ds4.engine.llama.capi.native import llama
from ds4.engine.llama.capi.vocab import Vocab

_MIB = 1 << 20
# Sums of a cache, not of its buffers: those read 0 when nothing was allocated.
_CACHE = re.compile(r"(?<!buffer )\bsize = +([\d.]+) MiB")
_WORKSPACE = re.compile(r"(?:compute|output) buffer size = +([\d.]+) MiB")
_ROTATED = re.compile(r"attn_rot_[kv] = (\d)")
_PARTIAL = 1
_NO_CELLS, _INVALID = 1, -1
_DECODE_ERRORS = {
    _NO_CELLS: "no free cells in the KV cache",
    2: "aborted",
    _INVALID: "invalid batch",
}


@dataclass(frozen=True, slots=True)
class ContextParams:
    """`n_ctx` rows per slot; `flash_attn` is -1 auto, 0 off, 1 on; `kv_type` a ggml type number."""

    n_ctx: int
    n_slots: int
    n_batch: int
    n_ubatch: int
    threads: int
    threads_batch: int
    flash_attn: int
    kv_type: int


class Context:
    def __init__(self, model: Model, params: ContextParams) -> None:
        """Raises StartError with llama.cpp's reason."""
        self._model = model
        with captured_log() as log:
            handle = llama.llama_init_from_model(model.handle, _c_params(params))
        if not handle:
            raise StartError(f"the context could not be created: {log.cause()}")
        self._handle: int | None = handle
        self._memory = llama.llama_get_memory(handle)
        self.n_slots = params.n_slots
        self.n_vocab = Vocab(model).n_tokens
        self._row_type = ctypes.c_float * self.n_vocab
        self.n_ctx = int(llama.llama_n_ctx_seq(handle))
        self.n_batch = int(llama.llama_n_batch(handle))
        self.kv_bytes = _mib_sum(_CACHE, log.text)
        self.workspace_bytes = _mib_sum(_WORKSPACE, log.text)
        self.rotated = "".join(_ROTATED.findall(log.text))
        self._batch = Batch(self.n_batch)
        self._sources: dict[int, int] = {}

    @property
    def batch(self) -> Batch:
        return self._batch

    def decode(self) -> None:
        """Runs the batch. On an error the slots in it are in an unknown state."""
        batch = self._batch
        if batch.rows == 0 or batch.tokens.min() < 0 or batch.tokens.max() >= self.n_vocab:
            raise EngineError(f"a batch of {batch.rows} rows is empty or names an unknown token")
        if batch.outputs > self.n_slots:
            raise EngineError(f"a batch asks for {batch.outputs} rows of logits, at most {self.n_slots} fit")
        code = self._decode()
        if code != 0:
            why = _DECODE_ERRORS.get(code, "the backend failed")
            raise EngineError(f"llama_decode of {batch.rows} rows failed with code {code}: {why}")

    def settle(self, slot: int, pos: int) -> None:
        """Makes noted copies real by a row at `pos`, the first free position of `slot`; it stays there.

        Copies are made before llama.cpp looks whether a row fits, so a full slot serves as well.
        """
        self._batch.clear()
        self._batch.add(self._slot(slot), pos, np.zeros(1, dtype=np.int32), logits=False)
        code = self._decode()
        if code not in (0, _NO_CELLS):
            raise EngineError(f"noted copies could not be made: llama_decode failed with code {code}")

    def _decode(self) -> int:
        code = int(llama.llama_decode(self._live(), self._batch.c))
        if code != _INVALID:
            self._sources.clear()
        return code

    def logits(self, row: int) -> NDArray[np.float32]:
        """A view of one row that asked for logits in the last decode; valid until the next one."""
        pointer = llama.llama_get_logits_ith(self._live(), row)
        if not pointer:
            raise EngineError(f"row {row} of the last batch has no logits")
        # np.ctypeslib.as_array does the same and takes ten times as long.
        floats = self._row_type.from_address(ctypes.addressof(pointer.contents))
        view: NDArray[np.float32] = np.frombuffer(memoryview(floats), dtype=np.float32)
        return view

    def frontier(self, slot: int) -> tuple[int, int]:
        """Smallest and largest position held; (-1, -1) when empty."""
        slot = self._slot(slot)
        low = int(llama.llama_memory_seq_pos_min(self._memory, slot))
        return low, int(llama.llama_memory_seq_pos_max(self._memory, slot))

    def remove_from(self, slot: int, pos: int) -> bool:
        """Drops everything from `pos` on; False and unchanged where the memory cannot."""
        return bool(llama.llama_memory_seq_rm(self._memory, self._slot(slot), pos, -1))

    def clear(self, slot: int) -> None:
        llama.llama_memory_seq_rm(self._memory, self._slot(slot), -1, -1)

    def clear_all(self) -> None:
        self._live()
        llama.llama_memory_clear(self._memory, True)

    def copy(self, source: int, target: int) -> None:
        """The whole of `source`; `target` must be empty. A partial copy would abort the process."""
        llama.llama_memory_seq_cp(self._memory, self._slot(source), self._slot(target), -1, -1)
        self._sources[target] = source

    def noted(self, slot: int) -> bool:
        """Whether `slot` is the source or the target of a copy that is only noted."""
        return slot in self._sources or slot in self._sources.values()

    def origin(self, slot: int) -> int:
        """The slot whose data `slot` shows once noted copies are made; itself without one."""
        while slot in self._sources:
            slot = self._sources[slot]
        return slot

    def export(self, slot: int, *, partial: bool) -> NDArray[np.uint8]:
        flags = _PARTIAL if partial else 0
        size = llama.llama_state_seq_get_size_ext(self._live(), self._slot(slot), flags)
        data = np.empty(size, dtype=np.uint8)
        used = llama.llama_state_seq_get_data_ext(self._live(), _bytes_at(data), size, slot, flags)
        if used != size or size == 0:
            raise EngineError(f"the state of slot {slot} gave {used} of {size} bytes")
        return data

    def load(self, slot: int, data: NDArray[np.uint8], *, partial: bool) -> bool:
        """False when the data was refused or not used up; the slot is then in an unknown state."""
        flags = _PARTIAL if partial else 0
        used = llama.llama_state_seq_set_data_ext(
            self._live(), _bytes_at(data), data.size, self._slot(slot), flags
        )
        return int(used) == data.size > 0

    def close(self) -> None:
        if self._handle is not None:
            self._batch.close()
            llama.llama_free(self._handle)
            self._handle = None

    def _live(self) -> int:
        if self._handle is None:
            raise EngineError("the engine is closed")
        return self._handle

    def _slot(self, slot: int) -> int:
        self._live()
        if not 0 <= slot < self.n_slots:
            raise EngineError(f"slot {slot} does not exist, there are {self.n_slots}")
        return slot


def _c_params(params: ContextParams) -> Any:
    c = llama.llama_context_default_params()
    c.n_ctx = params.n_ctx * params.n_slots
    c.n_seq_max = params.n_slots
    c.n_batch = params.n_batch
    c.n_ubatch = params.n_ubatch
    # At most one sampled row per slot and step: keeps the logits buffer small on large vocabularies.
    c.n_outputs_max = params.n_slots
    c.n_threads = params.threads
    c.n_threads_batch = params.threads_batch
    c.flash_attn_type = params.flash_attn
    c.type_k = c.type_v = params.kv_type
    c.kv_unified = False
    c.swa_full = False
    return c


def _bytes_at(data: NDArray[np.uint8]) -> Any:
    return data.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))


def _mib_sum(pattern: re.Pattern[str], text: str) -> int:
    return sum(round(float(size) * _MIB) for size in pattern.findall(text))
