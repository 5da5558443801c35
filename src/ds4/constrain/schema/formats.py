"""The formats of strings that are enforced, by our own regex where the library's takes wrong strings.

Ours leave out some right ones: leap seconds, and host names in Punycode.
"""

from collections.abc import Mapping

_DAY = (
    r"(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    r"|02-(?:0[1-9]|1[0-9]|2[0-8]))"
    r"|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
)
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?(?:[zZ]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_LABEL = (
    "A(?:A|XA|X(?:AA|-A)|X(?:AX|-A)X{0,58}A)?".replace("X", "[%-]")
    .replace("A", "[%]")
    .replace("%", "a-zA-Z0-9")
)
"""No hyphens at its third and fourth place."""
_LONGEST_HOSTNAME = 253

_OWN: Mapping[str, dict[str, object]] = {
    "date": {"pattern": f"^{_DAY}$"},
    "date-time": {"pattern": f"^{_DAY}[tT]{_TIME}$"},
    "hostname": {"pattern": f"^{_LABEL}(?:\\.{_LABEL})*$", "maxLength": _LONGEST_HOSTNAME},
    "time": {"pattern": f"^{_TIME}$"},
}
FORMATS = frozenset([*_OWN, "duration", "email", "ipv4", "ipv6", "uri", "uuid"])

NUMBER_FORMATS = frozenset(
    [
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in ("", 8, 16, 32, 64)),
        "decimal",
        "double",
        "float",
    ]
)
"""OpenAPI's, of numbers: annotations."""


def format_leaf(name: str) -> dict[str, object]:
    """The strings of an enforced format, as a schema of the library's."""
    return {"type": "string", **_OWN.get(name, {"format": name})}
