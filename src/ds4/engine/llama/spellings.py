"""Cutting text so that no control spelling survives in a piece, and so that no piece is dangerous.

Pure functions over strings. A piece is what llama.cpp tokenizes in one call. It finds a USER_DEFINED spelling
even when asked to treat the text as plain, so a spelling is cut after its first character. The regular
expressions of its pre-tokenizers recurse once per character of a match: some tens of thousands of letters,
blanks or slashes in a row overflow the stack and kill the process, so that a piece has a greatest length.
"""

import re
from collections.abc import Iterable, Iterator

MAX_PIECE = 4096
_LOOK_BACK = 512
# Places where every known pre-tokenizer starts a new word, so that a cut changes no token.
_WORD_END = re.compile(r"[A-Za-z](?= [A-Za-z])|\n(?=[A-Za-z])")


def spelling_pattern(spellings: Iterable[str]) -> re.Pattern[str] | None:
    """Matches where any spelling starts; longest first. None without spellings.

    Built as a tree of shared beginnings: vocabularies with thousands of `<unusedN>` entries would make
    a flat alternative slow at every `<`.
    """
    tree: _Tree = {}
    for spelling in spellings:
        node = tree
        for character in spelling:
            node = node.setdefault(character, {})
        node[""] = {}
    return re.compile(_alternatives(tree)) if tree else None


_Tree = dict[str, "_Tree"]


def _alternatives(tree: _Tree) -> str:
    branches = [re.escape(head) + _alternatives(rest) for head, rest in tree.items() if head]
    if not branches:
        return ""
    body = branches[0] if len(branches) == 1 and "" not in tree else f"(?:{'|'.join(branches)})"
    return body + ("?" if "" in tree else "")


def defused(text: str, spellings: re.Pattern[str] | None) -> Iterator[str]:
    """Pieces that join to `text`; none contains a spelling of two or more characters."""
    if spellings is None:
        yield text
        return
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
