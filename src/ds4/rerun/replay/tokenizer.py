"""The recorded tokenizer: the texts and pieces that were seen, and no others."""

from collections.abc import Iterable, Mapping
from typing import Any

from ds4.core.errors import EngineError
from ds4.observe.trace.values import Json, unpacked
from ds4.rerun.head import Vocabulary


class RecordedTokenizer:
    """`core.ports.Tokenizer` of a trace. What it does not know raises EngineError, and is in `unknown`."""

    def __init__(self, words: Vocabulary, lines: Iterable[Json]) -> None:
        self._words = words
        self._hidden, self._eog = frozenset(words.hidden), frozenset(words.eog)
        self._pieces = {token: spelling.encode() for spelling, token in words.controls.items()}
        self._texts: dict[tuple[str, str], list[int]] = {}
        self.unknown = ""
        for line in lines:
            self._learn(line)

    @property
    def n_vocab(self) -> int:
        return self._words.n_vocab

    @property
    def bos(self) -> int | None:
        return self._words.bos

    @property
    def eos(self) -> int | None:
        return self._words.eos

    @property
    def controls(self) -> Mapping[str, int]:
        return self._words.controls

    def encode_plain(self, text: str) -> list[int]:
        return self._encode("plain", text)

    def encode_raw(self, text: str) -> list[int]:
        return self._encode("raw", text)

    def piece(self, token: int) -> bytes:
        found = self._pieces.get(token)
        if found is None:
            raise self._stranger(f"token {token} does not occur in the trace")
        return found

    def is_control(self, token: int) -> bool:
        return token in self._hidden

    def is_eog(self, token: int) -> bool:
        return token in self._eog

    def _encode(self, how: str, text: str) -> list[int]:
        found = self._texts.get((how, text))
        if found is not None:
            return found.copy()
        if not text:
            return []
        raise self._stranger(f"this text was not encoded when the trace was made: {text[:200]!r}")

    def _stranger(self, why: str) -> EngineError:
        self.unknown = self.unknown or why
        return EngineError(why)

    def _learn(self, line: dict[str, Any]) -> None:
        if line["at"] == "pieces":
            self._pieces.update({int(token): unpacked(data) for token, data in line["pieces"].items()})
        elif line["at"] == "encoded":
            self._texts[line["how"], line["text"]] = list(line["ids"])
