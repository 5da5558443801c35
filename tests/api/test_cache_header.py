import pytest

from ds4.api.cache_header import cache_words
from ds4.core.usage import AsSent, CacheReport, CacheSource, Difference, MissReason, Part, Replay, Unlike


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (CacheReport(computed=9), "none reused=0 computed=9 reason=none"),
        (
            CacheReport(CacheSource.DISK, 5, 4, restored_bytes=10, restore_seconds=0.01234, waited_seconds=2),
            "disk reused=5 computed=4 reason=none restored_ms=12.3 waited_ms=2000.0",
        ),
        (
            CacheReport(
                CacheSource.LIVE, 5, 4, reason=MissReason.EDITED, difference=Difference(5, 2, "é\n", "w")
            ),
            "live reused=5 computed=4 reason=edited message=2 row=5",
        ),
        (
            CacheReport(
                CacheSource.COPIED,
                5,
                4,
                reason=MissReason.TOOLS_CHANGED,
                difference=Difference(5, None, "", "", part=Part.TOOLS),
                normalised=("a",),
            ),
            "copied reused=5 computed=4 reason=tools_changed row=5 normalised=a",
        ),
        (
            CacheReport(replay=Replay(3, (AsSent(7, Unlike.TEXT), AsSent(9, Unlike.CALLS)), 2)),
            "none reused=0 computed=0 reason=none replayed=3 not_replayed=7:text_changed,9:calls_changed"
            " behind=2",
        ),
        (
            CacheReport(
                reason=MissReason.CANNOT_REWIND, difference=Difference(5, None, "", "", part=Part.TOOLS)
            ),
            "none reused=0 computed=0 reason=cannot_rewind row=5 changed=tools",
        ),
        (CacheReport(normalised=("a", "b")), "none reused=0 computed=0 reason=none normalised=a,b"),
    ],
)
def test_what_the_cache_did_in_a_header(report: CacheReport, words: str) -> None:
    assert cache_words(report).decode() == words
