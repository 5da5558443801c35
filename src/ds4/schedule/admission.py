"""May this request come in, and how much may it generate? Pure."""

from ds4.core.errors import ContextOverflow, Overloaded

MAX_RETRY_AFTER = 60


def completion_limit(prompt_rows: int, max_tokens: int, n_ctx: int) -> int:
    """`max_tokens` cut to the room left. Raises ContextOverflow when the prompt leaves none."""
    if prompt_rows >= n_ctx:
        raise ContextOverflow(prompt_rows, n_ctx)
    return max(0, min(max_tokens, n_ctx - prompt_rows))


def retry_after(live: int, n_slots: int, seconds_per_job: float) -> int:
    """Seconds until a request that comes now may find room behind `live` others."""
    waiting = max(0, live - n_slots)
    return min(MAX_RETRY_AFTER, max(1, round(seconds_per_job * (waiting + 1) / n_slots)))


def check_queue(live: int, n_slots: int, max_queue: int, seconds_per_job: float) -> None:
    """Raises Overloaded when `max_queue` requests already wait behind `n_slots` running ones."""
    waiting = live - n_slots
    if waiting >= max_queue:
        raise Overloaded(
            f"{waiting} requests are already waiting, the limit is {max_queue}",
            retry_after=retry_after(live, n_slots, seconds_per_job),
        )
