"""The formats of JSON schema that the library knows by itself, as regexes of the whole string.

Never more than the library allows, at rare places less.
"""

from collections.abc import Mapping
from types import MappingProxyType

_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_HOST = rf"{_LABEL}(?:\.{_LABEL})*"
_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_HEX = "[0-9a-fA-F]{1,4}"
_ATOM = r"[a-zA-Z0-9!#$%&'*+\-/=?\^_`{|}~]+"
_URI = "(?:[a-zA-Z0-9\\-._~!$&'()*+,;=:@]|%[0-9a-fA-F]{2})"
_CLOCK = "[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S"
_DAYS = "[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D"

TEXT_FORMATS: Mapping[str, str] = MappingProxyType(
    {
        "duration": f"P(?:[0-9]+W|(?:{_DAYS})(?:T(?:{_CLOCK}))?|T(?:{_CLOCK}))",
        "email": rf"{_ATOM}(?:\.{_ATOM})*@{_HOST}",
        "ipv4": rf"{_BYTE}(?:\.{_BYTE}){{3}}",
        "ipv6": "|".join(
            [
                f"(?:{_HEX}:){{7}}{_HEX}",
                *(
                    f"(?:{_HEX}(?::{_HEX}){{0,{left}}})?::(?:{_HEX}(?::{_HEX}){{0,{5 - left}}})?"
                    for left in range(6)
                ),
            ]
        ),
        "uri": (
            rf"[a-zA-Z][a-zA-Z0-9+\-.]*:(?://{_HOST}(?::[0-9]{{1,4}})?(?:/{_URI}*)*|/?{_URI}+(?:/{_URI}*)*)"
            rf"(?:\?(?:{_URI}|[/?])*)?(?:\#(?:{_URI}|[/?])*)?"
        ),
        "uuid": "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    }
)
