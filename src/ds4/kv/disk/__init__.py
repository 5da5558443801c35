"""Checkpoints in a directory: deduplicated, bounded, shared between processes, safe against being killed.

`vault` does the work, on the calling thread; `store` is the thin shell of threads around it.
"""

from ds4.kv.disk.opening import open_store
from ds4.kv.disk.settings import DiskSettings
from ds4.kv.disk.store import DiskStore

__all__ = ["DiskSettings", "DiskStore", "open_store"]
