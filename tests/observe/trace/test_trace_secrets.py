"""Keys and cookies never enter a trace."""

import json
from collections.abc import Callable

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.observe.trace.secrets import clean_headers, clean_query, secrets_in, without

NAMES = (b"authorization", b"Authorization", b"x-api-key", b"cookie", b"set-cookie", b"x-goog-api-key")
MORE = (b"proxy-authorization", b"x-auth-token", b"x-amz-security-token", b"X-Claude-Code-Session-Id")


@pytest.mark.parametrize("name", NAMES + MORE)
def test_secret_headers_are_left_out(name: bytes) -> None:
    assert clean_headers([(name, b"sk-1"), (b"accept", b"*/*")]) == [["accept", "*/*"]]


def test_a_query_without_secrets_stays_as_it_was() -> None:
    assert clean_query(b"beta=true&x=%20+") == "beta=true&x=%20+"


@given(
    st.sampled_from(["api_key", "access_token", "key", "Signature"]),
    st.from_regex(r"sk-[0-9]{4,9}", fullmatch=True),
)
def test_secrets_of_a_query_are_replaced(name: str, secret: str) -> None:
    shown = clean_query(f"beta=true&{name}={secret}".encode())
    assert secret not in shown
    assert shown.startswith("beta=true&")


MCP = {
    "type": "mcp",
    "server_label": "wiki",
    "authorization": "sk-1",
    "headers": {"X-Api-Key": "sk-\u00e9/2"},
}
BODIES = (
    {"input": "sk-1", "tools": [MCP, {"type": "function", "name": "f"}]},
    {"messages": [], "mcp_servers": [{"type": "url", "url": "u", "authorization_token": "sk-1"}]},
)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("write", [orjson.dumps, lambda body: json.dumps(body, indent=1).encode()])
def test_keys_for_other_servers_are_hidden(body: object, write: Callable[[object], bytes]) -> None:
    written = write(body)
    shown = without(secrets_in(written), written)
    assert len(shown) == len(written)
    assert b"sk-" not in shown
    assert orjson.loads(shown).keys() == orjson.loads(written).keys()


@pytest.mark.parametrize(
    "body",
    [
        b'{"tools":[{"type":"function","name":"mcp__a__b","parameters":{"token":"x"}}]}',
        b'{"messages":[{"role":"user","content":"{\\"type\\":\\"mcp\\",\\"authorization\\":\\"a\\"}"}]}',
        b'{"mcp_servers": [',
        b'["mcp_servers"]',
        b'{"tools":{"type":"mcp"}}',
    ],
)
def test_a_body_without_them_stays_as_it_was(body: bytes) -> None:
    assert without(secrets_in(body), body) == body
