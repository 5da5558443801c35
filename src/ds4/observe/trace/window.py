"""The tokens around the place where a prompt leaves what is held, side by side. Pure."""

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from ds4.observe.words import printable, quoted

IMAGE = "an image"


def window(difference: Mapping[str, Any], pieces: Mapping[int, bytes]) -> Iterator[str]:
    """Eight rows before and eight from it on: number, a mark, what is held, what the prompt has."""
    held, wanted, first = difference["held_ids"], difference["wanted_ids"], difference["first"]
    end = first + max(len(held), len(wanted))
    yield f"token_window: [{first}..{end})"
    for row, (old, new) in enumerate(zip_longest(held, wanted), start=first):
        yield f"{row:8} {_mark(old, new):11} {_cell(old, pieces):34} {_cell(new, pieces)}".rstrip()


def _mark(old: int | None, new: int | None) -> str:
    if old is None:
        return "prompt-only"
    if new is None:
        return "held-only"
    return "==" if old == new else "!="


def _cell(token: int | None, pieces: Mapping[int, bytes]) -> str:
    return "" if token is None else f"{token} {piece_text(token, pieces)}"


def piece_text(token: int, pieces: Mapping[int, bytes]) -> str:
    if token < 0:
        return IMAGE
    data = pieces.get(token)
    return "?" if data is None else printable(quoted(data.decode("utf-8", "backslashreplace")))
