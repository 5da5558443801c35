"""A regex of all texts in which none of some tags stands.

The library could be told "not a text with one of them in it", but what that costs grows fast with the number
of tags and with what else is demanded of the text. Tags begin with a character that none of them has further
on: so a text is a row of stretches, each of which begins with such a character and does not go on like a tag.
"""

from collections.abc import Iterable

from ds4.constrain.lark import plain, regex


def without(tags: Iterable[str], *, some: bool = False) -> str:
    """A terminal. `some`: the text is not empty. Raises ValueError on tags that are not as said above."""
    shortest = _without_longer(tags)
    heads = {tag[0] for tag in shortest}
    if any(char in heads for tag in shortest for char in tag[1:]):
        raise ValueError(f"a tag begins inside another: {shortest}")
    rests = {head: [tag[1:] for tag in shortest if tag[0] == head] for head in sorted(heads)}
    stretches = [plain(head) + _unlike(rest, heads) for head, rest in rests.items() if "" not in rest]
    other = f"[^{_listed(heads)}]" if heads else "(?s:.)"
    if not stretches:
        return regex(f"{other}{'+' if some else '*'}")
    piece = f"(?:{'|'.join(stretches)})"
    return regex(f"(?:{other}+{piece}*|{piece}+)" if some else f"{other}*{piece}*")


def _unlike(rests: list[str], heads: set[str]) -> str:
    """What a stretch may be behind its head: up to the next head, and not beginning with one of `rests`."""
    other = f"[^{_listed(heads)}]*"
    after: dict[str, list[str]] = {}
    for rest in rests:
        after.setdefault(rest[0], []).append(rest[1:])
    turns = [f"[^{_listed(heads | after.keys())}]{other}"]
    for char, inner in after.items():
        if "" not in inner:
            turns.append(plain(char) + _unlike(inner, heads))
    return f"(?:{'|'.join(turns)})?"


def _listed(chars: Iterable[str]) -> str:
    return "".join(map(plain, sorted(chars)))


def _without_longer(tags: Iterable[str]) -> list[str]:
    """Without those that hold another."""
    kept: list[str] = []
    for tag in sorted(set(filter(None, tags)), key=lambda tag: (len(tag), tag)):
        if not any(short in tag for short in kept):
            kept.append(tag)
    return kept
