"""What a request cost, and what the cache did for it."""

from dataclasses import dataclass
from enum import StrEnum


class CacheSource(StrEnum):
    NONE = "none"
    LIVE = "live"
    """Rows were still in the slot that ran the request."""


class MissReason(StrEnum):
    """Why less than the whole known prefix was reused. A closed list: new reasons are added here."""

    NONE = "none"
    """Nothing better was known, or all of it was reused."""
    EDITED = "edited"
    """The prompt differs from what the slot holds."""
    CANNOT_REWIND = "cannot_rewind"
    """The prefix is common, but this memory class cannot be cut back to it."""


@dataclass(frozen=True, slots=True)
class CacheReport:
    """`reused` + `computed` = prompt rows. `common` is the prefix shared with the best slot."""

    source: CacheSource = CacheSource.NONE
    reused: int = 0
    computed: int = 0
    common: int = 0
    reason: MissReason = MissReason.NONE


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts. `completion` counts all sampled tokens but the end token."""

    prompt: int
    cached: int
    completion: int
    reasoning: int = 0

    @property
    def total(self) -> int:
        return self.prompt + self.completion
