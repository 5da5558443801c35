import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.api.errors import Header, Unauthorized, headers_of
from ds4.api.keys import Keyring, namespace

KEYS = ("first-key", "second-key")
RING = Keyring.of(KEYS)


def bearer(key: str, scheme: str = "Bearer") -> Header:
    return b"authorization", f"{scheme} {key}".encode()


def x_api_key(key: str) -> Header:
    return b"x-api-key", key.encode()


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer  "])
def test_both_headers_carry_a_key(key: str, scheme: str) -> None:
    assert RING.owner([bearer(key, scheme)]) == RING.owner([x_api_key(key)]) == namespace(key)


def test_a_right_key_is_found_among_wrong_ones() -> None:
    assert RING.owner([bearer("wrong"), x_api_key("second-key")]) == namespace("second-key")
    assert RING.owner([x_api_key("first-key"), (b"authorization", b"Basic eDp5")]) == namespace("first-key")


@pytest.mark.parametrize(
    "headers",
    [[], [(b"authorization", b"")], [(b"authorization", b"Bearer")], [(b"x-api-key", b" ")]],
)
def test_no_key(headers: list[Header]) -> None:
    with pytest.raises(Unauthorized, match="missing API key") as caught:
        RING.owner(headers)
    assert (b"www-authenticate", b'Bearer realm="ds4"') in headers_of(caught.value)


@pytest.mark.parametrize(
    "key", ["first-ke", "first-keyy", "FIRST-KEY", "first-key second-key", "first-key,", "\xff"]
)
def test_a_wrong_key_is_not_repeated(key: str) -> None:
    for header in (bearer(key), x_api_key(key)):
        with pytest.raises(Unauthorized) as caught:
            RING.owner([header])
        assert key not in caught.value.message
        assert (b"www-authenticate", b'Bearer realm="ds4", error="invalid_token"') in headers_of(caught.value)


@given(st.lists(st.tuples(st.sampled_from([b"authorization", b"x-api-key"]), st.binary()), max_size=5))
def test_no_bytes_break_it_or_get_in(headers: list[Header]) -> None:
    with pytest.raises(Unauthorized):
        RING.owner(headers)
    assert Keyring().owner(headers) == ""


def test_namespaces_differ_and_give_no_key_away() -> None:
    names = {namespace(key) for key in KEYS}
    assert len(names) == 2
    # The same in every run: what is kept on disk must find its owner again.
    assert namespace("first-key") == "c8c5058f35c76c32e6e27a227c109b3b"
    assert not any(key in repr(RING) for key in KEYS)


def test_a_key_given_twice_is_one() -> None:
    assert Keyring.of(["a", "a"]) == Keyring.of(["a"])
