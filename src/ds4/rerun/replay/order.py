"""In which order a trace's lines are let happen, and which of them together. Pure.

Rules:
- Reads that stood together are given together: several choices of one answer may be one chunk.
- A client that leaves is noticed a moment later: what its request was still given meanwhile is given to it,
  and together with the last of that it leaves.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ds4.observe.trace.values import Json

GATES: Mapping[str, str] = MappingProxyType({"ran": "request", "slept": "request", "read": "job"})
"""Which lines open a gate, and the field that names whose."""
DRIVES = frozenset(("request", "left", "turn", "shown", "lost", *GATES))

Group = tuple[int, tuple[Json, ...]]
"""The number of lines up to here, and what is let happen at once."""


def groups(lines: Sequence[Json], more: Container[str] = ()) -> Iterator[Group]:
    """All that drives, in order; `more` are further kinds of lines that do."""
    leaving = _leaving(lines)
    reads: list[Json] = []
    for number, line in enumerate(lines):
        if line["at"] == "left" and number not in leaving.values():
            continue
        here = [lines[left] for left, at in leaving.items() if at == number and left != number]
        if line["at"] == "read" and not here:
            reads.append(line)
            continue
        if line["at"] in DRIVES or line["at"] in more:
            if reads and line["at"] != "read":
                yield number, tuple(reads)
                reads = []
            yield number + 1, (*reads, line, *here)
            reads = []
    if reads:
        yield len(lines), tuple(reads)


def _leaving(lines: Sequence[Json]) -> dict[int, int]:
    """Of each line that says that a client left, the line with which it leaves."""
    owner: dict[Any, Any] = {}
    left: dict[Any, int] = {}
    found: dict[int, int] = {}
    for number, line in enumerate(lines):
        match dict(line):
            case {"at": "job", "job": job, "request": request}:
                owner[job] = request
            case {"at": "left", "request": request}:
                left[request] = number
                found[number] = number
            case {"at": "done", "request": request}:
                left.pop(request, None)
            case {"at": str(at)} if at in GATES:
                key = line[GATES[at]]
                request = owner.get(key, key)
                if request in left:
                    found[left[request]] = number
    return found
