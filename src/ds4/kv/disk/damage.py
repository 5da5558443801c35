"""Looks for chunks that are not what was written."""

import numpy as np
import xxhash

from ds4.kv.disk.folder import Folder
from ds4.kv.disk.ledger import Ledger
from ds4.kv.disk.runs import Runs, merged, runs

_KEY_BYTES = 16


class Inspector:
    """Reads only."""

    def __init__(self, folder: Folder, ledger: Ledger) -> None:
        self._folder = folder
        self._ledger = ledger

    def damaged(self, number: int, among: Runs | None = None) -> Runs:
        """The chunks that differ from their keys, or cannot be read: those in use, or those in `among`."""
        segment = self._ledger.segments[number]
        asked = segment.users > 0 if among is None else segment.within(among)
        which = np.flatnonzero(asked & segment.sound)
        try:
            content = _Content(self._folder, number)
        except OSError:
            bad = which
        else:
            with content:
                bad = which[[not self._holds(content, number, one) for one in which.tolist()]]
        return merged(runs(number, segment.starts[bad], segment.chunks.lengths[bad]))

    def _holds(self, content: "_Content", number: int, chunk: int) -> bool:
        segment = self._ledger.segments[number]
        data = content.read(int(segment.starts[chunk]), int(segment.chunks.lengths[chunk]))
        return xxhash.xxh3_128_digest(data) == bytes(segment.chunks.keys[chunk])


class _Content:
    """Raises OSError when there is no file. What cannot be read is empty."""

    def __init__(self, folder: Folder, number: int) -> None:
        self._file = folder.segment(number).open("rb")

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, offset: int, length: int) -> bytes:
        try:
            self._file.seek(offset)
            return self._file.read(length)
        except OSError:
            return b""
