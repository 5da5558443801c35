"""The exact text of what the log says of the cache: scripts parse it, and people look for their edit."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.usage import (
    AsSent,
    CacheReport,
    CacheSource,
    Difference,
    MissReason,
    Part,
    Replay,
    Saved,
    SaveReason,
    SaveTier,
    Unlike,
)
from ds4.observe.cache_log import cost, entries, miss_words
from ds4.observe.log import line, style
from ds4.observe.records import (
    CheckpointEvicted,
    CheckpointHit,
    Finished,
    LoadFailed,
    Notice,
    PromptStarted,
    Record,
    Stored,
    StoreSkipped,
    Subject,
)

MIB = 1 << 20
CHAT = Subject("req-1", "chat", ("TOOLS",), reused=800, prompt=1000, namespace="secret")
EDITED = CacheReport(
    CacheSource.LIVE,
    reused=800,
    computed=200,
    common=800,
    reason=MissReason.EDITED,
    held=950,
    difference=Difference(800, 4, 'at "9:41"\n', 'at "9:42"\n'),
)
RESTORED = CacheReport(
    CacheSource.DISK,
    reused=800,
    computed=200,
    common=800,
    held=800,
    restored_bytes=12 * MIB,
    restore_seconds=0.0345,
    waited_seconds=1.25,
    displaced=950,
    saved=(
        Saved(SaveReason.EVICT, SaveTier.RAM, 950, 4 * MIB),
        Saved(SaveReason.COLD, SaveTier.DISK, 896, 3 * MIB),
    ),
)


def lines(record: Record) -> list[str]:
    return [line(entry) for entry in entries(record)]


START = "chat ctx=800..1000:200 TOOLS prompt start slot=0 cache=live"


@pytest.mark.parametrize(
    ("report", "text"),
    [
        (
            EDITED,
            "live kv cache miss live=950 prompt=1000 common=800 reason=token-mismatch why=edited message=4"
            r' row=800 held="at \"9:41\"\n" wanted="at \"9:42\"\n" id=req-1',
        ),
        (
            replace(EDITED, reason=MissReason.PREAMBLE_CHANGED, difference=Difference(7, None, "a", "b")),
            "live kv cache miss live=950 prompt=1000 common=800 reason=token-mismatch why=preamble_changed"
            ' row=7 held="a" wanted="b" id=req-1',
        ),
        (
            replace(
                EDITED,
                reason=MissReason.CANNOT_REWIND,
                difference=Difference(7, None, "a", "b", part=Part.TOOLS),
            ),
            "live kv cache miss live=950 prompt=1000 common=800 reason=token-mismatch why=cannot_rewind"
            ' changed=tools row=7 held="a" wanted="b" id=req-1',
        ),
        (
            replace(EDITED, held=0, common=0, reason=MissReason.DAMAGED, difference=None),
            "live kv cache miss live=0 prompt=1000 common=0 reason=no-live-checkpoint why=damaged id=req-1",
        ),
    ],
)
def test_a_miss_is_a_line_behind_the_start(report: CacheReport, text: str) -> None:
    start, miss = lines(PromptStarted(CHAT, 0, report))
    assert start == f"{START} common={report.common} reason={report.reason} id=req-1"
    assert miss == text


def test_nothing_is_missed_where_nothing_better_was_known() -> None:
    assert lines(PromptStarted(CHAT, 0, replace(RESTORED, source=CacheSource.LIVE))) == [f"{START} id=req-1"]


@pytest.mark.parametrize(
    ("held", "common", "prompt", "words"),
    [
        (0, 0, 10, "no-live-checkpoint"),
        (20, 0, 10, "token-mismatch"),
        (20, 9, 10, "token-mismatch"),
        (10, 9, 20, "token-mismatch"),
        (20, 10, 10, "incoming-prompt-shorter-than-live-checkpoint"),
        (10, 10, 20, "live-prefix-match"),
        (10, 10, 10, "live-prefix-match"),
        # More is known elsewhere than in the memory that was taken.
        (10, 15, 20, "live-prefix-match"),
    ],
)
def test_the_words_that_scripts_know_follow_from_the_counts(
    held: int, common: int, prompt: int, words: str
) -> None:
    assert miss_words(CacheReport(held=held, common=common), prompt) == words


def test_a_start_names_what_is_unusual_about_it() -> None:
    report = CacheReport(
        CacheSource.LIVE, rewound=True, healed=True, other_quant="Q4 K", normalised=("billing_header", "x")
    )
    [start] = lines(PromptStarted(CHAT, 0, report))
    assert start == (
        f'{START} id=req-1 rewound=yes healed=yes other_quant="Q4 K" normalised="billing_header,x"'
    )


def test_a_start_names_what_was_replayed_and_what_was_not() -> None:
    report = CacheReport(replay=Replay(3, (AsSent(7, Unlike.ARGUMENTS),), 2))
    [start] = lines(PromptStarted(CHAT, 0, report))
    assert start.endswith("id=req-1 replayed=3 not_replayed=7:arguments_changed behind=2")


@pytest.mark.parametrize(
    ("record", "texts"),
    [
        (
            Stored(SaveReason.COLD, 10240, 771, "ab12", 12 * MIB, 3 * MIB, 0.0456),
            [
                "kv cache stored tokens=10240 trimmed=771 reason=cold key=ab12 size=12.00 MiB save=45.6 ms"
                " written=3.00 MiB"
            ],
        ),
        (
            StoreSkipped(SaveReason.CONTINUED, 10240, "write-budget"),
            ["kv cache skipped reason=continued tokens=10240 why=write-budget"],
        ),
        (
            CheckpointHit(10240, "ab12", "Q4_K", 0.01234, 12 * MIB),
            ["kv cache hit text tokens=10240 quant=Q4_K key=ab12 load=12.3 ms size=12.00 MiB"],
        ),
        (
            CheckpointEvicted("disk-cache-full", 10240, 3, 12 * MIB, "ab12"),
            ["kv cache evicted reason=disk-cache-full tokens=10240 hits=3 size=12.00 MiB key=ab12"],
        ),
        (LoadFailed("ab12", "no such file", False), ["kv cache load failed ab12 : no such file"]),
        (
            LoadFailed("ab12", "checksum differs", True),
            [
                "kv cache load failed ab12 : checksum differs",
                "kv cache discarded corrupt checkpoint key=ab12",
            ],
        ),
    ],
)
def test_the_words_of_every_checkpoint_record(record: Record, texts: list[str]) -> None:
    assert lines(record) == texts


def test_a_request_ends_with_what_it_cost() -> None:
    assert cost(EDITED) == "cache=live reused=800 computed=200"
    assert lines(Finished(CHAT, 5, "stop", 2.0, report=RESTORED)) == [
        "chat ctx=800..1000:200 gen=5 TOOLS finish=stop 2.000s id=req-1 cache=disk reused=800 computed=200"
        " restored=12.00 MiB restore=34.5 ms waited=1250.0 ms displaced=950 saved=evict/ram:950,cold/disk:896"
    ]


texts = st.text(max_size=30)


@given(texts, texts, texts)
def test_no_text_ends_a_line_or_forges_a_key(held: str, wanted: str, word: str) -> None:
    report = replace(EDITED, difference=Difference(1, None, held, wanted), other_quant=word)
    for record in (
        PromptStarted(CHAT, 0, report),
        StoreSkipped(SaveReason.COLD, 1, word),
        CheckpointHit(1, word, word, 0.1, 1),
        CheckpointEvicted(word, 1, 1, 1, word),
        LoadFailed(word, word, True),
    ):
        for text in lines(record):
            assert text.isprintable()
            assert "secret" not in text
    miss = lines(PromptStarted(CHAT, 0, report))[1]
    outside, inside = unquoted(miss)
    counts = "live=950 prompt=1000 common=800 reason=token-mismatch why=edited"
    assert outside == f"live kv cache miss {counts} row=1 held=@ wanted=@ id=req-1"
    assert len(inside) == 2


def unquoted(text: str) -> tuple[str, list[str]]:
    """The line with @ for each quoted value, and these values: as a script reads them."""
    outside, values, in_quotes, skip = "", [""], False, False
    for char in text:
        if skip or (in_quotes and char not in '"\\'):
            values[-1] += char
            skip = False
        elif in_quotes and char == "\\":
            skip = True
        elif char == '"':
            outside += "" if in_quotes else "@"
            values += [""] if in_quotes else []
            in_quotes = not in_quotes
        else:
            outside += char
    return outside, values[:-1]


def test_what_went_wrong_stands_out() -> None:
    corrupt = entries(LoadFailed("k", "w", True))
    start, miss = entries(PromptStarted(CHAT, 0, EDITED))
    assert [style(entry) for entry in corrupt] == ["yellow", "red"]
    assert style(miss) == style(StoreSkipped(SaveReason.COLD, 1, "w")) == style(Notice("w", "warning"))
    assert style(miss) != style(start)
    assert style(Stored(SaveReason.COLD, 1, 0, "k", 1, 1, 0.1)) not in ("", "red", "yellow")
