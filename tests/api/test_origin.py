"""Host and Origin: what is let in, and that no bytes break the parsing."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.api.errors import Forbidden, Header
from ds4.api.origin import (
    Authority,
    Hosts,
    Origin,
    check_host,
    check_origin,
    parse_authority,
    parse_origin,
)
from ds4.core.errors import BadRequest

OURS = Authority("127.0.0.1", 8000, is_address=True)


def host(*found: bytes, hosts: Hosts | None = None, http_version: str = "1.1") -> Authority | None:
    return check_host([(b"host", value) for value in found], hosts or Hosts(), http_version=http_version)


def foreign(
    *headers: Header, method: str = "POST", host: Authority | None = OURS, scheme: str = "http"
) -> bool:
    try:
        check_origin(headers, host, method=method, scheme=scheme)
    except Forbidden:
        return True
    return False


@pytest.mark.parametrize(
    ("data", "parsed"),
    [
        (b"localhost", Authority("localhost")),
        (b"LocalHost:8000", Authority("localhost", 8000)),
        (b"localhost.:1", Authority("localhost", 1)),
        (b"my_box-2.example.org:65535", Authority("my_box-2.example.org", 65535)),
        (b"127.0.0.1:0", Authority("127.0.0.1", 0, is_address=True)),
        (b"127.0.0.1:", Authority("127.0.0.1", None, is_address=True)),
        (b"[::1]", Authority("::1", None, is_address=True)),
        (b"[0:0:0:0:0:0:0:1]:80", Authority("::1", 80, is_address=True)),
        (b"[FE80::A]:80", Authority("fe80::a", 80, is_address=True)),
        # Not an address in Host's grammar: a name, and so nothing anybody lets in.
        (b"2130706433", Authority("2130706433")),
        (b"127.1", Authority("127.1")),
        (b"0127.0.0.1", Authority("0127.0.0.1")),
    ],
)
def test_hosts_and_ports(data: bytes, parsed: Authority) -> None:
    assert parse_authority(data) == parsed


@pytest.mark.parametrize(
    "junk",
    [
        *(b"", b".", b":80", b"a b", b"a,b", b"a/b", b"user@a", b"a:b", b"a:80:80", b"a:-1", b"a:65536"),
        *(b"a:123456", b"::1", b"[::1", b"::1]", b"[]", b"[localhost]", b"[::1]80", b"[1.2.3.4]"),
        *(b"a\x00", b"a\n", b"\xff", "ä.de".encode(), "١".encode(), b"a%2e", b"http://a"),
    ],
)
def test_junk_is_no_host(junk: bytes) -> None:
    assert parse_authority(junk) is None
    with pytest.raises(BadRequest, match="bad Host header"):
        host(junk)


@given(st.binary(max_size=80))
def test_no_bytes_break_the_parsing(data: bytes) -> None:
    authority = parse_authority(data)
    assert authority is None or (authority.host and (authority.port or 0) <= 65535)
    origin = parse_origin(data)
    assert origin is None or origin.scheme in ("http", "https")


LABEL = st.from_regex(r"[a-z][a-z0-9_-]{0,10}", fullmatch=True)
NAMES = st.lists(LABEL, min_size=1, max_size=4).map(".".join)
PORTS = st.none() | st.integers(0, 65535)


def written(text: str, port: int | None) -> bytes:
    return (text if port is None else f"{text}:{port}").encode()


@given(NAMES, PORTS, st.booleans())
def test_a_name_comes_out_as_it_went_in(name: str, port: int | None, shout: bool) -> None:
    assert parse_authority(written(name.upper() if shout else name, port)) == Authority(name, port)


@given(st.ip_addresses(), PORTS)
def test_every_address_passes_whatever_its_port(
    address: "ipaddress.IPv4Address | ipaddress.IPv6Address", port: int | None
) -> None:
    text = f"[{address.exploded}]" if address.version == 6 else str(address)
    assert host(written(text, port)) == Authority(str(address), port, is_address=True)


@given(NAMES.filter(lambda name: name != "localhost"), PORTS)
def test_a_name_passes_only_when_it_was_allowed(name: str, port: int | None) -> None:
    with pytest.raises(Forbidden, match="--allow-host"):
        host(written(name, port))
    assert host(written(name, port), hosts=Hosts(frozenset({name}))) == Authority(name, port)
    assert host(written(name, port), hosts=Hosts(any_name=True)) == Authority(name, port)


@pytest.mark.parametrize("name", [b"localhost.evil.example", b"evil.localhost", b"127.0.0.1.evil.example"])
def test_a_name_that_looks_like_ours_is_not_ours(name: bytes) -> None:
    with pytest.raises(Forbidden):
        host(name)


def test_host_is_needed_once() -> None:
    with pytest.raises(BadRequest, match="missing Host header"):
        host()
    with pytest.raises(BadRequest, match="bad Host header"):
        host(b"localhost", b"evil.example")
    assert host(http_version="1.0") is None
    with pytest.raises(Forbidden):
        host(b"evil.example", http_version="1.0")


@pytest.mark.parametrize(
    ("data", "parsed"),
    [
        (b"http://localhost:3000", Origin("http", Authority("localhost", 3000))),
        (b"HTTPS://A.example", Origin("https", Authority("a.example"))),
        (b"http://[::1]:8000", Origin("http", Authority("::1", 8000, is_address=True))),
        (b"null", None),
        (b"", None),
        (b"vscode-webview://1a2b", None),
        (b"app://obsidian.md", None),
        (b"chrome-extension://abc", None),
        (b"file://", None),
        (b"http://", None),
        (b"http://a/", None),
        (b"http://a http://b", None),
        (b"a.example", None),
    ],
)
def test_origins(data: bytes, parsed: Origin | None) -> None:
    assert parse_origin(data) == parsed


@given(NAMES, PORTS, st.sampled_from(["http", "https"]))
def test_the_servers_own_origin_passes(name: str, port: int | None, scheme: str) -> None:
    origin = (b"origin", f"{scheme}://".encode() + written(name, port))
    assert not foreign(origin, host=Authority(name, port), scheme=scheme)
    assert foreign(origin, host=Authority(f"x{name}", port), scheme=scheme)
    assert foreign(origin, host=None, scheme=scheme)


@pytest.mark.parametrize(
    "origin",
    [
        *(b"http://evil.example", b"http://127.0.0.1", b"http://127.0.0.1:3000", b"http://localhost:8000"),
        *(b"http://127.0.0.1:8000.evil.example", b"https://evil.example:8000"),
        *(b"null", b"", b"file://", b"vscode-webview://1a2b", b"app://127.0.0.1:8000", b"127.0.0.1:8000"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_other_origins_are_foreign(origin: bytes, method: str) -> None:
    assert foreign((b"origin", origin), method=method)


def test_one_of_two_origins_is_not_enough() -> None:
    ours = (b"origin", b"http://127.0.0.1:8000")
    assert not foreign(ours)
    assert foreign(ours, (b"origin", b"http://evil.example"))


@pytest.mark.parametrize(
    ("origin", "scheme", "is_foreign"),
    [
        (b"http://a", "http", False),
        (b"http://a:80", "http", False),
        (b"https://a", "http", False),  # a proxy in front ends TLS
        (b"https://a", "https", False),
        (b"https://a:443", "https", False),
        (b"http://a", "https", True),
        (b"http://a:443", "http", True),
    ],
)
def test_default_ports_and_schemes(origin: bytes, scheme: str, is_foreign: bool) -> None:
    assert foreign((b"origin", origin), host=Authority("a"), scheme=scheme) == is_foreign


@pytest.mark.parametrize(
    ("method", "site", "mode", "is_foreign"),
    [
        ("GET", None, None, False),
        ("POST", None, "cors", False),  # Node's fetch sends the mode alone
        ("GET", b"none", "navigate", False),  # typed into the address bar
        ("GET", b"same-origin", "cors", False),
        ("GET", b"cross-site", "navigate", False),  # a link that was followed
        ("POST", b"cross-site", "navigate", True),
        ("GET", b"cross-site", "no-cors", True),  # an image, a script
        ("GET", b"same-site", "no-cors", True),  # another port of this machine
        ("GET", b"cross-site", None, True),
    ],
)
def test_without_an_origin_the_browser_says_whose_request_it_is(
    method: str, site: bytes | None, mode: str | None, is_foreign: bool
) -> None:
    headers: list[Header] = [(b"sec-fetch-site", site)] if site else []
    if mode:
        headers.append((b"sec-fetch-mode", mode.encode()))
    assert foreign(*headers, method=method) == is_foreign
