"""Which names a format can write so that its reader gives them back."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from ds4.formats.written import Names

_READABLE: Mapping[Names, re.Pattern[str]] = MappingProxyType(
    {
        Names.WORD: re.compile(r"[\w.:-]{1,128}"),
        Names.BARE: re.compile(r"[^\s<>{}\[\]\"'`]{1,128}"),
        Names.LINE: re.compile(r"[^\s<](?:[^<\n]{0,254}[^\s<])?"),
        Names.ATTRIBUTE: re.compile(r"[^\x00-\x1f]{1,128}"),
        Names.JSON: re.compile(r'[^"\\\x00-\x1f]{1,256}'),
    }
)
OTHER = "[A-Za-z_][A-Za-z0-9_.-]{0,63}"
"""A regex: names that a model may make up. Every format can write these."""


def is_readable(name: str, names: Names) -> bool:
    return _READABLE[names].fullmatch(name) is not None
