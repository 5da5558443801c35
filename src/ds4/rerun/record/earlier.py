"""What earlier runs, and other processes, have left for this one: answers and responses on disk.

Rules:
- Only what was asked for is noted, once, before anybody has it.
- What this run itself has put there comes out of it again, and is noted only where it is gone.
"""

from collections.abc import Iterable, Sequence

from ds4.api.responses.store import Item, ResponseStore, Stored
from ds4.kv.replay.database import Entry
from ds4.kv.replay.disk_copy import Disk
from ds4.kv.replay.record import Record
from ds4.observe.trace.secrets import secrets_in, without
from ds4.observe.trace.values import Json, packed
from ds4.rerun.moment import REQUEST, Callers
from ds4.rerun.record.api import Notes


class NotedAnswers:
    """`kv.replay.disk_copy.Disk` around another."""

    def __init__(self, disk: Disk, notes: Notes) -> None:
        self._disk = disk
        self._notes = notes

    def write(self, record: Record) -> None:
        self._disk.write(record)

    def touch(self, key: bytes) -> None:
        self._disk.touch(key)

    def news(self, *, wait: bool) -> Sequence[Entry]:
        """Not noted: there may be many, and which of them matter shows when they are read."""
        return self._disk.news(wait=wait)

    def read(self, ids: Sequence[int]) -> Sequence[Record]:
        found = self._disk.read(ids)
        if found:
            words = [_answer(record, self._notes.callers) for record in found]
            self._notes.put({"at": "remembered", "request": REQUEST.get(), "answers": words})
        return found

    def flush(self) -> None:
        self._disk.flush()

    def close(self) -> None:
        self._disk.close()


class NotedResponses:
    """`api.responses.store.ResponseStore` around another."""

    def __init__(self, store: ResponseStore, notes: Notes) -> None:
        self._store = store
        self._notes = notes
        self._told: set[tuple[str, str]] = set()

    def put(self, namespace: str, stored: Stored) -> None:
        self._store.put(namespace, stored)
        self._told.update((namespace, id_) for id_ in _ids(stored))

    def flush(self) -> None:
        self._store.flush()

    def get(self, namespace: str, response_id: str) -> Stored | None:
        stored = self._store.get(namespace, response_id)
        if stored is None:
            self._tell_gone(namespace, response_id)
        elif (namespace, response_id) not in self._told:
            self._told.update((namespace, id_) for id_ in _ids(stored))
            items = {name: _items(getattr(stored, name)) for name in ("earlier", "input", "output")}
            body = without(secrets_in(stored.body), stored.body)
            self._tell(namespace, {"id": stored.id, "body": packed(body), **items})
        return stored

    def item(self, namespace: str, item_id: str) -> Item | None:
        item = self._store.item(namespace, item_id)
        if item is None:
            self._tell_gone(namespace, item_id)
        elif (namespace, item_id) not in self._told:
            self._told.add((namespace, item_id))
            self._tell(namespace, {"item": _items([item])})
        return item

    def calling(self, namespace: str, call_id: str) -> str | None:
        """Whoever asks gets the response next: then it is noted."""
        found = self._store.calling(namespace, call_id)
        if found is None:
            self._tell_gone(namespace, call_id)
        return found

    def delete(self, namespace: str, response_id: str) -> bool:
        return self._store.delete(namespace, response_id)

    def _tell_gone(self, namespace: str, id_: str) -> None:
        if (namespace, id_) in self._told:
            self._told.discard((namespace, id_))
            self._tell(namespace, {"gone": id_})

    def _tell(self, namespace: str, words: Json) -> None:
        caller = self._notes.callers.name(namespace)
        self._notes.put({"at": "kept", "request": REQUEST.get(), "caller": caller, **words})


def _answer(record: Record, callers: Callers) -> Json:
    meaning = record.meaning
    return {
        "caller": callers.name(record.namespace),
        "prefix": record.prefix.hex(),
        "rows": record.rows,
        "ids": record.ids,
        "text": meaning.text,
        "reasoning": meaning.reasoning,
        "calls": [[call.name, call.arguments.hex()] for call in meaning.calls],
        "closed": record.closed,
    }


def _ids(stored: Stored) -> Iterable[str]:
    return (stored.id, *(item.id for item in (*stored.input, *stored.output)), *stored.calls)


def _items(items: Iterable[Item]) -> list[list[object]]:
    return [[item.id, packed(item.json)] for item in items]
