"""Text to tokens and back, over a model's own vocabulary."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from ds4.engine.llama.capi import Model, ModelParams, Vocab
from ds4.engine.llama.files import model_files
from ds4.engine.llama.spellings import MAX_PIECE, bounded, defused
from ds4.formats.spellings import spelling_pattern

_SURROGATES = re.compile("[\ud800-\udfff]")


class LlamaTokenizer:
    """Implements core.ports.Tokenizer. Thread safe.

    A USER_DEFINED entry of one character is ordinary text here: it cannot be told from the character.
    """

    def __init__(self, vocab: Vocab) -> None:
        self._vocab = vocab
        self.n_vocab = vocab.n_tokens
        self.bos = vocab.bos
        self.eos = vocab.eos
        self.controls: Mapping[str, int] = MappingProxyType(_controls(vocab))
        self._control_ids = frozenset(filter(vocab.is_control, self.controls.values()))
        self._eog = frozenset(i for i in range(vocab.n_tokens) if vocab.is_eog(i))
        self._pattern = spelling_pattern(s for s in self.controls if len(s) > 1)
        self._piece = cache(vocab.piece)
        self._line_start = self._line_start_if_needed()

    @classmethod
    def open(cls, path: Path) -> "LlamaTokenizer":
        """Loads the vocabulary alone. Raises ModelError."""
        model_files(path)
        return cls(Vocab(Model.load(path, ModelParams(vocab_only=True, devices=(), n_gpu_layers=0))))

    @property
    def eog(self) -> frozenset[int]:
        """Every token that ends a generation."""
        return self._eog

    def encode_plain(self, text: str) -> list[int]:
        """Never yields a control token, whatever `text` spells. No BOS."""
        return self._encode_pieces(_clean(text))

    def encode_raw(self, text: str) -> list[int]:
        """Control spellings become control tokens. No BOS."""
        text = _clean(text)
        if len(text) <= MAX_PIECE:
            return self._vocab.tokenize(text.encode(), special=True)
        return self._encode_long_raw(text)

    def piece(self, token: int) -> bytes:
        """The bytes a token stands for; a control token gives its spelling. EngineError if out of range."""
        return self._piece(token)

    def is_control(self, token: int) -> bool:
        return token in self._control_ids

    def is_eog(self, token: int) -> bool:
        return token in self._eog

    def _encode_long_raw(self, text: str) -> list[int]:
        """Cut at control spellings first, so that no other cut falls into one."""
        ids: list[int] = []
        start = 0
        for match in self._pattern.finditer(text):
            ids += self._encode_pieces(text[start : match.start()])
            ids.append(self.controls[match[0]])
            start = match.end()
        return ids + self._encode_pieces(text[start:])

    def _encode_pieces(self, text: str) -> list[int]:
        pieces = [part for piece in defused(text, self._pattern) for part in bounded(piece) if part]
        ids = self._vocab.tokenize(pieces[0].encode(), special=False) if pieces else []
        for piece in pieces[1:]:
            ids += self._continue(piece)
        return ids

    def _continue(self, piece: str) -> list[int]:
        """A piece from the middle of a text. SentencePiece vocabularies put a space before whatever they
        are given; behind a newline, which merges with nothing there, that space can be told and dropped."""
        head = self._line_start
        if not head:
            return self._vocab.tokenize(piece.encode(), special=False)
        ids = self._vocab.tokenize(b"\n" + piece.encode(), special=False)
        if ids[: len(head)] == head:
            return ids[len(head) :]
        return self._vocab.tokenize(piece.encode(), special=False)

    def _line_start_if_needed(self) -> list[int]:
        """The tokens of a lone newline where the vocabulary adds a space, else nothing."""
        probe = self._vocab.tokenize(b"a", special=False)
        adds_space = b"".join(map(self._piece, probe)).startswith(b" ")
        return self._vocab.tokenize(b"\n", special=False) if adds_space else []


def _controls(vocab: Vocab) -> dict[str, int]:
    found: dict[str, int] = {}
    for token in range(vocab.n_tokens):
        control = vocab.is_control(token)
        if control or vocab.is_user_defined(token):
            spelling = vocab.text(token)
            if spelling.strip() and (control or len(spelling) > 1):
                found.setdefault(spelling, token)
    return found


def _clean(text: str) -> str:
    """Lone surrogates (legal in JSON) have no UTF-8 form; they become the replacement character."""
    return _SURROGATES.sub("\ufffd", text)
