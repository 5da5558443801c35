"""The model's vocabulary as the constraint library sees it.

Rules:
- Special are CONTROL entries, end tokens, and USER_DEFINED entries that are part of the format's markup: no
  text of a grammar ever matches one of them, a grammar names them by their ids.
- The library must have an end token. A vocabulary without one gets it as an entry more, which no mask shows.
- Forced text must become the tokens that a model would write. What the tokenizer gives is taken only where it
  spells just that text; some put a space in front of whatever they encode.
- The library calls back from its own code, where an exception would be a crash.
"""

import threading
from collections.abc import Iterable
from types import MappingProxyType

from llguidance import LLTokenizer, TokenizerWrapper

from ds4.constrain.style import Words
from ds4.core.ports import Tokenizer
from ds4.formats.spellings import Spellings

_END = b"<end>"
LINE = "\n"
"""Merges with nothing that follows it: behind it a text is encoded as in the middle of another."""


def words(tokenizer: Tokenizer, spellings: Iterable[str]) -> Words:
    """`spellings` are those of the format's markup, reasoning marks included."""
    markup = tuple(spellings)
    ids = {
        spelling: token
        for spelling, token in tokenizer.controls.items()
        if tokenizer.is_control(token) or any(spelling in tag for tag in markup)
    }
    return Words(MappingProxyType(ids), _ends(tokenizer))


class Vocabulary:
    """Thread safe. The first who asks for `library` waits until it is built, for as long as the vocabulary is
    large: not on the event loop, and not on the engine's thread."""

    def __init__(self, tokenizer: Tokenizer, spellings: Iterable[str]) -> None:
        self.words = words(tokenizer, spellings)
        self.size = tokenizer.n_vocab
        self._spellings = Spellings(self.words.ids)
        self._tokenizer = tokenizer
        self._lock = threading.Lock()
        self._library: LLTokenizer | None = None

    @property
    def library(self) -> LLTokenizer:
        with self._lock:
            if self._library is None:
                self._library = _built(self._tokenizer, self.words)
            return self._library

    def tokens(self, text: str) -> list[int]:
        """`text` in tokens of which it reads the same; special spellings become their ids."""
        ids: list[int] = []
        for part, special in self._spellings.split(text):
            ids += [self.words.ids[part]] if special else self.library.tokenize_str(part)
        return ids


class _Entries:
    """The vocabulary in the library's own terms; called for the tokens of forced text."""

    bos_token_id = None

    def __init__(self, tokenizer: Tokenizer, known: Words) -> None:
        self.tokens = [tokenizer.piece(token) for token in range(tokenizer.n_vocab)]
        self.ends = known.ends or (tokenizer.n_vocab,)
        if not known.ends:
            self.tokens.append(_END)
        self.eos_token_id = self.ends[0]
        self.special_token_ids = sorted({*known.ids.values(), *self.ends})
        self.library: LLTokenizer | None = None
        self._tokenizer = tokenizer
        self._line = tokenizer.encode_plain(LINE)

    def __call__(self, data: bytes) -> list[int]:
        text = data.decode("utf-8", "replace")
        for ids in (self._tokenizer.encode_plain(text), self._behind_line(text)):
            if b"".join(self.tokens[token] for token in ids) == data:
                return ids
        return [] if self.library is None else self.library.greedy_tokenize(text)

    def _behind_line(self, text: str) -> list[int]:
        ids = self._tokenizer.encode_plain(LINE + text)
        return ids[len(self._line) :] if ids[: len(self._line)] == self._line else []


def _built(tokenizer: Tokenizer, known: Words) -> LLTokenizer:
    entries = _Entries(tokenizer, known)
    entries.library = LLTokenizer(TokenizerWrapper(entries), eos_token=list(entries.ends))
    return entries.library


def _ends(tokenizer: Tokenizer) -> tuple[int, ...]:
    """Every token that ends an answer, the usual one first."""
    usual = [] if tokenizer.eos is None else [tokenizer.eos]
    return tuple(dict.fromkeys((*usual, *filter(tokenizer.is_eog, range(tokenizer.n_vocab)))))
