"""Which requests may come from a web page: the Host and Origin headers. Pure.

A browser lets any page send requests to this machine. Two rules keep them out:
- Host must not be a name this server was not told: a page whose own name was pointed at this
  machine (DNS rebinding) passes for one of ours, but its requests still carry its name.
- Origin must be this server itself. Requests without one come from programs, or from a browser
  that says in Sec-Fetch-Site whose they are.
"""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ds4.api.errors import Forbidden, Header
from ds4.core.errors import BadRequest

LOCAL = "localhost"
PORTS = {"http": 80, "https": 443}
# Brackets around IPv6, as in URLs. Host names are what browsers send: ASCII, internationalised ones encoded.
_AUTHORITY = re.compile(rb"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::([0-9]{0,5}))?")
_ORIGIN = re.compile(rb"(https?)://(.+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Authority:
    """HOST[:PORT]. `host` is a name in lower case without a final dot, or an address in its usual form."""

    host: str
    port: int | None = None
    is_address: bool = False


@dataclass(frozen=True, slots=True)
class Origin:
    scheme: str
    authority: Authority


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names this server goes by. Addresses need no entry: nobody can point one elsewhere."""

    names: frozenset[str] = field(default_factory=frozenset)
    any_name: bool = False

    def know(self, authority: Authority) -> bool:
        known = self.any_name or authority.host in self.names
        return known or authority.is_address or authority.host == LOCAL


def parse_authority(data: bytes) -> Authority | None:
    """None for what is no HOST[:PORT]."""
    match = _AUTHORITY.fullmatch(data)
    if match is None:
        return None
    v6, name, digits = match.groups()
    port = int(digits) if digits else None
    if port is not None and port > 65535:
        return None
    host = (v6 or name).decode("ascii").lower().removesuffix(".")
    address = _address(host)
    if address is not None and (address.version == 6) == bool(v6):
        return Authority(str(address), port, is_address=True)
    return Authority(host, port) if name and host else None


def _address(text: str) -> "ipaddress.IPv4Address | ipaddress.IPv6Address | None":
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def parse_origin(data: bytes) -> Origin | None:
    """None for `null` and for the origins of apps and extensions: they are nobody's server."""
    match = _ORIGIN.fullmatch(data)
    authority = match and parse_authority(match[2])
    return Origin(match[1].decode().lower(), authority) if match and authority else None


def check_host(headers: Iterable[Header], hosts: Hosts, *, http_version: str) -> Authority | None:
    """Where the request was sent; None when it need not say. Raises BadRequest or Forbidden."""
    found = values(headers, b"host")
    if not found and http_version == "1.0":
        return None
    if not found:
        raise BadRequest("missing Host header")
    authority = parse_authority(found[0]) if len(found) == 1 else None
    if authority is None:
        raise BadRequest("bad Host header")
    if not hosts.know(authority):
        raise Forbidden(
            f"{authority.host} is not a name of this server; if it should be, start ds4-server with "
            f"--allow-host {authority.host}"
        )
    return authority


def check_origin(headers: Iterable[Header], host: Authority | None, *, method: str, scheme: str) -> None:
    """`host` and `scheme` are where the request arrived. Raises Forbidden."""
    headers = tuple(headers)
    origins = values(headers, b"origin")
    ours = _is_same(origins, host, scheme) if origins else _is_wanted(headers, method)
    if not ours:
        raise Forbidden("web pages of other origins are refused; start ds4-server with --cors to let them in")


def values(headers: Iterable[Header], name: bytes) -> list[bytes]:
    """Every value of one header. ASGI names are lower case."""
    return [value.strip(b" \t") for key, value in headers if key == name]


def _is_same(origins: list[bytes], host: Authority | None, scheme: str) -> bool:
    origin = parse_origin(origins[0]) if len(origins) == 1 else None
    if origin is None or host is None:
        return False
    # https in front of our http is a proxy that ends TLS; the other way round is another origin.
    if scheme == "https" != origin.scheme:
        return False
    return _place(origin.authority, origin.scheme) == _place(host, origin.scheme)


def _place(authority: Authority, scheme: str) -> tuple[str, int]:
    port = PORTS[scheme] if authority.port is None else authority.port
    return authority.host, port


def _is_wanted(headers: Iterable[Header], method: str) -> bool:
    """No Origin: a program, or a browser's GET. Of another site's, only a link that was followed."""
    headers = tuple(headers)
    if not {b"cross-site", b"same-site"} & set(values(headers, b"sec-fetch-site")):
        return True
    return method in ("GET", "HEAD") and values(headers, b"sec-fetch-mode") == [b"navigate"]
