"""One reusable batch, filled through numpy views of llama.cpp's own arrays.

Rules: each row belongs to exactly one sequence. llama_batch_init allocates one small array per row for its
sequence ids; all of them are pointed into one numpy array instead, so that a step is a handful of slice
assignments. The original pointers go back before the batch is freed, since llama_batch_free frees them.
"""

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ds4.core.errors import EngineError
from ds4.engine.llama.capi.native import llama

_SEQ_POINTER = ctypes.POINTER(llama.llama_seq_id)


class Batch:
    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._c: Any = llama.llama_batch_init(capacity, 0, 1)
        shape = (capacity,)
        self._token = np.ctypeslib.as_array(self._c.token, shape)
        self._pos = np.ctypeslib.as_array(self._c.pos, shape)
        self._logits = np.ctypeslib.as_array(self._c.logits, shape)
        np.ctypeslib.as_array(self._c.n_seq_id, shape)[:] = 1
        self._seq = np.zeros(capacity, dtype=np.int32)
        self._own = [ctypes.cast(self._c.seq_id[i], ctypes.c_void_p).value for i in range(capacity)]
        start = self._seq.ctypes.data
        self._point_rows_at(start + i * self._seq.itemsize for i in range(capacity))
        self.rows = 0
        self.outputs = 0

    @property
    def tokens(self) -> NDArray[np.int32]:
        view: NDArray[np.int32] = self._token[: self.rows]
        return view

    @property
    def c(self) -> Any:
        self._c.n_tokens = self.rows
        return self._c

    def clear(self) -> None:
        self.rows = self.outputs = 0

    def add(self, slot: int, pos: int, tokens: NDArray[np.int32], *, logits: bool) -> int:
        """Appends the rows of one slot; `logits` asks for those of the last. Gives that row's index."""
        end = self.rows + tokens.size
        if tokens.size == 0 or end > self.capacity:
            raise EngineError(f"{end} rows do not fit a batch of {self.capacity}")
        rows = slice(self.rows, end)
        self._token[rows] = tokens
        self._pos[rows] = np.arange(pos, pos + tokens.size, dtype=np.int32)
        self._seq[rows] = slot
        self._logits[rows] = 0
        self._logits[end - 1] = logits
        self.rows = end
        self.outputs += logits
        return end - 1

    def close(self) -> None:
        self._point_rows_at(self._own)
        llama.llama_batch_free(self._c)

    def _point_rows_at(self, addresses: Any) -> None:
        for i, address in enumerate(addresses):
            self._c.seq_id[i] = ctypes.cast(address, _SEQ_POINTER)
