"""How values are written in a log line.

Whatever is not printable is escaped, so that no text from outside can end a line, forge a key or steer a
terminal.
"""

import re

MIB = 1 << 20

_WORD = re.compile(r"[\w.:/+-]+")


def printable(text: str) -> str:
    """`text` with everything that could move a cursor, hide or reorder text written as an escape."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def value(text: str) -> str:
    """Quoted when it is not one plain word."""
    return text if _WORD.fullmatch(text) else quoted(text)


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def mib(size: int) -> str:
    return f"{size / MIB:.2f} MiB"


def ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
