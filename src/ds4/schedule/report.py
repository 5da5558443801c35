"""Turns what happens to requests into records for the log."""

from ds4.core.ports import Clock
from ds4.observe.records import Decoding, Finished, Observer, PrefillChunk, PromptDone, Record
from ds4.schedule.session import Session

LOG_EVERY = 50
"""Tokens between two decode records, or a few more where several came at once."""


class Reporter:
    def __init__(self, observe: Observer, clock: Clock) -> None:
        self._observe = observe
        self._clock = clock

    def __call__(self, record: Record) -> None:
        self._observe(record)

    def prefilled(self, session: Session, rows: int, seconds: float) -> None:
        """`rows` more of the prompt were computed in `seconds`."""
        now = self._clock.now()
        reused = session.report.reused
        total = session.plan.rows - reused
        done = session.prefilled - reused
        elapsed = now - session.started
        self._observe(PrefillChunk(session.subject, done, total, rows, seconds, elapsed))
        if done == total:
            session.decode_started = session.marked = now
            self._observe(PromptDone(session.subject, elapsed))

    def decoded(self, session: Session) -> None:
        new = session.generated - session.logged
        if new < LOG_EVERY:
            return
        now = self._clock.now()
        elapsed = now - session.decode_started
        rate = new / max(now - session.marked, 1e-9)
        average = session.generated / max(elapsed, 1e-9)
        session.marked, session.logged = now, session.generated
        self._observe(Decoding(session.subject, session.generated, rate, average, elapsed))

    def ended(self, session: Session, finish: str, error: str | None) -> None:
        elapsed = self._clock.now() - session.submitted
        self._observe(
            Finished(
                session.subject,
                session.generated,
                finish,
                elapsed,
                error,
                session.report,
                session.forced,
            )
        )
