"""llm-comply, a conformance suite of others, against the three chat APIs in three families.

It runs offline. What fails is named here with its reason: a test that passes unexpectedly fails this one too,
and so does one that is skipped.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from ds4.testing import agent_script
from ds4.testing.process import ServerProcess, server_process

pytestmark = [pytest.mark.server]

PROGRAM = str(Path(sys.executable).with_name("llm-comply"))
FAMILIES = ("deepseek-v4", "qwen3.8", "glm-5.2")
IMAGE = "no model here sees images"
ANY_MODEL = "one model is served, so a request need not name it"


@dataclass(frozen=True)
class Suite:
    """`model` is a name that makes the suite try reasoning as well. `known` is what fails, by test id."""

    format: str
    tests: int
    model: str
    known: Mapping[str, str]
    warned: frozenset[str] = frozenset()
    options: tuple[str, ...] = ()


SUITES = (
    Suite("open-responses", 13, "gpt-5", {"image-input": IMAGE}),
    Suite(
        "openai-chat",
        9,
        "gpt-5",
        {"chat-image-input": IMAGE, "chat-error-handling": ANY_MODEL},
    ),
    Suite(
        "anthropic",
        9,
        "claude-sonnet-4-5",
        {"anth-image-input": IMAGE},
        # It leaves max_tokens out, and leaves it to the server whether to mind.
        frozenset({"anth-error-handling"}),
        ("--auth-header", "x-api-key", "--no-bearer", "-H", "anthropic-version:2023-06-01"),
    ),
)


@dataclass(frozen=True)
class Verdicts:
    passed: int
    failed: frozenset[str]
    skipped: frozenset[str]
    warned: frozenset[str]


def verdicts(suite: Suite, url: str) -> Verdicts:
    command = [PROGRAM, "-u", f"{url}/v1", "-k", "unused", "-m", suite.model, "--json"]
    done = subprocess.run(
        [*command, "--format", suite.format, *suite.options], capture_output=True, text=True, timeout=120
    )
    results = json.loads(done.stdout)["results"]
    by_status = {
        status: frozenset(result["id"] for result in results if result["status"] == status)
        for status in ("passed", "failed", "skipped")
    }
    warned = frozenset(result["id"] for result in results if result.get("warnings"))
    return Verdicts(len(by_status["passed"]), by_status["failed"], by_status["skipped"], warned)


@pytest.fixture(scope="module", params=FAMILIES)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    script = str(Path(agent_script.__file__).resolve())
    options = ("--engine", "scripted", "--script", script, "--model-family", request.param, "--ctx", "8192")
    with server_process(tmp_path_factory.mktemp("comply"), *options) as running:
        yield running


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.format)
def test_only_what_is_known_fails(server: ServerProcess, suite: Suite) -> None:
    expected = suite.tests - len(suite.known)
    assert verdicts(suite, server.url) == Verdicts(
        expected, frozenset(suite.known), frozenset(), suite.warned
    )
