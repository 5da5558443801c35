"""Who is let in, decided from a request's head alone: host, origin, key, in this order."""

from dataclasses import dataclass, field

from starlette.types import Scope

from ds4.api.keys import Keyring
from ds4.api.origin import Hosts, check_host, check_origin

OPEN_PATHS = frozenset({"/health", "/ready"})
"""Load balancers and supervisors ask these, and have no keys."""
_NAMESPACE = "ds4_namespace"


@dataclass(frozen=True, slots=True)
class Access:
    """`cors`: pages of every origin are let in. The default is every program, and no page."""

    hosts: Hosts = field(default_factory=Hosts)
    keys: Keyring = field(default_factory=Keyring)
    cors: bool = False


def admit(access: Access, scope: Scope) -> None:
    """Notes the caller's namespace in `scope`. Raises BadRequest, Forbidden or Unauthorized."""
    headers, method = scope["headers"], scope["method"]
    host = check_host(headers, access.hosts, http_version=scope["http_version"])
    if not access.cors:
        check_origin(headers, host, method=method, scheme=scope["scheme"])
    # A browser asks with OPTIONS whether it may send the key at all.
    if method != "OPTIONS" and scope["path"] not in OPEN_PATHS:
        scope[_NAMESPACE] = access.keys.owner(headers)


def namespace_of(scope: Scope) -> str:
    """Reuse never crosses namespaces, and a caller sees only its own."""
    namespace: str = scope.get(_NAMESPACE, "")
    return namespace
