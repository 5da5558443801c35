"""The longest common prefix."""

from collections.abc import Sequence


def common_prefix(left: Sequence[object], right: Sequence[object]) -> int:
    """Its length. By halving, so that long texts are compared at memory speed.

    Both must be of one type: a list never equals a tuple.
    """
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
