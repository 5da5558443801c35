"""Two traces of one run, side by side. Pure.

Rules:
- Lines are compared per request, job or turn, each in its order: what two requests did at the same time may
  stand in another order.
- What the old trace does not tell is not compared: a field that is new since then is no difference.
- The store's news are what is given to the server, and nothing it does: how they are told may change.
- A request that was not over when the trace ended may go on in the new one.
- A worker may go on for a client who has left. Nobody waits for that work, so it is not repeated.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from ds4.observe.trace.redact import shape
from ds4.observe.trace.values import Json, written

OWNERS = {
    **dict.fromkeys(("request", "id", "asked", "guided", "sent", "ran", "slept", "left", "done"), "request"),
    **dict.fromkeys(("job", "read", "started", "finished"), "job"),
    "turn": "turn",
}
"""Which lines are compared, and the field that says whose they are."""
AROUND = 60
"""Characters shown on either side of a difference."""

Key = tuple[str, object]


@dataclass(frozen=True, slots=True)
class Difference:
    """`line` counts the trace's lines behind its head, from 0. `then` or `now` is None for a line that is
    not there."""

    line: int
    key: Key
    then: Json | None
    now: Json | None


def first_difference(
    then: Sequence[Json], now: Iterable[Json], *, driven: int | None = None, redacted: bool = False
) -> Difference | None:
    """The one that comes first in `then`. Of lines behind the first `driven` ones, those that announce what
    is not there yet are left out. Of a `redacted` trace what the scheduler did is compared, without texts."""
    dress = _decided if redacted else _whole
    vain = _in_vain(then)
    old = _by_key(
        _UNSURE if number in vain or _announces(number, line, driven) else dress(line)
        for number, line in enumerate(then)
    )
    new = _by_key(map(dress, _as_read(now)))
    found = [
        difference for key in old.keys() | new.keys() if (difference := _differ(key, old, new, len(then)))
    ]
    return min(found, key=lambda one: one.line, default=None)


_UNSURE: Json = {"at": "unsure"}
DECIDED = frozenset(("read", "started", "finished", "turn"))
"""What is compared of a redacted trace."""


def _whole(line: Json) -> Json:
    return line


def _decided(line: Json) -> Json:
    if line["at"] not in DECIDED:
        return _UNSURE
    # Ids are drawn by readers, which do not read here.
    return {name: value for name, value in shape(line).items() if name != "ids"}


def _in_vain(lines: Iterable[dict[str, Any]]) -> frozenset[int]:
    """What workers did for clients that had left."""
    waiting: defaultdict[object, list[int]] = defaultdict(list)
    left = set()
    for number, line in enumerate(lines):
        match line["at"]:
            case "asked" | "guided":
                waiting[line["request"]].append(number)
            case "ran":
                waiting.pop(line["request"], None)
            case "left":
                left.add(line["request"])
    return frozenset(number for request in left for number in waiting.get(request, ()))


def _announces(number: int, line: Json, driven: int | None) -> bool:
    return driven is not None and number >= driven and line["at"] in ("asked", "started", "finished")


def words(difference: Difference) -> list[str]:
    """What differs, for people."""
    at, owner = difference.key
    head = f"line {difference.line + 2}: {at} of {OWNERS[at]} {owner}"
    if difference.now is None:
        return [f"{head} is not there any more", f"  then: {_short(difference.then)}"]
    if difference.then is None:
        return [f"{head} was not there then", f"   now: {_short(difference.now)}"]
    place, then, now = where(difference.then, difference.now)
    return [f"{head} differs in {place}", f"  then: {then}", f"   now: {now}"]


def agrees(then: object, now: object) -> bool:
    """Whether `now` says all that `then` says."""
    match then, now:
        case dict(), dict():
            return all(key in now and agrees(value, now[key]) for key, value in then.items())
        case list(), list():
            return len(then) == len(now) and all(map(agrees, then, now))
    return then == now


def where(then: object, now: object, path: str = "") -> tuple[str, str, str]:
    """The path to the first difference of two values, and what stands there."""
    match then, now:
        case dict(), dict():
            for key in then:
                if not agrees(then[key], now.get(key)):
                    return where(then.get(key), now.get(key), f"{path}.{key}".lstrip("."))
        case list(), list():
            for index, (old, new) in enumerate(zip(then, now, strict=False)):
                if not agrees(old, new):
                    return where(old, new, f"{path}[{index}]")
            shorter = min(len(then), len(now))
            return f"{path}[{shorter}:]", _short(then[shorter:]), _short(now[shorter:])
        case str(), str():
            at = next(
                (n for n, (a, b) in enumerate(zip(then, now, strict=False)) if a != b),
                min(len(then), len(now)),
            )
            cut = slice(max(0, at - AROUND), at + AROUND)
            return f"{path} at character {at}", repr(then[cut]), repr(now[cut])
    return path, _short(then), _short(now)


def _differ(
    key: Key, old: dict[Key, list[tuple[int, Json]]], new: dict[Key, list[tuple[int, Json]]], end: int
) -> Difference | None:
    then, now = old.get(key, []), new.get(key, [])
    for (number, line), (_, other) in zip(then, now, strict=False):
        if not agrees(line, other):
            return Difference(number, key, line, other)
    if len(then) > len(now):
        number, line = then[len(now)]
        return Difference(number, key, line, None)
    if len(now) > len(then) and (over := _over(key, old, end)) is not None:
        return Difference(over, key, None, now[len(then)][1])
    return None


def _over(key: Key, old: dict[Key, list[tuple[int, Json]]], end: int) -> int | None:
    """The line at which the owner of `key` had ended; None for one that had not."""
    at, owner = key
    done = {"request": "done", "job": "finished", "turn": "turn"}[OWNERS[at]]
    found = old.get((done, owner))
    if done == "turn":
        return end
    return found[-1][0] if found else None


def _by_key(lines: Iterable[dict[str, Any]]) -> dict[Key, list[tuple[int, Json]]]:
    found: defaultdict[Key, list[tuple[int, Json]]] = defaultdict(list)
    for number, line in enumerate(lines):
        at = str(line["at"])
        if at in OWNERS:
            found[at, line[OWNERS[at]]].append((number, _without_news(line)))
    return dict(found)


def _without_news(line: dict[str, Any]) -> Json:
    if "store" not in line:
        return line
    return {**line, "store": [words for words in line["store"] if words[0] != "news"]}


def _as_read(lines: Iterable[Json]) -> Iterable[dict[str, Any]]:
    """As they would be read back from a file."""
    return (orjson.loads(written(line)) for line in lines)


def _short(value: object) -> str:
    text = orjson.dumps(value, default=str).decode() if value is not None else "nothing"
    return text if len(text) <= 4 * AROUND else text[: 4 * AROUND] + "..."
