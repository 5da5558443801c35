"""Rendered text -> runs of token ids.

Between two control spellings, template text and client text are encoded in one call: the merges across
their seams are the ones the model saw in training.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from ds4.core.plan import Origin, Tokens
from ds4.core.ports import Tokenizer
from ds4.formats.spellings import Spellings
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
        self._spellings = Spellings(control_spellings(tokenizer))

    def cut(self, guarded: str, text: str) -> list[Segment]:
        """`guarded` shows which spellings are ours; `text`, of the same length, is encoded.

        The vocabulary's BOS stands first, also when the template does not write it.
        """
        segments: list[Segment] = []
        at = 0
        for start, end in self._spellings.places(guarded):
            segments += self._plain(text, at, start)
            at = end
            ids = (self._tokenizer.controls[guarded[start:end]],)
            segments.append(Segment(start, end, ids, Origin.CONTROL))
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


class Rows:
    """From places in the text to rows of the plan."""

    def __init__(self, tokenizer: Tokenizer, segments: Sequence[Segment], text: str) -> None:
        self._tokenizer = tokenizer
        self._segments = segments
        self._text = text
        self._ends = [segment.end for segment in segments]
        self._rows = [0, *accumulate(len(segment.ids) for segment in segments)]

    @property
    def total(self) -> int:
        return self._rows[-1]

    def is_edge(self, offset: int) -> bool:
        """No segment reaches across the offset."""
        place = bisect_right(self._ends, offset)
        return place == len(self._segments) or self._segments[place].start == offset

    def before(self, offset: int) -> int:
        """The number of rows whose characters all lie before `offset`."""
        place = bisect_right(self._ends, offset)
        inside = 0 if place == len(self._segments) else self._inside(self._segments[place], offset)
        return self._rows[place] + inside

    def _inside(self, segment: Segment, offset: int) -> int:
        if segment.origin is not Origin.PLAIN or offset <= segment.start:
            return 0
        # Where both encodings agree, no token reaches across the offset.
        head = self._tokenizer.encode_plain(self._text[segment.start : offset])
        return common_prefix(tuple(head), segment.ids)
