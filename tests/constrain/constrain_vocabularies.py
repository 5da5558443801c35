"""Vocabularies for tests of constraints: the families' byte-level ones, and one that puts spaces in front."""

import json
from collections.abc import Mapping
from functools import cache

from ds4.constrain.compiler import Compiler
from ds4.constrain.grammar import Grammar
from ds4.core.ports import Tokenizer
from ds4.engine.scripted.bpe import packaged_bpe
from ds4.engine.scripted.tokenizer import ScriptedTokenizer
from ds4.formats.family import Family
from ds4.formats.registry import family_named

WORDS = (" {", ' {"', "name", " name", '":', '": ', " st", "stock", " stock", "<x>", "  ", " a", " b", "\n\n")


class SpacedTokenizer:
    """As SentencePiece vocabularies do, it encodes every text with a space in front. The last id ends."""

    def __init__(self) -> None:
        self._pieces = [bytes([byte]) for byte in range(256)] + [word.encode() for word in WORDS] + [b"</s>"]

    n_vocab = 256 + len(WORDS) + 1
    bos = None
    eos = 256 + len(WORDS)

    @property
    def controls(self) -> Mapping[str, int]:
        return {"</s>": self.eos, "<x>": 256 + WORDS.index("<x>")}

    def encode_plain(self, text: str) -> list[int]:
        data = b" " + text.encode()
        ids: list[int] = []
        while data:
            longest = max(range(self.eos), key=lambda token: self._fits(token, data))
            ids.append(longest)
            data = data[len(self._pieces[longest]) :]
        return ids

    def encode_raw(self, text: str) -> list[int]:
        return self.encode_plain(text)

    def piece(self, token: int) -> bytes:
        return self._pieces[token]

    def is_control(self, token: int) -> bool:
        return token == self.eos

    def is_eog(self, token: int) -> bool:
        return token == self.eos

    def _fits(self, token: int, data: bytes) -> int:
        piece = self._pieces[token]
        return len(piece) if data.startswith(piece) and piece != b"<x>" else -1


def markup(family: Family) -> tuple[str, ...]:
    marks = family.tool_format.channels.reasoning if family.tool_format.channels else family.reasoning
    return (*family.tool_format.spellings, marks.open, marks.close)


@cache
def family_tokenizer(name: str) -> ScriptedTokenizer:
    return ScriptedTokenizer(family_named(name), packaged_bpe())


@cache
def compiler(name: str) -> Compiler:
    """Of a family, or `spaced`."""
    if name == "spaced":
        return Compiler(SpacedTokenizer(), ("<x>",))
    return Compiler(family_tokenizer(name), markup(family_named(name)))


def tokenizer(name: str) -> Tokenizer:
    return SpacedTokenizer() if name == "spaced" else family_tokenizer(name)


def lark(*lines: str) -> Grammar:
    return Grammar(json.dumps({"grammars": [{"lark_grammar": "\n".join(lines)}]}))
