"""What the compiler takes: a grammar of the constraint library."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grammar:
    """`text` is the library's JSON form, a list of grammars of which the first begins.

    `dropped` names what of the caller's schemas is not enforced, as `path: keyword`.
    """

    text: str
    dropped: tuple[str, ...] = ()
