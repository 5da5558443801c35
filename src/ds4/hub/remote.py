"""The hub itself: its listing of a repository, and its files."""

import hashlib
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import HfApi, constants, hf_hub_download, hf_hub_url
from huggingface_hub.hf_api import RepoSibling
from huggingface_hub.utils import WeakFileLock, build_hf_headers, disable_progress_bars

from ds4 import __version__
from ds4.core.errors import ModelError
from ds4.hub.cache import RepoCache
from ds4.hub.meter import Meter
from ds4.hub.models import HubFile
from ds4.hub.reference import HubReference
from ds4.hub.settings import HubSettings
from ds4.hub.transfer import Source, download
from ds4.observe.records import Notice

LIBRARY = "ds4-server"
TIMEOUT = 20.0
"""Seconds until the hub must have answered."""
PATIENCE = 1.0
"""Seconds to wait for another process before saying so."""
_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Listing:
    """A repository at one commit."""

    commit: str
    files: tuple[HubFile, ...]


class Hub:
    """Errors of the library and of the system come through as they are; `failure` words them."""

    def __init__(self, settings: HubSettings, sleep: Callable[[float], None] = time.sleep) -> None:
        self._settings = settings
        self._sleep = sleep
        # The library reads both from the environment, when it is imported.
        constants.HF_HUB_DISABLE_TELEMETRY = True
        disable_progress_bars()
        self._headers = build_hf_headers(
            token=settings.token, library_name=LIBRARY, library_version=__version__
        )

    @property
    def sends_token(self) -> bool:
        return "authorization" in self._headers

    def listing(self, reference: HubReference) -> Listing:
        api = HfApi(
            endpoint=self._settings.endpoint,
            token=self._settings.token,
            library_name=LIBRARY,
            library_version=__version__,
        )
        try:
            info = api.model_info(
                reference.repo, revision=reference.revision, timeout=TIMEOUT, files_metadata=True
            )
        except (ValueError, KeyError, TypeError):
            # Not JSON, or not the hub's: a mistyped HF_ENDPOINT, a login page of the network.
            raise ModelError(f"{reference}: what answers at {self._settings.endpoint} is not a hub") from None
        files = tuple(_file(entry) for entry in info.siblings or ())
        return Listing(info.sha or reference.revision, files)

    def fetch(self, reference: HubReference, commit: str, file: HubFile, meter: Meter) -> Path:
        """The file's path in the cache. Raises ModelError when what arrived is not what was listed."""
        if file.sha256 is not None:
            self._fill_blob(reference, commit, file, file.sha256, meter)
        # The blob is there by now: this only enters it under the file's name. Files that the hub does not
        # keep by content are small; the library downloads them whole.
        return Path(
            hf_hub_download(
                reference.repo,
                file.path,
                revision=reference.revision,
                cache_dir=self._settings.cache_dir,
                endpoint=self._settings.endpoint,
                token=self._settings.token,
                library_name=LIBRARY,
                library_version=__version__,
            )
        )

    def _fill_blob(
        self, reference: HubReference, commit: str, file: HubFile, sha256: str, meter: Meter
    ) -> None:
        # Not by hf_hub_download: it cannot resume what an earlier run left behind.
        cache = RepoCache(self._settings.cache_dir, reference.repo)
        blob, partial = cache.blob(sha256), cache.partial(sha256)
        if blob.exists():
            return
        url = hf_hub_url(reference.repo, file.path, revision=commit, endpoint=self._settings.endpoint)
        blob.parent.mkdir(parents=True, exist_ok=True)
        with _held(cache.lock(sha256), file, meter):
            if blob.exists():
                return
            download(Source(file.path, url, self._headers, file.size), partial, meter, self._sleep)
            meter.say(Notice(f"checking {file.path}"))
            if _sha256(partial) != sha256:
                partial.unlink()
                raise ModelError(
                    f"{reference}: {file.path} was damaged on the way: its checksum is wrong; "
                    "it was removed, start again to download it anew"
                )
            partial.replace(blob)


def _file(entry: RepoSibling) -> HubFile:
    # It becomes the name of a file here, so it is taken for nothing but what it must be.
    if entry.lfs and _SHA256.fullmatch(entry.lfs.sha256):
        return HubFile(entry.rfilename, entry.lfs.size, entry.lfs.sha256)
    return HubFile(entry.rfilename, entry.size or 0)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _held(lock: Path, file: HubFile, meter: Meter) -> Iterator[None]:
    """Alone among all processes that use this cache."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            stack.enter_context(WeakFileLock(lock, timeout=PATIENCE))
        except TimeoutError:
            meter.say(Notice(f"another process is downloading {file.path}, waiting for it"))
            stack.enter_context(WeakFileLock(lock))
        yield
