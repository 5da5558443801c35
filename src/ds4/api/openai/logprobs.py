"""Log-probabilities of sampled tokens, as OpenAI words them in chat and in completions.

A token can stand for a part of a character only. Chat answers give its exact bytes beside a text with
U+FFFD. Completions have no place for bytes and use token texts as keys, so there such a token is spelled
by its bytes.
"""

import codecs
from collections.abc import Callable, Sequence

from ds4.core.sampling import Sampled

Pieces = Callable[[int], bytes]
"""The bytes of a token id."""
FLOOR = -9999.0
"""OpenAI's word for "practically impossible"; JSON has no minus infinity."""


def chat_logprobs(tokens: Sequence[Sampled], pieces: Pieces) -> dict[str, object]:
    return {"content": [_with_top(token, pieces) for token in tokens], "refusal": None}


def _with_top(token: Sampled, pieces: Pieces) -> dict[str, object]:
    top = [_entry(pieces(id_), logprob) for id_, logprob in token.top]
    return {**_entry(pieces(token.id), token.logprob), "top_logprobs": top}


def _entry(data: bytes, logprob: float | None) -> dict[str, object]:
    return {"token": data.decode(errors="replace"), "logprob": _finite(logprob), "bytes": list(data)}


class CompletionLogprobs:
    """Those of one choice, in pieces. `text_offset` counts the characters of the choice's whole text."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._text = codecs.getincrementaldecoder("utf-8")("replace")
        self._offset = 0

    def of(self, tokens: Sequence[Sampled]) -> dict[str, object]:
        """For the next tokens. A token inside a character has the character's offset."""
        return {
            "tokens": [_spelling(self._pieces(token.id)) for token in tokens],
            "token_logprobs": [_finite(token.logprob) for token in tokens],
            "top_logprobs": [_best(token, self._pieces) for token in tokens],
            "text_offset": [self._offset_of(token) for token in tokens],
        }

    def _offset_of(self, token: Sampled) -> int:
        offset = self._offset
        self._offset += len(self._text.decode(self._pieces(token.id)))
        return offset


def _best(token: Sampled, pieces: Pieces) -> dict[str, float | None]:
    """The best tokens and the sampled one, by text. Of tokens with the same text the best counts."""
    found: dict[str, float | None] = {}
    for id_, logprob in (*token.top, (token.id, token.logprob)):
        found.setdefault(_spelling(pieces(id_)), _finite(logprob))
    return found


def _spelling(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in data)


def _finite(logprob: float | None) -> float | None:
    """None for a token that was not sampled but forced."""
    return None if logprob is None else max(logprob, FLOOR)
