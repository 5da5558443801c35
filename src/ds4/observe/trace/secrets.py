"""What never enters a trace: keys, tokens, cookies. Pure.

What a header is called decides, and rather one too many is left out: what a client sends under a name that
nobody knows may be a key. In a body only those fields are looked at that hold keys by design.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from urllib.parse import parse_qsl, urlencode

import orjson

_SECRET = re.compile(r"auth|key|token|secret|cookie|passw|credential|signature|session-id", re.IGNORECASE)
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_SERVERS = re.compile(rb'"mcp_servers"|"type"\s*:\s*"mcp"')
"""Without them nobody has to parse a body twice."""
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


def secrets_in(body: bytes) -> frozenset[str]:
    """What a request's body says for other servers alone: keys for MCP servers, in the fields where the APIs
    have them."""
    if _SERVERS.search(body) is None:
        return frozenset()
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return frozenset()
    entries = _entries(found)
    return frozenset(text for entry in entries for text in _for_others(entry) if text)


def without(secrets: Collection[str], body: bytes) -> bytes:
    """`body` with x for each of their characters, wherever one of them is a whole JSON string."""

    def hide(found: re.Match[bytes]) -> bytes:
        written = found.group()
        return b'"' + b"x" * (len(written) - 2) + b'"' if _text(written) in secrets else written

    return _STRING.sub(hide, body) if secrets else body


def _entries(body: object) -> Iterator[dict[str, object]]:
    """MCP servers, as Anthropic's clients and as OpenAI's name them."""
    if not isinstance(body, dict):
        return
    for name in ("mcp_servers", "tools"):
        entries = body.get(name)
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and (name != "tools" or entry.get("type") == "mcp"):
                yield entry


def _for_others(entry: dict[str, object]) -> Iterator[str]:
    headers = entry.get("headers")
    for named in (entry, headers if isinstance(headers, dict) else {}):
        for name, value in named.items():
            if isinstance(value, str) and is_secret(name):
                yield value


def _text(written: bytes) -> object:
    try:
        return orjson.loads(written)
    except orjson.JSONDecodeError:
        return None
