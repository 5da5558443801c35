"""The scripted engine's own vocabulary: a small BPE, then one id per special spelling of the family."""

from collections.abc import Mapping
from types import MappingProxyType

from ds4.engine.scripted.bpe import Bpe, as_bytes
from ds4.formats.family import Family
from ds4.formats.spellings import Spellings

_END = "<|endoftext|>"
"""For a family without an end token: without one no reply could end."""


class ScriptedTokenizer:
    """`core.ports.Tokenizer`. Plain text never reaches the ids of the special spellings."""

    def __init__(self, family: Family, bpe: Bpe) -> None:
        eos = family.eos or _END
        special = tuple(dict.fromkeys((*family.spellings, eos)))
        first = len(bpe.pieces)
        self._bpe = bpe
        self._pieces = bpe.pieces + tuple(map(as_bytes, special))
        self._spellings = Spellings(special)
        self._controls = {spelling: first + n for n, spelling in enumerate(special)}
        self._bos = None if family.bos is None else self._controls[family.bos]
        self._eos = self._controls[eos]
        self._hidden = frozenset(self._controls[spelling] for spelling in (*family.control, eos))
        self._eog = frozenset(self._controls[spelling] for spelling in (eos, *family.ends))

    @property
    def n_vocab(self) -> int:
        return len(self._pieces)

    @property
    def bos(self) -> int | None:
        return self._bos

    @property
    def eos(self) -> int:
        return self._eos

    @property
    def controls(self) -> Mapping[str, int]:
        return MappingProxyType(self._controls)

    def encode_plain(self, text: str) -> list[int]:
        return self._bpe.encode(text)

    def encode_raw(self, text: str) -> list[int]:
        ids: list[int] = []
        for part, special in self._spellings.split(text):
            if special:
                ids.append(self._controls[part])
            else:
                ids.extend(self._bpe.encode(part))
        return ids

    def piece(self, token: int) -> bytes:
        return self._pieces[token]

    def is_control(self, token: int) -> bool:
        return token in self._hidden

    def is_eog(self, token: int) -> bool:
        return token in self._eog
