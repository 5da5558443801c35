"""From settings to a running store, or to none: a server without its cache directory still serves."""

import sqlite3

from ds4.core.ports import Clock
from ds4.core.step import Identity, Trim
from ds4.kv.disk.chunks import chunk_size
from ds4.kv.disk.folder import Folder, Unusable
from ds4.kv.disk.index import ModelRow
from ds4.kv.disk.reading import Reader
from ds4.kv.disk.settings import DiskSettings
from ds4.kv.disk.store import DiskStore
from ds4.kv.disk.vault import User, Vault
from ds4.observe.records import Notice, Observer


def open_store(
    settings: DiskSettings,
    identity: Identity,
    *,
    row_bytes: int,
    trim: Trim,
    clock: Clock,
    observe: Observer,
) -> DiskStore | None:
    """Reads the directory on this thread, then starts the store's own; None with a Notice where it cannot.

    `row_bytes` is about what a FULL snapshot grows by per row: it decides how states are cut, for as long as
    the directory has any of this model. `trim` is how far this model's memory can be cut back.
    `observe` is called from the store's threads too.
    """
    user = User(identity, ModelRow(chunk_size(row_bytes), any_length=trim is Trim.ANY))
    try:
        vault = Vault(settings, user, clock, observe)
    except (OSError, sqlite3.Error, Unusable) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        observe(Notice(f"no cache on disk: {settings.directory}: {why}", "warning"))
        return None
    reader = Reader(Folder(settings.directory), identity, any_quant=not settings.reject_other_quant)
    return DiskStore(vault, reader, settings, clock, observe)
