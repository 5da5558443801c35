"""The recorded guides: what they said to the scheduler, and no more."""

from collections import defaultdict, deque
from collections.abc import Iterable
from typing import Any

import numpy as np

from ds4.api.services import Wished
from ds4.core.errors import BadRequest
from ds4.core.ports import Allowed, Guide, Mark
from ds4.observe.trace.values import Json
from ds4.rerun.moment import REQUEST
from ds4.rerun.replay.lines import error_of
from ds4.rerun.replay.script import Script


class RecordedGuides:
    """An `api.services.GuideFactory`."""

    def __init__(self, script: Script, lines: Iterable[Json]) -> None:
        self._script = script
        self._left: defaultdict[int, deque[dict[str, Any]]] = defaultdict(deque)
        for line in lines:
            match dict(line):
                case {"at": "guided", "request": int(request)} as words:
                    self._left[request].append(words)

    def __call__(self, wished: Wished) -> Guide | None:
        if wished.constraint is None:
            return None
        left = self._left[REQUEST.get()]
        if not left:
            self._script.stray("an answer is constrained, and not in the trace")
            return None
        words = left.popleft()
        if "error" in words:
            raise _refusal(*words["error"])
        return RecordedGuide(self._script) if words["guide"] else None


class RecordedGuide:
    """`core.ports.Guide` of a trace."""

    def __init__(self, script: Script) -> None:
        self._script = script

    def allows(self, token: int) -> bool:  # noqa: ARG002
        """Nobody samples here."""
        return True

    def allowed(self) -> Allowed:
        return np.ones(0, np.bool_)

    def accept(self, token: int) -> None:  # noqa: ARG002
        self._script.guide_fails("accept")

    def forced(self) -> tuple[int, ...]:
        return tuple(self._script.guided("forced"))

    @property
    def done(self) -> bool:
        (done,) = self._script.guided("done")
        return bool(done)

    def mark(self) -> Mark:
        return Mark(None)

    def rollback(self, mark: Mark) -> None:
        pass


def _refusal(name: str, message: str, param: str | None, code: str | None) -> BadRequest:
    error = error_of([name, message])
    refused = error if isinstance(error, BadRequest) else BadRequest(message)
    refused.param, refused.code = param, code
    return refused
