"""A regex of all strings but some.

It stands for "any other property name". The library's own way (additionalProperties beside properties) lets
a declared name through once more if it is spelled with `\\u` escapes; names that match a pattern cannot be
spelled in two ways. Where a name has a quote or a backslash, NUL is left out: see `takes_escapes`.
"""

from collections.abc import Collection

from ds4.constrain.schema.characters import code

MAX_CHARACTERS = 5_000
"""Of all names together."""
MAX_LENGTH = 100
"""Of one; the regex is nested as deep."""


def all_but(names: Collection[str]) -> str | None:
    """None if it would become too large."""
    if sum(map(len, names)) > MAX_CHARACTERS or max(map(len, names), default=0) > MAX_LENGTH:
        return None
    return f"^{_other_than(sorted(set(names)), 0)}$"


def _other_than(names: list[str], at: int) -> str:
    """All rests but those of `names`, which are sorted and the same up to `at`."""
    ends = bool(names) and len(names[0]) == at
    longer: dict[str, list[str]] = {}
    for name in names[ends:]:
        longer.setdefault(name[at], []).append(name)
    turns = [f"{code(ord(char))}{_other_than(inner, at + 1)}" for char, inner in longer.items()]
    guard = {"\0"} if not longer.keys().isdisjoint({'"', "\\"}) else set()
    another = (
        f"[^{''.join(code(ord(char)) for char in sorted(longer.keys() | guard))}]" if longer else "(?s:.)"
    )
    return f"(?:{'|'.join([f'{another}(?s:.*)', *turns])}){'' if ends else '?'}"
