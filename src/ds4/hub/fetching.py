"""`-m hf:...` -> a file: from the cache, else from the hub."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.filesize import decimal

from ds4.core.errors import ModelError
from ds4.hub.cache import RepoCache, cached_files, free_bytes
from ds4.hub.choice import Chosen, choose
from ds4.hub.meter import Meter
from ds4.hub.reference import HubReference
from ds4.hub.settings import HubSettings
from ds4.observe.records import Notice

if TYPE_CHECKING:
    from ds4.hub.remote import Hub


@dataclass(frozen=True, slots=True)
class Fetched:
    """`path` is the model's first file; its other parts lie beside it. `why` completes the start line."""

    path: Path
    why: str


def fetch(
    reference: HubReference, settings: HubSettings, meter: Meter, sleep: Callable[[float], None] = time.sleep
) -> Fetched:
    """Asks the network only when the cache holds no model that the reference can mean.

    Raises ModelError with one sentence.
    """
    return _from_cache(reference, settings) or _from_hub(reference, settings, meter, sleep)


def _from_cache(reference: HubReference, settings: HubSettings) -> Fetched | None:
    cache = RepoCache(settings.cache_dir, reference.repo)
    files = cached_files(cache, reference)
    try:
        chosen = choose(files, reference)
    except ModelError as error:
        if settings.offline and files:
            note = "(of what is in the cache; HF_HUB_OFFLINE forbids to ask the hub)"
            raise ModelError(f"{error.message} {note}") from None
        return None
    snapshot = cache.snapshot(reference.revision)
    if snapshot is None:
        return None
    return Fetched(snapshot / chosen.files[0].path, f"{chosen.label} of {reference.address}, from the cache")


def _from_hub(
    reference: HubReference, settings: HubSettings, meter: Meter, sleep: Callable[[float], None]
) -> Fetched:
    if settings.offline:
        raise ModelError(
            f"{reference}: not in the cache {settings.cache_dir}, and HF_HUB_OFFLINE forbids to download it"
        )
    # Here, because importing it takes a fifth of a second, which a cached model need not pay.
    from ds4.hub.failure import worded
    from ds4.hub.remote import Hub

    hub = Hub(settings, sleep)
    with worded(reference, settings, sends_token=hub.sends_token):
        return _download(reference, settings, meter, hub)


def _download(reference: HubReference, settings: HubSettings, meter: Meter, hub: "Hub") -> Fetched:
    listing = hub.listing(reference)
    chosen = choose(listing.files, reference)
    needed = RepoCache(settings.cache_dir, reference.repo).still_to_come(chosen.files)
    free = free_bytes(settings.cache_dir)
    if needed > free:
        raise ModelError(
            f"{reference}: {chosen.label} needs {decimal(needed)} more in {settings.cache_dir}, "
            f"where {decimal(free)} are free; HF_HUB_CACHE names another folder"
        )
    meter.say(Notice(_announcement(reference, chosen, needed)))
    paths = [hub.fetch(reference, listing.commit, file, meter) for file in chosen.files]
    return Fetched(paths[0], f"{chosen.label} of {reference.address}, downloaded now")


def _announcement(reference: HubReference, chosen: Chosen, needed: int) -> str:
    parts = f"{len(chosen.files)} parts, " if len(chosen.files) > 1 else ""
    rest = "" if needed == chosen.size else f", {decimal(needed)} of them to download"
    others = f"; also there: {', '.join(chosen.others)}" if chosen.others else ""
    return f"{reference}: taking {chosen.label} ({parts}{decimal(chosen.size)}{rest}){others}"
