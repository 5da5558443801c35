"""Tool results in the order of their calls.

Many prompt formats give results no id: their order alone tells the model which is which.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from ds4.core.messages import Message, Role


def in_call_order(messages: Sequence[Message]) -> Iterator[int]:
    """The indexes of all messages, each run of results sorted.

    A result that names no call stands where one has none otherwise, in the order of their coming.
    """
    ids: list[str] = []
    for is_result, run in groupby(range(len(messages)), lambda i: messages[i].role is Role.TOOL):
        if is_result:
            yield from _sorted(list(run), messages, ids)
            continue
        for index in run:
            if messages[index].tool_calls:
                ids = [call.id for call in messages[index].tool_calls]
            yield index


def _sorted(run: list[int], messages: Sequence[Message], ids: Sequence[str]) -> list[int]:
    ranks = {call_id: rank for rank, call_id in enumerate(ids) if call_id}
    named = {index: messages[index].tool_call_id or "" for index in run}
    known = {index: ranks[call_id] for index, call_id in named.items() if call_id in ranks}
    taken = set(known.values())
    free = (rank for rank in range(len(ids)) if rank not in taken)
    places = {index: known[index] if index in known else next(free, len(ids)) for index in run}
    return sorted(run, key=places.__getitem__)
