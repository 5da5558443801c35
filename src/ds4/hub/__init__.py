"""Models from a Hugging Face hub: `-m hf:OWNER/REPO` becomes a file of the local cache. Start-up only."""

from ds4.hub.fetching import Fetched, fetch
from ds4.hub.meter import Meter, meter_on
from ds4.hub.reference import PREFIX, HubReference, parse_reference
from ds4.hub.settings import HubSettings

__all__ = [
    "PREFIX",
    "Fetched",
    "HubReference",
    "HubSettings",
    "Meter",
    "fetch",
    "meter_on",
    "parse_reference",
]
