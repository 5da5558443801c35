"""Readers of option values: text in, a value out, ValueError when it does not fit."""

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from ds4.api.normalise import SWITCHES
from ds4.formats.registry import FAMILIES
from ds4.formats.tools.registry import TOOL_FORMATS
from ds4.hub import PREFIX, HubReference, parse_reference

INT_MAX = 2**31 - 1


class EngineName(StrEnum):
    LLAMA = "llama"
    SCRIPTED = "scripted"


@dataclass(frozen=True, slots=True)
class Secret:
    """A text that no message, log line or repr may show."""

    text: str = field(repr=False)


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


def host_name(text: str) -> str:
    """A host name as it comes in a Host header, without a port."""
    name = text.lower().removesuffix(".")
    if not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", name) or len(name) > 253:
        raise ValueError(text)
    return name


def api_key(text: str) -> Secret:
    """What fits into a header as it is: no blanks, no umlauts."""
    if not re.fullmatch(r"[!-~]+", text):
        raise ValueError("not a key")
    return Secret(text)


def model_source(text: str) -> Path | HubReference:
    """A file, or hf:OWNER/REPO of a Hugging Face hub. Raises OptionError on a malformed reference."""
    return parse_reference(text) if text.startswith(PREFIX) else path(text)


def path(text: str) -> Path:
    """Any path but the empty one, which would silently mean the working directory."""
    if not text.strip():
        raise ValueError(text)
    return Path(text)


def family_names() -> tuple[str, ...]:
    return tuple(sorted(family.name for family in FAMILIES))


def normalisation_names() -> tuple[str, ...]:
    return SWITCHES


def normalisation(text: str) -> str:
    if text not in SWITCHES:
        raise ValueError(text)
    return text


def tool_format_names() -> tuple[str, ...]:
    return tuple(sorted(tool_format.name for tool_format in TOOL_FORMATS))


def tool_format(text: str) -> str:
    if text not in tool_format_names():
        raise ValueError(text)
    return text


def family(text: str) -> str:
    if text not in family_names():
        raise ValueError(text)
    return text
