"""Puts what was sampled in the place of the client's copy. Pure, but for what `Known` looks up.

Rules:
- A record counts only where all rows in front of it are the ones it was sampled behind. So nothing but the
  client's copy of that answer can stand there.
- A copy is replaced as a whole or not at all, and only if it means the same. The client's edits win.
- What was replaced is in front of the next answer: it is looked up behind the new rows.
- Where it is not known to the row where an answer begins, it is looked for behind the client's last words in
  front of it. A record in front of them is another answer's, or that to a question that was added to.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Protocol

import numpy as np

from ds4.core.messages import Message, Role
from ds4.core.plan import Ids, PastTurn, PromptPlan
from ds4.core.ports import Tokenizer
from ds4.core.usage import AsSent, Replay, Unlike
from ds4.kv.replay.closing import closing
from ds4.kv.replay.cutting import Cut, cut_out
from ds4.kv.replay.meaning import meaning_of, unlike
from ds4.kv.replay.record import Record, Rows
from ds4.kv.replay.spots import SpotArray, between, fit, rows_of


class Known(Protocol):
    """One caller's records."""

    def spots(self) -> SpotArray:
        """Where records stand, in order."""

    def find(self, prefix: bytes) -> Sequence[Record]:
        """Those behind the rows with this digest, the one used last first."""


@dataclass(frozen=True, slots=True)
class Rules:
    """`ends` are the end tokens' ids. Unless it `keeps_reasoning`, an answer with reasoning is replayed only
    where the template has that reasoning too."""

    tokenizer: Tokenizer
    ends: Ids
    keeps_reasoning: bool = True


@dataclass(frozen=True, slots=True)
class Answer:
    """What the client sent of one answer: messages from the index `first` on."""

    first: int
    messages: tuple[Message, ...]


def replayed(plan: PromptPlan, messages: Sequence[Message], known: Known, rules: Rules) -> PromptPlan:
    """`messages` are those that `plan` was rendered from."""
    walk = _Walk(plan, known, rules)
    for turn, answer in zip(plan.turns, _answers(messages), strict=False):
        if turn.messages != len(answer.messages):
            # The template was given another form of the conversation.
            break
        walk.visit(turn, answer)
    report = Replay(len(walk.cuts), tuple(walk.refused), walk.behind)
    return replace(cut_out(plan, walk.cuts), replay=report) if walk.cuts or walk.refused else plan


def _answers(messages: Sequence[Message]) -> Iterator[Answer]:
    at = 0
    for role, run in groupby(messages, lambda message: message.role):
        together = tuple(run)
        if role is Role.ASSISTANT:
            yield Answer(at, together)
        at += len(together)


class _Walk:
    """`_at` rows of the plan are in the digest, which has `_grown` rows more than that."""

    def __init__(self, plan: PromptPlan, known: Known, rules: Rules) -> None:
        self.cuts: list[Cut] = []
        self.refused: list[AsSent] = []
        self.behind = 0
        self._plan = plan
        self._known = known
        self._rules = rules
        self._rows = Rows()
        self._at = 0
        self._grown = 0

    def visit(self, turn: PastTurn, answer: Answer) -> None:
        found = self._find(turn)
        if found is not None:
            self._decide(found[0], turn, answer, found[1])
        elif self.refused:
            self.behind += 1

    def _find(self, turn: PastTurn) -> tuple[int, Sequence[Record]] | None:
        """Where the answer begins, and the records there."""
        for start in self._places(turn):
            if records := self._known.find(self._prefix(start)):
                return start, records
        return None

    def _places(self, turn: PastTurn) -> Sequence[int]:
        """Where the answer may begin."""
        if turn.start is not None:
            return (turn.start,) if turn.start >= self._at else ()
        first = max(self._at, turn.after)
        spots = between(self._known.spots(), first + self._grown, turn.until + self._grown)
        rows = rows_of(spots) - self._grown
        # In front of `_at` others may stand now than in the plan.
        possible = fit(spots, self._plan.ids[rows - 1]) | (rows == self._at)
        return [int(row) for row in np.unique(rows[possible])]

    def _prefix(self, start: int) -> bytes:
        self._rows.add(self._plan.ids[self._at : start])
        self._at = start
        return self._rows.digest()

    def _decide(self, start: int, turn: PastTurn, answer: Answer, records: Sequence[Record]) -> None:
        sent = meaning_of(answer.messages)
        same = [(record, unlike(record.meaning, sent)) for record in records]
        found = next((record for record, why in same if why is None), None)
        why = same[0][1]
        if found is not None:
            end = self._end(start, turn)
            why = Unlike.NO_PLACE if end is None else self._left_out(found, self._plan.ids[start:end])
            if end is not None and why is None:
                self._replace(start, end, found)
        if why is not None:
            self.refused.append(AsSent(answer.first, why))

    def _end(self, start: int, turn: PastTurn) -> int | None:
        if turn.end is not None:
            return turn.end
        ends = np.flatnonzero(np.isin(self._plan.ids[start : turn.until], self._rules.ends))
        # One more would be somebody else's, one less a message without an end.
        return start + int(ends[-1]) if ends.size == turn.messages else None

    def _left_out(self, record: Record, copy: Ids) -> Unlike | None:
        if self._rules.keeps_reasoning or not record.meaning.reasons:
            return None
        sampled, written = self._text(record.ids), self._text(copy)
        # An answer may say again what was thought: it must be there as often as it was sampled.
        thoughts = filter(None, map(str.strip, record.meaning.reasoning))
        there = all(written.count(thought) >= sampled.count(thought) for thought in thoughts)
        return None if there else Unlike.REASONING_LEFT_OUT

    def _text(self, ids: Ids) -> str:
        return b"".join(map(self._rules.tokenizer.piece, ids.tolist())).decode("utf-8", "replace")

    def _replace(self, start: int, end: int, record: Record) -> None:
        ids = record.ids
        if not record.closed and record.meaning.calls:
            missing = closing(ids, self._plan.ids[start:end], self._rules.tokenizer)
            ids = np.concatenate([ids, missing])
        self.cuts.append(Cut(start, end, ids))
        self._rows.add(ids)
        self._at = end
        self._grown += ids.size - (end - start)
