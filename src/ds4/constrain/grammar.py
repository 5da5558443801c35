"""What the compiler takes: a grammar of the constraint library."""

from dataclasses import dataclass

from ds4.core.errors import BadRequest

LONGEST = 400_000
"""Characters of a grammar. The slowest known ones (tens of thousands of literals) take about a second at this
size; all tools of an agent are a quarter of it."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """`text` is the library's JSON form, a list of grammars of which the first begins.

    `dropped` names what of the caller's schemas is not enforced, as `path: keyword`.
    """

    text: str
    dropped: tuple[str, ...] = ()


def check_length(size: int, path: str) -> None:
    """Of a grammar or what becomes a part of it. Raises BadRequest."""
    if size > LONGEST:
        problem = f"the constraint is too large ({size} characters, {LONGEST} at most)"
        raise BadRequest(f"{path}: {problem}" if path else problem, param=path or None)
