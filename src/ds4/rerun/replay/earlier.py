"""What earlier runs had left, as far as the trace has come.

Rules:
- It is there when its line is reached. Who asked for it then does not count: of two requests that came
  together the other one may be first now.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ds4.api.responses.store import Item, MemoryStore, Stored
from ds4.kv.replay.database import Entry
from ds4.kv.replay.meaning import Call, Meaning
from ds4.kv.replay.record import Record
from ds4.observe.trace.values import Json, unpacked


class Earlier:
    """Both kinds. `reveal` takes lines in their order; others than those are passed over."""

    def __init__(self) -> None:
        self.answers = RecordedAnswers()
        self.responses = RecordedResponses()

    def reveal(self, lines: Iterable[Json]) -> None:
        for line in lines:
            match dict(line):
                case {"at": "remembered", "answers": list(answers)}:
                    self.answers.reveal(map(_record, answers))
                case {"at": "kept"} as words:
                    self.responses.reveal(words)


class RecordedAnswers:
    """`kv.replay.disk_copy.Disk` of a trace."""

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._told = 0

    def reveal(self, records: Iterable[Record]) -> None:
        self._records += records

    def write(self, record: Record) -> None:
        pass

    def touch(self, key: bytes) -> None:
        pass

    def news(self, *, wait: bool) -> Sequence[Entry]:  # noqa: ARG002
        first, self._told = self._told, len(self._records)
        new = enumerate(self._records[first:], start=first)
        return [Entry(number, one.key, one.namespace, one.prefix, one.rows) for number, one in new]

    def read(self, ids: Sequence[int]) -> Sequence[Record]:
        return [self._records[number] for number in ids]

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


class RecordedResponses:
    """`api.responses.store.ResponseStore` of a trace: it forgets what was gone, and nothing else."""

    def __init__(self) -> None:
        self._store = MemoryStore(sys.maxsize, sys.maxsize)
        self._items: dict[tuple[str, str], Item] = {}
        self._gone: set[tuple[str, str]] = set()

    def reveal(self, words: Mapping[str, Any]) -> None:
        """One `kept` line."""
        caller = words["caller"]
        match words:
            case {"gone": id_}:
                self._gone.add((caller, id_))
            case {"item": [[id_, data]]}:
                self._items[caller, id_] = Item(id_, unpacked(data))
            case {"id": id_, "body": body, "earlier": earlier, "input": new, "output": output}:
                self.put(caller, Stored(id_, unpacked(body), *map(_items, (earlier, new, output))))

    def put(self, namespace: str, stored: Stored) -> None:
        self._store.put(namespace, stored)
        self._gone.discard((namespace, stored.id))

    def flush(self) -> None:
        pass

    def get(self, namespace: str, response_id: str) -> Stored | None:
        return None if (namespace, response_id) in self._gone else self._store.get(namespace, response_id)

    def item(self, namespace: str, item_id: str) -> Item | None:
        key = namespace, item_id
        if key in self._gone:
            return None
        return self._store.item(namespace, item_id) or self._items.get(key)

    def calling(self, namespace: str, call_id: str) -> str | None:
        return None if (namespace, call_id) in self._gone else self._store.calling(namespace, call_id)

    def delete(self, namespace: str, response_id: str) -> bool:
        return self._store.delete(namespace, response_id)


def _record(words: Mapping[str, Any]) -> Record:
    calls = tuple(Call(name, bytes.fromhex(digest)) for name, digest in words["calls"])
    meaning = Meaning(tuple(words["text"]), calls, tuple(words["reasoning"]))
    ids = np.asarray(words["ids"], np.int32)
    ids.setflags(write=False)
    prefix = bytes.fromhex(words["prefix"])
    return Record(words["caller"], prefix, words["rows"], ids, meaning, closed=words["closed"])


def _items(words: Iterable[Sequence[object]]) -> tuple[Item, ...]:
    return tuple(Item(str(id_), unpacked(data)) for id_, data in words)
