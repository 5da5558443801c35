"""An answer while it is sampled: its tokens, and what its client is told of them.

Not everything is worth remembering. An answer that was cut inside reasoning, or with calls in it, is no turn
the model would have written; one that a stop string ended says more than its client has seen.
"""

from collections.abc import Callable, Iterable

import numpy as np

from ds4.core.events import FinishReason, ParsedEvent, Reasoning, Stop, Text, ToolArgs, ToolStart
from ds4.core.plan import PromptPlan
from ds4.kv.replay.meaning import Call, Meaning, arguments_digest
from ds4.kv.replay.record import Record, digest_of


class Transcript:
    def __init__(self) -> None:
        self._ids: list[int] = []
        self._text: list[list[str]] = []
        self._reasoning: list[list[str]] = []
        self._names: list[str] = []
        self._arguments: list[list[str]] = []
        self._last: type[ParsedEvent] | None = None
        self._in_doubt = False

    def sampled(self, token: int, events: Iterable[ParsedEvent]) -> None:
        self._ids.append(token)
        self._hear(events)

    def told(self, events: Iterable[ParsedEvent]) -> None:
        """What was held back until the end."""
        held = tuple(events)
        # Blanks are only held because of what may follow.
        self._in_doubt = any(not isinstance(event, Text) or event.text.strip() for event in held)
        self._hear(held)

    def _hear(self, events: Iterable[ParsedEvent]) -> None:
        for event in events:
            match event:
                case Text(text=text):
                    self._piece(self._text, Text).append(text)
                case Reasoning(text=text):
                    self._piece(self._reasoning, Reasoning).append(text)
                case ToolStart(name=name):
                    self._names.append(name)
                    self._arguments.append([])
                case ToolArgs(text=text):
                    self._arguments[-1].append(text)
            self._last = type(event)

    def record(self, plan: PromptPlan, end: Stop | None, is_eog: Callable[[int], bool]) -> Record | None:
        """To be remembered behind `plan`, the prompt as it was rendered. `end` None: the client left.

        None where nothing should be.
        """
        start = plan.answer_start
        if start is None or not self._ids or self._is_in_the_middle(end):
            return None
        marker = plan.ids[start:]
        if any(is_eog(token) for token in marker.tolist()):
            return None
        ids = np.concatenate([marker, np.array(self._ids, np.int32)])
        ids.setflags(write=False)
        return Record(
            plan.namespace,
            digest_of(plan.ids[:start]),
            start,
            ids,
            self.meaning,
            closed=end is None or end.reason is not FinishReason.TOOL_CALLS,
        )

    def _is_in_the_middle(self, end: Stop | None) -> bool:
        if end is not None and end.sequence is not None:
            return True
        is_cut = end is None or end.reason in (FinishReason.LENGTH, FinishReason.SHUTDOWN)
        # Behind a whole call its block is still open, and half of another one may stand there.
        return is_cut and (bool(self._names) or self._in_doubt or self._last in (None, Reasoning))

    @property
    def meaning(self) -> Meaning:
        """Of what was told so far."""
        calls = zip(self._names, self._arguments, strict=True)
        return Meaning(
            tuple(map("".join, self._text)),
            tuple(Call(name, arguments_digest("".join(pieces))) for name, pieces in calls),
            tuple(map("".join, self._reasoning)),
        )

    def _piece(self, pieces: list[list[str]], kind: type[ParsedEvent]) -> list[str]:
        """The piece that goes on, or a new one."""
        if self._last is not kind:
            pieces.append([])
        return pieces[-1]
