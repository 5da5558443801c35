"""Counts what resolving a schema costs; beyond the limit it is refused."""

from ds4.constrain.schema.document import Document, Place
from ds4.constrain.schema.limits import MAX_WORK, too_much


class Work:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._limit = MAX_WORK
        self._spent = 0

    def spend(self, place: Place, steps: int = 1) -> None:
        """Raises BadRequest that names the place."""
        self._spent += steps
        if self._spent > self._limit:
            raise too_much(self._document.name(place), f"needs more than {self._limit} steps to resolve")
