"""The tokenizer, with every text it encodes and every piece it tells noted, once each."""

import threading
from collections.abc import Iterable, Mapping
from hashlib import blake2b

from ds4.core.ports import Tokenizer
from ds4.observe.trace.values import packed
from ds4.observe.trace.writer import Put


class NotedTokenizer:
    """`core.ports.Tokenizer` around another. A new piece is a line before anybody has it."""

    def __init__(self, tokenizer: Tokenizer, put: Put) -> None:
        self._tokenizer = tokenizer
        self._put = put
        self._pieces: set[int] = set()
        self._texts: set[bytes] = set()
        self._lock = threading.Lock()

    @property
    def n_vocab(self) -> int:
        return self._tokenizer.n_vocab

    @property
    def bos(self) -> int | None:
        return self._tokenizer.bos

    @property
    def eos(self) -> int | None:
        return self._tokenizer.eos

    @property
    def controls(self) -> Mapping[str, int]:
        return self._tokenizer.controls

    def encode_plain(self, text: str) -> list[int]:
        return self._encoded("plain", text, self._tokenizer.encode_plain(text))

    def encode_raw(self, text: str) -> list[int]:
        return self._encoded("raw", text, self._tokenizer.encode_raw(text))

    def piece(self, token: int) -> bytes:
        if token not in self._pieces:
            self._learn([token])
        return self._tokenizer.piece(token)

    def is_control(self, token: int) -> bool:
        return self._tokenizer.is_control(token)

    def is_eog(self, token: int) -> bool:
        return self._tokenizer.is_eog(token)

    def _encoded(self, how: str, text: str, ids: list[int]) -> list[int]:
        key = blake2b(f"{how}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._lock:
            new = key not in self._texts
            self._texts.add(key)
        if new:
            self._learn(ids)
            self._put({"at": "encoded", "how": how, "text": text, "ids": tuple(ids)})
        return ids

    def _learn(self, ids: Iterable[int]) -> None:
        with self._lock:
            new = sorted(set(ids) - self._pieces)
            self._pieces.update(new)
        if new:
            pieces = {str(token): packed(self._tokenizer.piece(token)) for token in new}
            self._put({"at": "pieces", "pieces": pieces})
