"""The command line -> a Config, or the text that was asked for. Prints nothing, exits nowhere."""

import difflib
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ds4 import __version__
from ds4.config.help import help_text
from ds4.config.option import Option
from ds4.config.table import OPTIONS, Config
from ds4.config.values import EngineName
from ds4.core.errors import OptionError
from ds4.engine.llama.options import FlashAttention, KvType

HELP = ("-h", "--help")
VERSION = "--version"


@dataclass(frozen=True, slots=True)
class HelpRequest:
    """What to print on stdout instead of serving; then exit with 0."""

    text: str


def parse(argv: Sequence[str]) -> Config | HelpRequest:
    """`argv` without the program's name. Raises OptionError.

    An option given twice: the last one counts, unless it is one that may be repeated.
    """
    words = deque(argv)
    values: dict[str, Any] = {}
    while words:
        name, inline = _split(words.popleft())
        if name in HELP:
            return HelpRequest(help_text(_topic(inline, words)))
        if name == VERSION:
            return HelpRequest(f"ds4-server {__version__}\n")
        row = _find(name)
        value = _value(row, name, inline, words)
        values[row.attribute] = (*values.get(row.attribute, ()), value) if row.many else value
    config = Config(**values, given=frozenset(values))
    _check_combinations(config)
    return config


def _split(word: str) -> tuple[str, str | None]:
    if word.startswith("--") and "=" in word:
        name, _, value = word.partition("=")
        return name, value
    return word, None


def _topic(inline: str | None, words: deque[str]) -> str | None:
    if inline is not None:
        return inline
    return words.popleft() if words and not words[0].startswith("-") else None


def _spellings(row: Option) -> tuple[str, ...]:
    return (*row.names, *(name for name, _ in row.shorthands))


def _known() -> list[str]:
    return [name for row in OPTIONS for name in _spellings(row)] + [*HELP, VERSION]


def _find(name: str) -> Option:
    for row in OPTIONS:
        if name in _spellings(row):
            return row
    near = difflib.get_close_matches(name, _known(), n=1, cutoff=0.8)
    raise OptionError(f"unknown option: {name}" + (f" (did you mean {near[0]}?)" if near else ""))


def _value(row: Option, name: str, inline: str | None, words: deque[str]) -> object:
    fixed = dict(row.shorthands).get(name)
    if row.metavar is None or fixed is not None:
        if inline is not None:
            raise OptionError(f"invalid value for {name}: {inline} (it takes none)")
        return True if fixed is None else row.read(fixed)
    text = _next_word(name, words) if inline is None else inline
    try:
        return row.read(text)
    except ValueError:
        shown = "it may hold only visible ASCII characters" if row.secret else text
        raise OptionError(f"invalid value for {name}: {shown}") from None


def _next_word(name: str, words: deque[str]) -> str:
    # Another option in the value's place is a forgotten value, not a file called --port.
    if not words or _split(words[0])[0] in _known():
        raise OptionError(f"missing value for {name}")
    return words.popleft()


def _check_combinations(config: Config) -> None:
    scripted = config.engine is EngineName.SCRIPTED
    if scripted and config.script is None:
        raise OptionError("--engine scripted needs --script FILE")
    if config.trace_redact and config.trace is None:
        raise OptionError("--trace-redact needs --trace FILE")
    if config.script is not None and not scripted:
        raise OptionError(f"--script {config.script} needs --engine scripted")
    _check_cache(config)
    if config.kv_type is KvType.Q8_0 and config.flash_attn is FlashAttention.OFF:
        raise OptionError("--kv-type q8_0 needs flash attention, which --flash-attn off forbids")
    if (config.tls_cert is None) != (config.tls_key is None):
        given, other = ("--tls-cert", "--tls-key") if config.tls_cert else ("--tls-key", "--tls-cert")
        raise OptionError(f"{given} {config.tls_cert or config.tls_key} needs {other} FILE")


def _check_cache(config: Config) -> None:
    low, high = config.kv_cache_min_tokens, config.kv_cache_cold_max_tokens
    if 0 < high < low:
        raise OptionError(
            f"--kv-cache-cold-max-tokens {high} is below --kv-cache-min-tokens {low}; 0 turns such writes off"
        )
