"""Tool results in the order of their calls.

Many prompt formats give results no id: their order alone tells the model which is which.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from ds4.core.messages import Message, Role


def in_call_order(messages: Sequence[Message]) -> Iterator[int]:
    """The indexes of all messages, each run of results sorted. Results of unknown calls come last."""
    ranks: dict[str | None, int] = {}
    for is_result, run in groupby(range(len(messages)), lambda i: messages[i].role is Role.TOOL):
        if is_result:
            yield from _sorted(list(run), messages, ranks)
            continue
        for index in run:
            if messages[index].tool_calls:
                ranks = {call.id: rank for rank, call in enumerate(messages[index].tool_calls)}
            yield index


def _sorted(run: list[int], messages: Sequence[Message], ranks: dict[str | None, int]) -> list[int]:
    return sorted(run, key=lambda index: ranks.get(messages[index].tool_call_id, len(ranks)))
