"""How long a request has taken, and how fast it went. Pure."""

from dataclasses import dataclass

from ds4.observe.requests import Entry


@dataclass(frozen=True, slots=True)
class Timings:
    """In seconds and tokens per second; None for what has not begun or cannot be told.

    What still runs is timed up to now. `ttft_seconds` is the time from submission to the first token. The
    decode rate is of the tokens behind the first, since that one comes with the prompt.
    """

    queued_seconds: float
    prefill_seconds: float | None
    decode_seconds: float | None
    total_seconds: float
    ttft_seconds: float | None
    prefill_tokens_per_second: float | None
    decode_tokens_per_second: float | None


def timings(entry: Entry, now: float) -> Timings:
    """`now` on the journal's clock."""
    times = entry.times
    last = now if times.ended is None else times.ended
    queued_until = last if times.started is None else times.started
    prefill = _between(times.started, last if times.prompted is None else times.prompted)
    has_answer = times.ended is None or entry.generated > 0
    return Timings(
        queued_seconds=_rounded(queued_until - times.submitted),
        prefill_seconds=prefill,
        decode_seconds=_between(times.prompted, last),
        total_seconds=_rounded(last - times.submitted),
        ttft_seconds=_between(times.submitted, times.prompted) if has_answer else None,
        prefill_tokens_per_second=_rate(entry.prefilled - entry.subject.reused, prefill),
        decode_tokens_per_second=_rate(entry.generated - 1, _between(times.prompted, times.counted)),
    )


def _between(begin: float | None, end: float | None) -> float | None:
    return None if begin is None or end is None else _rounded(end - begin)


def _rate(count: int, seconds: float | None) -> float | None:
    return round(count / seconds, 2) if seconds and count > 0 else None


def _rounded(seconds: float) -> float:
    """To microseconds: what is beyond is noise of the subtraction."""
    return round(seconds, 6)
