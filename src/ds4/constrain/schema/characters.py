"""Characters and classes of them, as the library's regexes write them."""

import re

SETS = {
    "d": "0-9",
    "w": "0-9A-Za-z_",
    "s": "\\t-\\r \\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{3000}\\x{FEFF}",
}
"""The members of ECMA-262's classes."""
ANY_OF_A_LINE = "^\\n\\r\\x{2028}\\x{2029}"
_CONTROLS = frozenset(range(32)) - {10}
_ESCAPED = frozenset(b'"\\')


def code(point: int) -> str:
    """In a class or outside."""
    char = chr(point)
    return char if char.isascii() and char.isalnum() else f"\\x{{{point:X}}}"


def ascii_members(members: str) -> frozenset[int]:
    """Of what ECMA-262 writes with one letter. For a Unicode property a guess, see `takes_escapes`."""
    if members[0] == "\\" and members[1] in "pP":
        return _CONTROLS
    found = re.compile(f"[{re.sub(r'.x.([0-9A-F]+).', '', members)}]")
    return frozenset(point for point in range(128) if found.match(chr(point)))


def takes_escapes(classes: list[frozenset[int]]) -> bool:
    """Whether the library might let one of these classes have a character that it has not.

    In JSON strings it takes the escapes of quote and backslash for members of every class that has all
    control characters (LF or not). It is enough that one of those is missing: NUL, which then is missing in
    the whole pattern, since classes that stand side by side become one.
    """
    return frozenset().union(*(members for members in classes if not members >= _ESCAPED)) >= _CONTROLS
