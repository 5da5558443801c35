"""What is asked of every contender, and what is taken from its answer."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Load:
    """One request per prompt, all at once; each answers `tokens` tokens, greedily, past any end token."""

    prompts: tuple[tuple[int, ...], ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Stream:
    """Seconds on one clock: when a request was sent, and when each of its tokens came."""

    sent: float
    tokens: tuple[float, ...]


def decode_rate(streams: Sequence[Stream]) -> float:
    """Tokens per second of all streams together, after each has its first."""
    begin = max(stream.tokens[0] for stream in streams)
    end = max(stream.tokens[-1] for stream in streams)
    return sum(sum(time > begin for time in stream.tokens) for stream in streams) / (end - begin)


def first_token(streams: Sequence[Stream]) -> float:
    """Seconds until every stream has its first token."""
    return max(stream.tokens[0] - stream.sent for stream in streams)


def prompt(index: int, rows: int, n_vocab: int) -> tuple[int, ...]:
    """Different for each index from the first row on, so that nothing is reused between runs."""
    return tuple(1000 + (index * 7919 + row * 31) % (n_vocab - 2000) for row in range(rows))
