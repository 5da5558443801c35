"""Readers of option values: text in, a value out, ValueError when it does not fit."""

import ipaddress
import re
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from ds4.formats.registry import FAMILIES

INT_MAX = 2**31 - 1


class EngineName(StrEnum):
    LLAMA = "llama"
    SCRIPTED = "scripted"


def integer(low: int, high: int = INT_MAX) -> Callable[[str], int]:
    """Plain decimal digits between `low` and `high`: no sign, no blanks, no separators."""

    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,10}", text):
            raise ValueError(text)
        value = int(text)
        if not low <= value <= high:
            raise ValueError(text)
        return value

    return read


def ipv4(text: str) -> str:
    """An IPv4 literal; `localhost` is 127.0.0.1. Names are never looked up."""
    if text == "localhost":
        return "127.0.0.1"
    return str(ipaddress.IPv4Address(text))


def path(text: str) -> Path:
    """Any path but the empty one, which would silently mean the working directory."""
    if not text.strip():
        raise ValueError(text)
    return Path(text)


def family_names() -> tuple[str, ...]:
    return tuple(sorted(family.name for family in FAMILIES))


def family(text: str) -> str:
    if text not in family_names():
        raise ValueError(text)
    return text
