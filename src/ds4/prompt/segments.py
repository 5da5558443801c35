"""Rendered text -> runs of token ids.

Between two control spellings, template text and client text are encoded in one call: the merges across
their seams are the ones the model saw in training.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ds4.core.plan import Origin, Tokens
from ds4.core.ports import Tokenizer
from ds4.prompt.prefix import common_prefix


@dataclass(frozen=True, slots=True)
class Segment:
    """The characters [start, end) of the text and their ids."""

    start: int
    end: int
    ids: tuple[int, ...]
    origin: Origin

    def tokens(self) -> Tokens:
        return Tokens(self.ids, self.origin)


def control_spellings(tokenizer: Tokenizer) -> list[str]:
    """Those that can be told from text: a control of one character is that character."""
    return [spelling for spelling in tokenizer.controls if len(spelling) > 1]


class Segmenter:
    """Thread safe if the tokenizer is."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        spellings = control_spellings(tokenizer)
        self._controls = re.compile(_longest(spellings)) if spellings else None

    def cut(self, guarded: str, text: str) -> list[Segment]:
        """`guarded` shows which spellings the template wrote; `text`, of the same length, is encoded.

        The vocabulary's BOS stands first, also when the template does not write it.
        """
        segments: list[Segment] = []
        at = 0
        for match in self._controls.finditer(guarded) if self._controls else ():
            segments += self._plain(text, at, match.start())
            at = match.end()
            ids = (self._tokenizer.controls[match[0]],)
            segments.append(Segment(match.start(), at, ids, Origin.CONTROL))
        segments += self._plain(text, at, len(text))
        return self._with_bos(segments)

    def _plain(self, text: str, start: int, end: int) -> list[Segment]:
        if start == end:
            return []
        return [Segment(start, end, tuple(self._tokenizer.encode_plain(text[start:end])), Origin.PLAIN)]

    def _with_bos(self, segments: list[Segment]) -> list[Segment]:
        bos = self._tokenizer.bos
        if bos is None or (segments and segments[0].ids[:1] == (bos,)):
            return segments
        return [Segment(0, 0, (bos,), Origin.CONTROL), *segments]

    def row_at(self, segments: Iterable[Segment], text: str, offset: int) -> int:
        """The number of rows whose characters all lie before `offset`."""
        row = 0
        for segment in segments:
            if segment.end > offset:
                return row + self._rows_inside(segment, text, offset)
            row += len(segment.ids)
        return row

    def _rows_inside(self, segment: Segment, text: str, offset: int) -> int:
        if segment.origin is not Origin.PLAIN or offset <= segment.start:
            return 0
        # Where both encodings agree, no token reaches across the offset.
        head = self._tokenizer.encode_plain(text[segment.start : offset])
        return common_prefix(tuple(head), segment.ids)


def _longest(words: list[str]) -> str:
    """A pattern for the longest of `words` at a place. A tree, since vocabularies have thousands."""
    branches = []
    for head in sorted({word[0] for word in words}):
        same = [word for word in words if word[0] == head]
        stem = common_prefix(min(same), max(same))
        branches.append(re.escape(same[0][:stem]) + _tails([word[stem:] for word in same]))
    return f"(?:{'|'.join(branches)})" if len(branches) > 1 else branches[0]


def _tails(tails: list[str]) -> str:
    longer = [tail for tail in tails if tail]
    if not longer:
        return ""
    return f"(?:{_longest(longer)}){'?' if len(longer) < len(tails) else ''}"
