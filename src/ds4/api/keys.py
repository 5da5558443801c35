"""API keys. Only digests are kept, and a caller's namespace is made of its key.

Rules:
- A presented key is hashed and compared with every digest, in constant time: how long it takes says nothing.
- No key, and no part of one, is in any message, log line or repr.
- The namespace is the same in every run, so that what is kept on disk finds its owner again.
"""

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field

from ds4.api.errors import Header, Unauthorized
from ds4.api.origin import values

NAMESPACE_CHARS = 32


@dataclass(frozen=True, slots=True)
class _Entry:
    digest: bytes = field(repr=False)
    namespace: str


@dataclass(frozen=True, slots=True)
class Keyring:
    """The keys that are accepted; without any, everybody is let in and all share one namespace."""

    entries: tuple[_Entry, ...] = ()

    @classmethod
    def of(cls, keys: Iterable[str]) -> "Keyring":
        return cls(tuple(_Entry(_digest(key.encode()), namespace(key)) for key in dict.fromkeys(keys)))

    @property
    def locked(self) -> bool:
        return bool(self.entries)

    def owner(self, headers: Iterable[Header]) -> str:
        """The namespace of the key in `headers`. Raises Unauthorized."""
        if not self.locked:
            return ""
        presented = _presented(tuple(headers))
        if not presented:
            raise Unauthorized("missing API key: send it as `Authorization: Bearer KEY` or `x-api-key: KEY`")
        found = [name for key in presented for name in self._matches(key)]
        if not found:
            raise Unauthorized("the API key is not one of this server's", presented=True)
        return found[0]

    def _matches(self, key: bytes) -> list[str]:
        digest = _digest(key)
        return [entry.namespace for entry in self.entries if hmac.compare_digest(digest, entry.digest)]


def namespace(key: str) -> str:
    return hmac.digest(b"ds4 namespace", key.encode(), "sha256").hex()[:NAMESPACE_CHARS]


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()


def _presented(headers: tuple[Header, ...]) -> list[bytes]:
    """Clients choose between two headers, and some send both."""
    bearers = [value.split(None, 1) for value in values(headers, b"authorization")]
    tokens = [words[1] for words in bearers if len(words) == 2 and words[0].lower() == b"bearer"]
    return [*tokens, *filter(None, values(headers, b"x-api-key"))]
