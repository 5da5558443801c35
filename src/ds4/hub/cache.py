"""The hub's cache folder, whose layout is shared with all other tools that use it.

    models--OWNER--REPO/
        refs/REVISION             the commit that a branch or tag stood for
        snapshots/COMMIT/PATH     links into blobs
        blobs/SHA256              contents; SHA256.incomplete while they arrive

Read here without the hub's own library, which takes a fifth of a second to import.
"""

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ds4.hub.models import HubFile
from ds4.hub.reference import HubReference


@dataclass(frozen=True, slots=True)
class RepoCache:
    """One repository's part of the cache."""

    root: Path
    repo: str

    @property
    def folder(self) -> Path:
        return self.root / self._name

    def blob(self, sha256: str) -> Path:
        return self.folder / "blobs" / sha256

    def partial(self, sha256: str) -> Path:
        return self.folder / "blobs" / f"{sha256}.incomplete"

    def lock(self, sha256: str) -> Path:
        """The lock under which this blob is written, by whatever tool."""
        return self.root / ".locks" / self._name / f"{sha256}.lock"

    def snapshot(self, revision: str) -> Path | None:
        """The folder of the commit that `revision` stood for when it was last looked up."""
        try:
            commit = (self.folder / "refs" / revision).read_text().strip()
        except OSError:
            commit = revision
        folder = self.folder / "snapshots" / commit
        return folder if folder.is_dir() else None

    def still_to_come(self, files: Iterable[HubFile]) -> int:
        """Bytes."""
        return sum(self._missing(file) for file in files)

    def _missing(self, file: HubFile) -> int:
        if file.sha256 is None:
            return file.size
        if self.blob(file.sha256).exists():
            return 0
        return max(0, file.size - size_of(self.partial(file.sha256)))

    @property
    def _name(self) -> str:
        return "--".join(("models", *self.repo.split("/")))


def files_in(snapshot: Path) -> tuple[HubFile, ...]:
    """Complete GGUF files; a link whose blob is gone does not count."""
    ggufs = (path for path in sorted(snapshot.rglob("*")) if path.suffix.lower() == ".gguf")
    whole = (path for path in ggufs if path.is_file())
    return tuple(HubFile(path.relative_to(snapshot).as_posix(), path.stat().st_size) for path in whole)


def cached_files(cache: RepoCache, reference: HubReference) -> tuple[HubFile, ...]:
    snapshot = cache.snapshot(reference.revision)
    return () if snapshot is None else files_in(snapshot)


def size_of(path: Path) -> int:
    """0 when there is no such file."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def free_bytes(folder: Path) -> int:
    """On the disk that holds `folder`, which need not exist yet."""
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free
