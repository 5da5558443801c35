"""Sessions of real clients, repeated: every byte, event, decision and step is as it was.

Where one of these fails after a change that is meant, record them anew: scripts/record_traces.py.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from reruns import NAMES, TRACES, lines_of, recorded, verdict

from ds4.replay_command import told


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_session_comes_out_the_same(name: str) -> None:
    found = verdict(recorded(name))
    assert found.same, "\n".join(told(found, verbose=False))
    assert found.compared["turn"] > 5
    assert found.compared["sent"] > 5


def test_the_sessions_cover_what_matters() -> None:
    seen = {word for name in NAMES for line in lines_of(recorded(name)) for word in _seen(line)}
    sources = {"live", "copied", "ram", "disk", "none"}
    apis = {"chat/completions", "completions", "messages", "responses"}
    assert seen >= sources | {f"stream {api}" for api in apis}
    assert seen >= {"healed", "rewound", "waited", "cancel", "left", "several", "error", "logprobs"}


def test_no_trace_holds_a_key_or_is_large() -> None:
    for path in TRACES.glob("*.jsonl.gz"):
        assert path.stat().st_size < 200_000
    for name in NAMES:
        heads = [line["headers"] for line in lines_of(recorded(name)) if line["at"] == "request"]
        assert not [header for head in heads for header in head if header[0].lower() == "authorization"]


def _seen(line: dict[str, Any]) -> Iterator[str]:
    match line:
        case {"at": "started", "report": report}:
            yield report["source"]
            yield from (word for word in ("healed", "rewound") if report[word])
            if report["waited_seconds"] > 0:
                yield "waited"
        case {"at": "turn"}:
            yield from (str(command[0]) for command in line.get("commands", ()))
            if any(op["op"] == "step" and len(op["asked"]) > 1 for op in line.get("ops", ())):
                yield "several"
        case {"at": "request", "path": path, "body": str(body)} if '"stream": true' in body:
            yield f"stream {path.removeprefix('/v1/')}"
        case {"at": "job", "sampling": {"logprobs": int()}}:
            yield "logprobs"
        case {"at": "sent", "status": status} if status >= 400:
            yield "error"
        case {"at": "left"}:
            yield "left"
