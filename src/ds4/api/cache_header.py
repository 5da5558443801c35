"""What the cache did for a prompt, for the header `x-ds4-cache`: the source, then KEY=VALUE words. Pure.

New keys go to the end. Nothing of a prompt's text is among them.
"""

from collections.abc import Iterator

from ds4.core.usage import CacheReport

NAME = b"x-ds4-cache"


def cache_words(report: CacheReport) -> bytes:
    """Counts are prompt rows."""
    head = f"{report.source} reused={report.reused} computed={report.computed} reason={report.reason}"
    return " ".join((head, *_unusual(report))).encode()


def _unusual(report: CacheReport) -> Iterator[str]:
    if report.restored_bytes or report.restore_seconds:
        yield f"restored_ms={_ms(report.restore_seconds)}"
    if report.waited_seconds:
        yield f"waited_ms={_ms(report.waited_seconds)}"
    if report.difference is not None:
        if report.difference.message is not None:
            yield f"message={report.difference.message}"
        yield f"row={report.difference.row}"
    if report.normalised:
        yield f"normalised={','.join(report.normalised)}"
    if report.replay.turns:
        yield f"replayed={report.replay.turns}"
    if report.replay.refused:
        yield f"not_replayed={','.join(f'{sent.message}:{sent.why}' for sent in report.replay.refused)}"
    if report.replay.behind:
        yield f"behind={report.replay.behind}"
    if report.changed is not None:
        yield f"changed={report.changed}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f}"
