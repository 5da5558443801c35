"""The vocabulary of a model. Thread safe: llama.cpp only reads it."""

import ctypes

import numpy as np

from ds4.core.errors import EngineError
from ds4.engine.llama.capi.model import Model
from ds4.engine.llama.capi.native import llama

_CONTROL, _USER_DEFINED = 1 << 3, 1 << 4
_FIRST_GUESS = 64  # bytes of a piece; longer ones are asked for twice


class Vocab:
    def __init__(self, model: Model) -> None:
        self._model = model  # keeps the memory behind the handle
        self._handle = llama.llama_model_get_vocab(model.handle)
        self.n_tokens = int(llama.llama_vocab_n_tokens(self._handle))

    @property
    def bos(self) -> int | None:
        """The token to put first, None when the vocabulary asks for none."""
        if not llama.llama_vocab_get_add_bos(self._handle):
            return None
        return _optional(llama.llama_vocab_bos(self._handle))

    @property
    def eos(self) -> int | None:
        return _optional(llama.llama_vocab_eos(self._handle))

    def text(self, token: int) -> str:
        """The entry's own spelling in the vocabulary."""
        raw: bytes | None = llama.llama_vocab_get_text(self._handle, self._checked(token))
        return (raw or b"").decode("utf-8", "replace")

    def is_control(self, token: int) -> bool:
        return bool(llama.llama_vocab_get_attr(self._handle, self._checked(token)) & _CONTROL)

    def is_user_defined(self, token: int) -> bool:
        return bool(llama.llama_vocab_get_attr(self._handle, self._checked(token)) & _USER_DEFINED)

    def is_eog(self, token: int) -> bool:
        return bool(llama.llama_vocab_is_eog(self._handle, self._checked(token)))

    def piece(self, token: int) -> bytes:
        """The bytes a token stands for; a control token gives its spelling."""
        token = self._checked(token)
        size = _FIRST_GUESS
        while True:
            buffer = ctypes.create_string_buffer(size)
            used = llama.llama_token_to_piece(self._handle, token, buffer, size, 0, True)
            if used >= 0:
                return buffer.raw[:used]
            size = -used

    def tokenize(self, text: bytes, *, special: bool) -> list[int]:
        """`text` must be valid UTF-8 (it may hold NUL). With `special`, control spellings count."""
        capacity = len(text) + 2  # a token stands for at least one byte; two for an added space
        if capacity > np.iinfo(np.int32).max:
            raise EngineError(f"a text of {len(text)} bytes is too long to tokenize")
        ids = np.empty(capacity, dtype=np.int32)
        target = ids.ctypes.data_as(ctypes.POINTER(llama.llama_token))
        used = llama.llama_tokenize(self._handle, text, len(text), target, capacity, False, special)
        if used < 0:
            raise EngineError(f"llama_tokenize failed on {len(text)} bytes with code {used}")
        found: list[int] = ids[:used].tolist()
        return found

    def _checked(self, token: int) -> int:
        if not 0 <= token < self.n_tokens:
            raise EngineError(f"token {token} is outside the vocabulary of {self.n_tokens}")
        return token


def _optional(token: int) -> int | None:
    return None if token < 0 else int(token)
