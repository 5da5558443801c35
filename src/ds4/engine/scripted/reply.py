"""One job's answer as tokens, and where in it the job is.

Rules of this file:
- The answer is fixed when it is made: later rows move the place in it, they never change it.
- A row that spells what comes next is followed, whatever its cut.
- Any other row was chosen by somebody else (a forced token, a mask, a bias). A special token that
  still comes in the answer jumps behind it; every other row stands in place of the wanted token.
- After the answer's end comes the end token. Whoever does not take it gets the answer again.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from random import Random

from ds4.core.ports import Sampler, Tokenizer
from ds4.engine.scripted.bpe import as_bytes
from ds4.formats.spellings import Spellings

_CUT_EVERY = 12


def cut(tokenizer: Tokenizer, spellings: Spellings, text: str, seed: int) -> tuple[int, ...]:
    """Special spellings become their tokens; the rest is cut as a sampler would: not canonically."""
    random = Random(seed)
    ids: list[int] = []
    for part, special in spellings.split(text):
        ids.extend([tokenizer.controls[part]] if special else _cut_plain(tokenizer, part, random))
    return tuple(ids)


def _cut_plain(tokenizer: Tokenizer, text: str, random: Random) -> list[int]:
    ids: list[int] = []
    start = 0
    while start < len(text):
        end = start + random.randint(1, 2 * _CUT_EVERY)
        ids.extend(tokenizer.encode_plain(text[start:end]))
        start = end
    # Some vocabularies cannot be cut anywhere (a blank is added to each piece).
    joined = b"".join(map(tokenizer.piece, ids))
    return ids if joined == as_bytes(text) else tokenizer.encode_plain(text)


class Reply:
    """`start` is the number of rows the answer follows."""

    def __init__(self, tokenizer: Tokenizer, ids: tuple[int, ...], start: int) -> None:
        self._tokenizer = tokenizer
        self._special = frozenset(tokenizer.controls.values())
        self._ids = ids
        self._start = start
        self._seen = start
        self._at = 0
        self._offset = 0

    def fits(self, rows: int) -> bool:
        """Whether a memory of so many rows can still be inside this answer."""
        return rows >= self._start

    def follow(self, rows: Sequence[int]) -> None:
        """Takes in the rows that came since the last call; after a cut, all again."""
        if len(rows) < self._seen:
            self._rewind()
        for token in rows[self._seen :]:
            self._advance(token)
        self._seen = len(rows)

    @property
    def ended(self) -> bool:
        return self._at == len(self._ids)

    @property
    def first(self) -> int | None:
        return self._ids[0] if self._ids else None

    @property
    def wanted(self) -> int | None:
        """The token to steer to, None at the end."""
        if self.ended:
            return None
        return self._rest_of_token() if self._offset else self._ids[self._at]

    def _rewind(self) -> None:
        self._seen = self._start
        self._at = 0
        self._offset = 0

    def _advance(self, token: int) -> None:
        if self.ended:
            if self._tokenizer.is_eog(token) or not self._ids:
                return
            self._at = 0
        if self._offset == 0 and self._ids[self._at] == token:
            self._at += 1
        elif token in self._special:
            self._jump_behind(token)
        elif not self._match(self._tokenizer.piece(token)):
            self._at, self._offset = self._at + 1, 0

    def _jump_behind(self, control: int) -> None:
        later = control in self._ids[self._at :]
        self._at = self._ids.index(control, self._at) + 1 if later else self._at + 1
        self._offset = 0

    def _match(self, data: bytes) -> bool:
        """Moves behind `data` if the answer goes on with it, else moves nothing."""
        at, offset = self._at, self._offset
        while data:
            if at == len(self._ids) or self._ids[at] in self._special:
                return False
            ahead = self._tokenizer.piece(self._ids[at])[offset:]
            size = min(len(data), len(ahead))
            if data[:size] != ahead[:size]:
                return False
            data = data[size:]
            at, offset = (at + 1, 0) if size == len(ahead) else (at, offset + size)
        self._at, self._offset = at, offset
        return True

    def _rest_of_token(self) -> int:
        rest = self._tokenizer.piece(self._ids[self._at])[self._offset :]
        return self._tokenizer.encode_plain(rest.decode("utf-8", "replace"))[0]


class Replies:
    """The answers of the jobs seen last, by the identity of their samplers.

    A job may go on in another slot than it began in: its answer goes with it.
    """

    def __init__(self, make: Callable[[Sequence[int]], Reply], keep: int) -> None:
        self._make = make
        self._keep = keep
        # With the sampler, so that its id cannot be given to another one.
        self._held: OrderedDict[int, tuple[Sampler, Reply]] = OrderedDict()

    def of(self, sampler: Sampler, rows: Sequence[int]) -> Reply:
        """The sampler's answer, moved to where `rows` are; a new one the first time."""
        _, reply = self._held.get(id(sampler), (sampler, None))
        if reply is None or not reply.fits(len(rows)):
            reply = self._make(rows)
            self._held[id(sampler)] = sampler, reply
        self._held.move_to_end(id(sampler))
        if len(self._held) > self._keep:
            self._held.popitem(last=False)
        reply.follow(rows)
        return reply

    def clear(self) -> None:
        self._held.clear()
