"""What became of a request, as a client looks it up."""

import pytest
from api_fakes import World, run

from ds4.api.access import Access
from ds4.api.keys import Keyring, namespace
from ds4.core.usage import CacheReport, CacheSource, Difference, MissReason, Saved, SaveReason, SaveTier
from ds4.observe.records import Finished, PrefillChunk, PromptDone, PromptStarted, Queued, Subject
from ds4.observe.requests import Journal, RequestState
from ds4.testing.asgi import Reply

KEY, OTHER = "key-of-a", "key-of-b"
LOCKED = Access(keys=Keyring.of([KEY, OTHER]))
REPORT = CacheReport(
    CacheSource.DISK,
    reused=40,
    computed=60,
    common=70,
    reason=MissReason.EDITED,
    held=80,
    restored_bytes=4096,
    restore_seconds=0.5,
    waited_seconds=0.25,
    rewound=True,
    displaced=9,
    saved=(Saved(SaveReason.COLD, SaveTier.DISK, 96, 2048),),
    difference=Difference(70, 3, "yesterday", "to-day", 69, (5, 6), (5, 7)),
    other_quant="Q8_0",
    normalised=("billing_header",),
)


def subject(job: str, key: str = "", reused: int = 0) -> Subject:
    return Subject(job, "chat", ("TOOLS",), reused, 100, namespace(key) if key else "")


def world(access: Access | None = None) -> tuple[World, Journal]:
    made = World(access=access)
    made.journal = Journal(made.time)
    return made, made.journal


def get(made: World, path: str, key: str = KEY) -> Reply:
    return run(made.client().get(path, {"x-api-key": key}))


def ids(reply: Reply) -> list[str]:
    assert reply.status == 200
    return [row["id"] for row in reply.json()["requests"]]


def live(made: World, journal: Journal) -> None:
    """One request, from its beginning to its end."""
    made.time.advance(10.0)
    journal(Queued(subject("r1")))
    made.time.advance(1.0)
    placed = subject("r1", reused=40)
    journal(PromptStarted(placed, 2, REPORT))
    made.time.advance(2.0)
    journal(PrefillChunk(placed, 60, 60, 60, 2.0, 2.0))
    journal(PromptDone(placed, 2.0))
    made.time.advance(4.0)
    journal(Finished(placed, 21, "stop", 7.0, report=REPORT, forced=8))


def test_all_that_is_known_of_a_request() -> None:
    made, journal = world()
    live(made, journal)
    made.time.advance(100.0)
    reply = get(made, "/requests/r1")
    assert reply.status == 200
    assert reply.json() == {
        "id": "r1",
        "kind": "chat",
        "flags": ["TOOLS"],
        "state": "finished",
        "slot": 2,
        "created": 1_700_000_010.0,
        "prompt_tokens": 100,
        "reused_tokens": 40,
        "computed_tokens": 60,
        "generated_tokens": 21,
        "forced_tokens": 8,
        "timings": {
            "queued_seconds": 1.0,
            "prefill_seconds": 2.0,
            "decode_seconds": 4.0,
            "total_seconds": 7.0,
            "ttft_seconds": 3.0,
            "prefill_tokens_per_second": 30.0,
            "decode_tokens_per_second": 5.0,
        },
        "finish_reason": "stop",
        "error": None,
        "cache": {
            "source": "disk",
            "reused": 40,
            "computed": 60,
            "common": 70,
            "reason": "edited",
            "held": 80,
            "restored_bytes": 4096,
            "restore_seconds": 0.5,
            "waited_seconds": 0.25,
            "rewound": True,
            "healed": False,
            "displaced": 9,
            "saved": [{"reason": "cold", "tier": "disk", "rows": 96, "size": 2048}],
            "difference": {
                "row": 70,
                "message": 3,
                "held": "yesterday",
                "wanted": "to-day",
                "first": 69,
                "held_ids": [5, 6],
                "wanted_ids": [5, 7],
                "part": "messages",
            },
            "other_quant": "Q8_0",
            "normalised": ["billing_header"],
            "replay": {"turns": 0, "refused": [], "behind": 0},
        },
    }
    assert get(made, "/requests").json() == {"requests": [reply.json()], "has_more": False}


def test_one_that_waits_is_there_too() -> None:
    made, journal = world()
    journal(Queued(subject("r1")))
    made.time.advance(3.0)
    row = get(made, "/requests/r1").json()
    assert (row["state"], row["slot"], row["finish_reason"]) == ("queued", None, None)
    assert row["timings"]["queued_seconds"] == row["timings"]["total_seconds"] == 3.0
    assert row["timings"]["ttft_seconds"] is None


def test_half_a_character_from_the_model_is_no_reason_to_fail() -> None:
    made, journal = world()
    odd = CacheReport(difference=Difference(1, 0, "\ufffd", "\u202e\x00"))
    journal(PromptStarted(subject("r1"), 0, odd))
    assert get(made, "/requests/r1").json()["cache"]["difference"]["wanted"] == "\u202e\x00"


@pytest.fixture
def several() -> World:
    made, journal = world()
    for number in range(150):
        journal(Queued(subject(f"r{number}")))
    for number, finish in ((3, "stop"), (4, "cancelled"), (5, "error"), (6, "length")):
        journal(Finished(subject(f"r{number}"), 0, finish, 1.0))
    journal(PromptStarted(subject("r7"), 0, CacheReport()))
    return made


def test_the_newest_come_first_and_not_more_than_asked_for(several: World) -> None:
    assert ids(get(several, "/requests?limit=2")) == ["r149", "r148"]
    assert get(several, "/requests?limit=2").json()["has_more"] is True
    assert len(ids(get(several, "/requests"))) == 100
    assert len(ids(get(several, "/requests?limit=1000"))) == 150
    assert get(several, "/requests?limit=150").json()["has_more"] is False


@pytest.mark.parametrize(
    ("state", "found"),
    [
        ("finished", ["r6", "r3"]),
        ("cancelled", ["r4"]),
        ("failed", ["r5"]),
        ("prefill", ["r7"]),
        ("decode", []),
    ],
)
def test_only_those_in_a_state(several: World, state: str, found: list[str]) -> None:
    assert ids(get(several, f"/requests?state={state}")) == found
    assert ids(get(several, f"/requests?limit=1&state={state}")) == found[:1]


@pytest.mark.parametrize(
    ("query", "param", "named"),
    [
        *((f"limit={limit}", "limit", "1000") for limit in ("0", "-1", "1001", "99999", "x", "", "1.5", "٣")),
        *((f"state={state}", "state", "queued") for state in ("", "gone", "QUEUED")),
    ],
)
def test_a_query_that_means_nothing_is_refused_by_name(query: str, param: str, named: str) -> None:
    reply = get(World(), f"/requests?{query}")
    assert (reply.status, reply.json()["error"]["param"]) == (400, param)
    assert named in reply.json()["error"]["message"]


def test_states_are_those_of_the_page() -> None:
    operation = get(World(), "/openapi.json").json()["paths"]["/requests"]["get"]
    schemas = {parameter["name"]: parameter["schema"] for parameter in operation["parameters"]}
    assert {parameter["in"] for parameter in operation["parameters"]} == {"query"}
    assert schemas["state"]["enum"] == [str(state) for state in RequestState]
    assert (schemas["limit"]["minimum"], schemas["limit"]["maximum"]) == (1, 1000)


@pytest.mark.parametrize("path", ["/requests/r2", "/requests/r", "/requests/%20"])
def test_an_unknown_one_is_404(path: str) -> None:
    made, journal = world()
    journal(Queued(subject("r1")))
    reply = get(made, path)
    assert (reply.status, reply.json()["error"]["type"]) == (404, "not_found_error")


def test_a_caller_sees_its_own_only() -> None:
    made, journal = world(LOCKED)
    for job, key in (("mine", KEY), ("other", OTHER), ("nobody", "")):
        journal(Queued(subject(job, key)))
    assert ids(get(made, "/requests")) == ["mine"]
    assert ids(get(made, "/requests?limit=1&state=queued")) == ["mine"]
    assert ids(get(made, "/requests", OTHER)) == ["other"]
    # Not even how many there are.
    assert get(made, "/requests?limit=1").json()["has_more"] is False
    assert get(made, "/requests/mine").status == 200
    foreign, unknown = get(made, "/requests/other"), get(made, "/requests/never")
    assert foreign.status == unknown.status == 404
    assert foreign.body.replace(b"other", b"never") == unknown.body


def test_without_keys_all_are_shown_and_no_namespace() -> None:
    made, journal = world()
    for job, key in (("mine", KEY), ("other", OTHER), ("nobody", "")):
        journal(Queued(subject(job, key)))
    reply = get(made, "/requests")
    assert ids(reply) == ["nobody", "other", "mine"]
    assert b"namespace" not in reply.body
    assert namespace(KEY).encode() not in reply.body
