"""What never enters a trace: keys, tokens, cookies. Pure.

What a header is called decides, and rather one too many is left out: what a client sends under a name that
nobody knows may be a key.
"""

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlencode

_SECRET = re.compile(r"auth|key|token|secret|cookie|passw|credential|signature|session-id", re.IGNORECASE)
HIDDEN = "hidden"

Header = tuple[bytes, bytes]


def is_secret(name: str) -> bool:
    return _SECRET.search(name) is not None


def clean_headers(headers: Iterable[Header]) -> list[list[str]]:
    """Name and value of those that may be kept."""
    pairs = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)
    return [[name, value] for name, value in pairs if not is_secret(name)]


def clean_query(query: bytes) -> str:
    """Values of names that look secret are replaced; without any, the query as it was sent."""
    text = query.decode("latin-1")
    pairs = parse_qsl(text, keep_blank_values=True)
    if not any(is_secret(name) for name, _ in pairs):
        return text
    return urlencode([(name, HIDDEN if is_secret(name) else value) for name, value in pairs])
