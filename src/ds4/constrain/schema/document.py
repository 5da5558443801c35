"""The caller's schema with its places: by them errors are named and references found."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

Schema = bool | Mapping[str, object]
Key = str | int
_OLD = ("/draft-03/", "/draft-04/", "/draft-05/", "/draft-06/", "/draft-07/")


@dataclass(frozen=True, slots=True)
class Place:
    """A value inside the document. Two places are the same by where they are."""

    keys: tuple[Key, ...]
    value: object = field(compare=False, repr=False)

    def child(self, *keys: Key) -> "Place":
        value = self.value
        for key in keys:
            value = _inside(value, key)
        return Place(self.keys + keys, value)


class Document:
    """`path` is the request's field in which the schema stands."""

    def __init__(self, root: object, path: str) -> None:
        self.root = Place((), root)
        self._path = path
        dialect = root.get("$schema") if isinstance(root, dict) else None
        self.refs_stand_alone = isinstance(dialect, str) and any(old in dialect for old in _OLD)
        """Up to draft 7 what stands beside `$ref` is ignored."""
        self._anchors: dict[str, Place] | None = None

    def name(self, place: Place, *keys: Key) -> str:
        """As "tools.0.function.parameters.properties.x"."""
        return ".".join(part for part in (self._path, *map(str, place.keys), *map(str, keys)) if part)

    def target(self, reference: str, source: Place) -> Place | None:
        """What a `$ref` at `source` means; None if it is not in this document."""
        base, _, fragment = reference.partition("#")
        own = self.root.value.get("$id") if isinstance(self.root.value, dict) else None
        if (base and base != own) or self._has_other_base(source):
            return None
        fragment = unquote(fragment)
        if fragment in ("", "/"):
            return self.root
        if not fragment.startswith("/"):
            return self._anchor(fragment)
        return self._pointed(fragment)

    def _pointed(self, pointer: str) -> Place | None:
        place = self.root
        for part in pointer[1:].split("/"):
            key: Key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(place.value, list) and part.isdecimal() and len(part) < 9:
                key = int(part)
            try:
                place = place.child(key)
            except (KeyError, IndexError, TypeError):
                return None
        return None if self._has_other_base(place) else place

    def _has_other_base(self, place: Place) -> bool:
        value = self.root.value
        for key in place.keys:
            value = _inside(value, key)
            base = value.get("$id", "#") if isinstance(value, dict) else "#"
            if isinstance(base, str) and not base.startswith("#"):
                return True
        return False

    def _anchor(self, name: str) -> Place | None:
        if self._anchors is None:
            self._anchors = dict(_anchors(self.root))
        return self._anchors.get(name)


def _inside(value: object, key: Key) -> object:
    if isinstance(value, list) and isinstance(key, int):
        return value[key]
    if isinstance(value, dict) and isinstance(key, str):
        return value[key]
    raise KeyError(key)


def _anchors(root: Place) -> Iterator[tuple[str, Place]]:
    waiting = [root]
    while waiting:
        place = waiting.pop()
        value = place.value
        if isinstance(value, dict):
            named, identity = value.get("$anchor"), value.get("$id")
            if isinstance(named, str):
                yield named, place
            if isinstance(identity, str) and identity.startswith("#"):
                yield identity[1:], place
            waiting.extend(place.child(key) for key in value)
        elif isinstance(value, list):
            waiting.extend(place.child(index) for index in range(len(value)))
