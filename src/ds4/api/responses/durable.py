"""Responses that outlive the process.

Rules:
- What is put is in memory at once, and on disk after the next `flush`; only then it leaves the memory.
  So a disk that fails costs nothing but what outlives the process.
- Each trouble is told once, and so is its end.
"""

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TypeVar

from ds4.api.responses.database import Database
from ds4.api.responses.store import Item, MemoryStore, ResponseStore, Stored
from ds4.observe.records import Notice, Observer
from ds4.storage.sqlite_file import Unusable

T = TypeVar("T")

FOLDER, FILE = "responses", "responses.sqlite3"
MAX_RESPONSES = 10_000
MAX_BYTES = 512 * 1024 * 1024


def open_store(
    directory: Path | None,
    observe: Observer,
    *,
    max_responses: int = MAX_RESPONSES,
    max_bytes: int = MAX_BYTES,
) -> ResponseStore:
    """In a folder of `directory`; without one, in memory."""
    if directory is None:
        return MemoryStore()
    return DurableStore(Database(directory / FOLDER / FILE, max_responses, max_bytes), observe)


class DurableStore:
    """A ResponseStore. Opens the database, or says why it cannot."""

    def __init__(self, database: Database, observe: Observer) -> None:
        self._database = database
        self._observe = observe
        # Held while the disk is waited for: never by `put`.
        self._disk = Lock()
        self._waiting = MemoryStore()
        self._trouble = ""
        with self._disk:
            self._on_disk(database.open, None)

    def put(self, namespace: str, stored: Stored) -> None:
        self._waiting.put(namespace, stored)

    def flush(self) -> None:
        with self._disk:
            for namespace, stored in self._waiting.entries():
                if not self._on_disk(partial(self._write, namespace, stored), False):
                    return
                self._waiting.delete(namespace, stored.id)

    def get(self, namespace: str, response_id: str) -> Stored | None:
        waiting = self._waiting.get(namespace, response_id)
        if waiting is not None:
            return waiting
        with self._disk:
            return self._on_disk(partial(self._database.read, namespace, response_id), None)

    def item(self, namespace: str, item_id: str) -> Item | None:
        waiting = self._waiting.item(namespace, item_id)
        if waiting is not None:
            return waiting
        with self._disk:
            return self._on_disk(partial(self._database.item, namespace, item_id), None)

    def calling(self, namespace: str, call_id: str) -> str | None:
        waiting = self._waiting.calling(namespace, call_id)
        if waiting is not None:
            return waiting
        with self._disk:
            return self._on_disk(partial(self._database.calling, namespace, call_id), None)

    def delete(self, namespace: str, response_id: str) -> bool:
        with self._disk:
            waited = self._waiting.delete(namespace, response_id)
            return self._on_disk(partial(self._database.delete, namespace, response_id), False) or waited

    def close(self) -> None:
        with self._disk:
            self._database.close()

    def _write(self, namespace: str, stored: Stored) -> bool:
        self._database.write(namespace, stored)
        return True

    def _on_disk(self, use: Callable[[], T], otherwise: T) -> T:
        """What `use` gives, with a fresh file if the old one is unusable; `otherwise` when the disk fails."""
        try:
            try:
                found = use()
            except Unusable as error:
                aside = self._database.put_aside()
                self._tell(f"the file of kept responses is put aside as {aside}: {error}")
                found = use()
        except (Unusable, sqlite3.Error, OSError) as error:
            self._trouble_is(str(error))
            return otherwise
        self._trouble_is("")
        return found

    def _trouble_is(self, trouble: str) -> None:
        before, self._trouble = self._trouble, trouble
        if trouble and trouble != before:
            self._tell(f"responses are kept in memory only, the disk fails: {trouble}")
        elif before and not trouble:
            self._observe(Notice("responses are kept on disk again"))

    def _tell(self, text: str) -> None:
        self._observe(Notice(text, "warning"))
