"""What was answered, so that a client can go on from it by its id.

Bounded by count and by bytes; what was used longest ago goes first. Callers only ever see their own.
"""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

import orjson

MAX_RESPONSES = 1000
MAX_BYTES = 128 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Item:
    """An item as JSON."""

    id: str
    json: bytes


@dataclass(frozen=True, slots=True)
class Stored:
    """`body` is the response as JSON. `earlier` is the history before it, `input` what the request added,
    `output` what was answered: together the history that a next response goes on from."""

    id: str
    body: bytes
    earlier: tuple[Item, ...]
    input: tuple[Item, ...]
    output: tuple[Item, ...]

    @property
    def history(self) -> tuple[Item, ...]:
        return (*self.earlier, *self.input, *self.output)

    @property
    def calls(self) -> tuple[str, ...]:
        """The ids of the calls in `output`."""
        items = (orjson.loads(item.json) for item in self.output)
        found = (item.get("call_id") for item in items if isinstance(item, dict))
        return tuple(call_id for call_id in found if isinstance(call_id, str))

    @property
    def size(self) -> int:
        """In bytes. What responses share counts for each of them: the bound is never below the truth."""
        return len(self.body) + sum(len(item.json) for item in self.history)


class ResponseStore(Protocol):
    """Thread safe. `namespace` separates callers. `put` is called on the event loop and must not block; all
    others may wait for a disk, and are called on workers."""

    def put(self, namespace: str, stored: Stored) -> None: ...

    def flush(self) -> None:
        """What was put outlives the process from now on, where the store can do that."""

    def get(self, namespace: str, response_id: str) -> Stored | None: ...

    def item(self, namespace: str, item_id: str) -> Item | None:
        """An item that one of the kept responses added, as input or output."""

    def calling(self, namespace: str, call_id: str) -> str | None:
        """The id of the kept response that was answered with this call."""

    def delete(self, namespace: str, response_id: str) -> bool:
        """False when there was none."""


class MemoryStore:
    """A ResponseStore that forgets everything at the end of the process."""

    def __init__(self, max_responses: int = MAX_RESPONSES, max_bytes: int = MAX_BYTES) -> None:
        self._max_responses = max_responses
        self._max_bytes = max_bytes
        self._lock = Lock()
        self._kept: OrderedDict[tuple[str, str], Stored] = OrderedDict()
        self._items: dict[tuple[str, str], tuple[str, Item]] = {}
        self._calls: dict[tuple[str, str], str] = {}
        self._bytes = 0

    def put(self, namespace: str, stored: Stored) -> None:
        with self._lock:
            self._drop((namespace, stored.id))
            self._kept[namespace, stored.id] = stored
            self._bytes += stored.size
            for item in (*stored.input, *stored.output):
                self._items[namespace, item.id] = (stored.id, item)
            for call_id in stored.calls:
                self._calls[namespace, call_id] = stored.id
            while self._kept and (len(self._kept) > self._max_responses or self._bytes > self._max_bytes):
                self._drop(next(iter(self._kept)))

    def flush(self) -> None:
        pass

    def entries(self) -> tuple[tuple[str, Stored], ...]:
        """All that is kept, with its namespaces; what was used longest ago first."""
        with self._lock:
            return tuple((namespace, stored) for (namespace, _), stored in self._kept.items())

    def get(self, namespace: str, response_id: str) -> Stored | None:
        with self._lock:
            key = (namespace, response_id)
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def item(self, namespace: str, item_id: str) -> Item | None:
        with self._lock:
            response_id, item = self._items.get((namespace, item_id), ("", None))
            if item is not None:
                self._kept.move_to_end((namespace, response_id))
            return item

    def calling(self, namespace: str, call_id: str) -> str | None:
        with self._lock:
            return self._calls.get((namespace, call_id))

    def delete(self, namespace: str, response_id: str) -> bool:
        with self._lock:
            return self._drop((namespace, response_id))

    def _drop(self, key: tuple[str, str]) -> bool:
        stored = self._kept.pop(key, None)
        if stored is None:
            return False
        self._bytes -= stored.size
        for item in (*stored.input, *stored.output):
            place = (key[0], item.id)
            # A later response may have brought the same item again.
            if place in self._items and self._items[place][0] == stored.id:
                del self._items[place]
        for call_id in stored.calls:
            if self._calls.get((key[0], call_id)) == stored.id:
                del self._calls[key[0], call_id]
        return True
