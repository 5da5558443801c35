"""Keys and cookies never enter a trace."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.observe.trace.secrets import clean_headers, clean_query

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
