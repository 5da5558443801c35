"""How much a run tries. HYPOTHESIS_PROFILE=thorough tries all of a product, other runs a part of it."""

import os
from collections.abc import Sequence
from itertools import cycle, islice, product
from typing import TypeVar

T = TypeVar("T")
Left = TypeVar("Left")
Right = TypeVar("Right")

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


def some_of(items: Sequence[T], every: int) -> Sequence[T]:
    """Every so many of them and always the last; all in a thorough run.

    The first one follows from how many there are, so that different products are cut at different places.
    """
    return items if THOROUGH else items[(len(items) - 1) % every :: every]


def pairs(left: Sequence[Left], right: Sequence[Right]) -> list[tuple[Left, Right]]:
    """Each with one of the others, in turn; each with each in a thorough run."""
    if THOROUGH:
        return list(product(left, right))
    return list(islice(zip(cycle(left), cycle(right)), max(len(left), len(right))))
