"""Which of the catalog's checkpoints this model can use, and what changed about that. Pure."""

from collections import Counter
from collections.abc import Iterable

from ds4.core.step import Identity
from ds4.kv.checkpoint import Appeared, News, Vanished
from ds4.kv.disk.manifest import Entry, Manifest


class Offer:
    """News are the difference between two looks at the catalog: what was done in between does not matter.

    Of two quantisations of one state, this model's own is offered.
    """

    def __init__(self, owner: Identity, min_rows: int, *, any_quant: bool) -> None:
        self._owner = owner
        self._min_rows = min_rows
        self._any_quant = any_quant
        self._entries: dict[str, Entry] = {}
        self._hidden: set[int] = set()

    def get(self, key: str) -> Entry | None:
        return self._entries.get(key)

    def hide(self, number: int) -> None:
        """Not offered by this process any more."""
        self._hidden.add(number)

    def update(self, entries: Iterable[Entry]) -> list[News]:
        wanted: dict[str, Entry] = {}
        for entry in entries:
            if self._fits(entry) and (entry.manifest.key not in wanted or self._is_own(entry)):
                wanted[entry.manifest.key] = entry
        news: list[News] = [Vanished(key) for key in self._entries if key not in wanted]
        for key, entry in wanted.items():
            held = self._entries.get(key)
            if held is None or held.manifest.owner != entry.manifest.owner:
                quant = entry.manifest.owner.quant
                news.append(Appeared(entry.manifest.checkpoint, "" if self._is_own(entry) else quant))
        self._entries = wanted
        return news

    def skipped(self, entries: Iterable[Entry]) -> Counter[str]:
        """How many are not offered, by reason."""
        return Counter(why for entry in entries if (why := self.why_not(entry.manifest)))

    def why_not(self, manifest: Manifest) -> str:
        """Empty where it is offered."""
        mine, theirs = self._owner, manifest.owner
        if theirs.model != mine.model:
            return "of another model"
        if theirs.layout != mine.layout:
            return "of another memory layout or library build"
        if theirs.quant != mine.quant and not self._any_quant:
            return "of another quantisation"
        return "below --kv-cache-min-tokens" if manifest.rows < self._min_rows else ""

    def _fits(self, entry: Entry) -> bool:
        return entry.number not in self._hidden and not self.why_not(entry.manifest)

    def _is_own(self, entry: Entry) -> bool:
        return entry.manifest.owner.quant == self._owner.quant
