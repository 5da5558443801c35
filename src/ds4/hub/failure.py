"""What went wrong between us and the hub, in one sentence each. Tokens and addresses of files never show."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from ds4.core.errors import ModelError
from ds4.hub.reference import HubReference
from ds4.hub.settings import HubSettings

_GET_TOKEN = "set HF_TOKEN or run 'hf auth login'"
_UNSEEN = {True: "the token may not see it", False: f"it is private: {_GET_TOKEN}"}
_REFUSED = {
    True: "the hub refuses the token (from HF_TOKEN, else from 'hf auth login')",
    False: f"the hub wants a token: {_GET_TOKEN}",
}


@contextmanager
def worded(reference: HubReference, settings: HubSettings, *, sends_token: bool) -> Iterator[None]:
    """Turns what the hub's library raises into ModelError."""
    try:
        yield
    except HfHubHTTPError as error:
        reason = _answer(error, reference, settings, sends_token)
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.UnsupportedProtocol) as error:
        reason = f"the hub at {settings.endpoint} cannot be reached: {_cause(error)}"
    except httpx2.TransportError as error:
        reason = f"the connection broke off ({_cause(error)}); start again to go on from where it stopped"
    except EntryNotFoundError:
        # What the library says when it got no answer about a file.
        reason = f"the hub at {settings.endpoint} cannot be reached"
    except OSError as error:
        cause = error.strerror or str(error).partition("\n")[0]
        reason = f"cannot write to {settings.cache_dir}: {cause.lower()}"
    else:
        return
    raise ModelError(f"{reference}: {reason}")


def _cause(error: httpx2.TransportError) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def _answer(error: HfHubHTTPError, reference: HubReference, settings: HubSettings, sends_token: bool) -> str:
    match error:
        case GatedRepoError():
            then = "" if sends_token else f", then {_GET_TOKEN}"
            return f"this repository is gated: accept its terms at {settings.endpoint}/{reference.repo}{then}"
        case RepositoryNotFoundError():
            return f"there is no such repository, or {_UNSEEN[sends_token]}"
        case RevisionNotFoundError():
            return f"the repository has no revision {reference.revision}"
        case EntryNotFoundError():
            return "the file is no longer in the repository"
    return _by_status(error.response.status_code, sends_token)


def _by_status(status: int, sends_token: bool) -> str:
    match status:
        case 401 | 403:
            return _REFUSED[sends_token]
        case 404:
            return f"there is no such repository, or {_UNSEEN[sends_token]}"
        case 429:
            return "the hub limits how often one may ask: try again later"
    return f"the hub answered {status}"
