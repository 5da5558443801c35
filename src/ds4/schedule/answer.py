"""From sampled tokens to events: the part of a step that belongs to one request."""

from collections.abc import Iterable
from dataclasses import dataclass

from ds4.core.events import Event, Finish, FinishReason, ParsedEvent, Reasoning, Stop
from ds4.core.ports import Piece, Tokenizer
from ds4.core.sampling import Sampled
from ds4.schedule.session import Session

CUT = (FinishReason.LENGTH, FinishReason.SHUTDOWN)
"""Ends that the model did not choose."""


@dataclass(frozen=True, slots=True)
class Digested:
    """`stop` is set when the answer has ended; its Finish is not among the events yet."""

    events: tuple[Event, ...]
    stop: Stop | None = None


def digest(session: Session, tokens: Iterable[Sampled], tokenizer: Tokenizer) -> Digested:
    """Feeds `tokens` to the request's reader until they, the reader, the guide or the limit end the answer.

    What the guide forces behind a token belongs to the answer as if it had been sampled.
    """
    events: list[Event] = []
    for sampled in tokens:
        stop = _accept(session, sampled, tokenizer, events) or _jump(session, tokenizer, events)
        if stop is not None:
            return Digested(tuple(events), stop)
    return Digested(tuple(events))


def finish(session: Session, stop: Stop) -> tuple[tuple[ParsedEvent, ...], Finish]:
    """What the reader still held back, and the Finish. The reader may know better why it ended."""
    held = session.job.reader.flush(cut=stop.reason in CUT)
    session.said.told(held.events)
    end = held.hint.stop or stop
    return held.events, Finish(end.reason, session.usage, session.report, end.sequence)


def _jump(session: Session, tokenizer: Tokenizer, events: list[Event]) -> Stop | None:
    guide = session.job.guide
    if guide is None or not session.jumps:
        return None
    while ahead := guide.forced():
        for token in ahead:
            session.forced += 1
            stop = _accept(session, Sampled(token), tokenizer, events)
            if stop is not None:
                return stop
    return None


def _accept(session: Session, sampled: Sampled, tokenizer: Tokenizer, events: list[Event]) -> Stop | None:
    token = sampled.id
    if tokenizer.is_eog(token):
        return Stop(FinishReason.STOP)
    if session.sampler is not None:
        session.sampler.accept(token)
    session.generated += 1
    session.pending.append(token)
    fed = session.job.reader.feed(Piece(tokenizer.piece(token), token, tokenizer.is_control(token), sampled))
    events.extend(fed.events)
    session.said.sampled(token, fed.events)
    _count_reasoning(session, fed.events)
    session.hint = fed.hint
    if fed.hint.stop is not None:
        return fed.hint.stop
    if session.job.guide is not None and session.job.guide.done:
        # Nothing but an end token could follow: that is no step worth taking.
        return Stop(FinishReason.STOP)
    if session.generated >= session.limit:
        return Stop(FinishReason.LENGTH)
    return None


def _count_reasoning(session: Session, events: tuple[ParsedEvent, ...]) -> None:
    """A token counts as what it completed; one that completes nothing counts as the one before."""
    if events:
        session.in_reasoning = isinstance(events[-1], Reasoning)
    session.reasoned += session.in_reasoning
