"""Cutting text so that no control spelling survives in a piece, and so that no piece is dangerous.

Pure functions over strings. A piece is what llama.cpp tokenizes in one call. It finds a USER_DEFINED spelling
even when asked to treat the text as plain, so a spelling is cut after its first character. The regular
expressions of its pre-tokenizers recurse once per character of a match: some tens of thousands of letters,
blanks or slashes in a row overflow the stack and kill the process, so that a piece has a greatest length.
"""

import re
from collections.abc import Iterator

MAX_PIECE = 4096
_LOOK_BACK = 512
# Places where every known pre-tokenizer starts a new word, so that a cut changes no token.
_WORD_END = re.compile(r"[A-Za-z](?= [A-Za-z])|\n(?=[A-Za-z])")


def defused(text: str, spellings: re.Pattern[str]) -> Iterator[str]:
    """Pieces that join to `text`; none contains a spelling of two or more characters."""
    start = 0
    while match := spellings.search(text, start):
        # Searching on from the cut also finds spellings that overlap this one.
        cut = match.start() + 1
        yield text[start:cut]
        start = cut
    yield text[start:]


def bounded(text: str) -> Iterator[str]:
    """Pieces of at most MAX_PIECE characters that join to `text`, cut between words where there are any."""
    start = 0
    while len(text) - start > MAX_PIECE:
        end = start + MAX_PIECE
        cut = max((m.end() for m in _WORD_END.finditer(text, end - _LOOK_BACK, end)), default=end)
        yield text[start:cut]
        start = cut
    yield text[start:]
