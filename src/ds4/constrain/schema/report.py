"""What cannot be enforced: an error where the caller wants a guarantee, a note where not."""

from ds4.constrain.schema.document import Document, Key, Place
from ds4.core.errors import BadRequest, Unsupported


class Report:
    def __init__(self, document: Document, *, strict: bool) -> None:
        self._document = document
        self._strict = strict
        self._dropped: dict[str, None] = {}

    @property
    def dropped(self) -> tuple[str, ...]:
        return tuple(self._dropped)

    def lacks(self, place: Place, keyword: str, why: str = "is not enforced by this server") -> None:
        """The keyword is dropped, which allows more. Raises Unsupported where that must not be."""
        if self._strict:
            raise Unsupported(self._document.name(place, keyword), why)
        self._dropped[f"{self._document.name(place)}: {keyword}"] = None

    def wrong(self, place: Place, *keys: Key) -> None:
        """What stands there is no JSON schema. Raises BadRequest where it must not be dropped."""
        name = self._document.name(place, *keys)
        if self._strict:
            raise BadRequest(f"{name} is not valid in a JSON schema", param=name)
        whole = place.child(*keys)
        last = str(whole.keys[-1]) if whole.keys else ""
        self._dropped[f"{self._document.name(Place(whole.keys[:-1], None))}: {last}"] = None


class Contradiction(BadRequest):
    """Nothing matches."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name} allows no value: {why}", param=name)
