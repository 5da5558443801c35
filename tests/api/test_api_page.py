"""docs/api.md against the code: names, statuses and limits. A change of either needs one of the other."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from ds4.api import errors, openapi, protocol, sealed
from ds4.api.anthropic import dialect as anthropic
from ds4.api.anthropic.bodies import CountBody, MessagesBody
from ds4.api.anthropic.request import messages_request
from ds4.api.openai import generation, refused
from ds4.api.responses import durable, store
from ds4.api.responses.compact import CompactBody
from ds4.api.responses.refused import RESPONSES
from ds4.api.responses.request import InputBody, ResponseBody
from ds4.api.services import Limits, ModelCard
from ds4.api.shapes import ChatBody, CompletionBody, DetokenizeBody
from ds4.api.table import TABLE
from ds4.api.tokens import TokenizeBody
from ds4.core import errors as core
from ds4.core.errors import Ds4Error, Unsupported

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
MIB = 1024 * 1024


def section(heading: str) -> str:
    """From a heading to the next one of its level or above."""
    level, start = heading.split()[0], PAGE.index(f"\n{heading}\n") + 1
    end = re.compile(rf"^#{{1,{len(level)}}} ", re.MULTILINE).search(PAGE, start + 1)
    return PAGE[start : end.start() if end else None]


def rows(text: str, head: str) -> Iterator[list[str]]:
    """The cells of the first table whose head begins with `head`."""
    lines = iter(text.splitlines())
    next(line for line in lines if line.startswith(f"| {head} |"))
    next(lines)
    for line in lines:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def ticked(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def named(heading: str, table: str) -> list[str]:
    return [name for row in rows(section(heading), table) for name in ticked(row[0])]


def fields(*bodies: type[BaseModel]) -> set[str]:
    return {name for body in bodies for name in body.model_fields}


CHAT, COMPLETIONS = "## POST /v1/chat/completions", "## POST /v1/completions"
RESPONSES_, MESSAGES = "## POST /v1/responses", "## POST /v1/messages"
COUNT_AND_COMPACT = "### POST /v1/responses/input_tokens, POST /v1/responses/compact"
OWN_REFUSALS = {
    "tool_choice": {"type": "any"},
    "output_config.format": {"type": "json_schema"},
    "output_format": {"type": "json_schema"},
    "tools.N.strict": True,
}
"""Those of Messages, with a value that is refused."""


@pytest.mark.parametrize(
    ("heading", "body", "elsewhere"),
    [
        # What is only refused stands in the other table.
        (CHAT, ChatBody, set[str]()),
        (COMPLETIONS, CompletionBody, set[str]()),
        (RESPONSES_, ResponseBody, set[str]()),
        (MESSAGES, MessagesBody, {"output_format"}),
    ],
)
def test_every_field_that_counts_is_there(heading: str, body: type[BaseModel], elsewhere: set[str]) -> None:
    found = named(heading, "Field")
    assert set(found) == fields(body) - elsewhere
    assert len(found) == len(set(found))


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        (CHAT, set(refused.CHAT)),
        (COMPLETIONS, set(refused.COMPLETIONS)),
        (RESPONSES_, {*RESPONSES, "text.format", "tool_choice"}),
        (MESSAGES, set(OWN_REFUSALS)),
    ],
)
def test_every_refusal_is_there(heading: str, expected: set[str]) -> None:
    assert set(named(heading, "Refused")) == expected


@pytest.mark.parametrize("path", OWN_REFUSALS)
def test_the_refusals_of_messages_happen(path: str) -> None:
    value: object = OWN_REFUSALS[path]
    for part in reversed(path.split(".")):
        value = [value] if part == "N" else {part: value}
    assert isinstance(value, dict)
    body = {"messages": [{"role": "user", "content": "hi"}], **value}
    with pytest.raises(Unsupported) as error:
        messages_request(body, ModelCard("m", "m", 100, 100), keep_billing_header=False)
    assert error.value.param == path.replace("N", "0")


@pytest.mark.parametrize(
    ("heading", "begin", "bodies"),
    [
        (
            "### POST /v1/responses/input_tokens, POST /v1/responses/compact",
            "Both take",
            [InputBody, CompactBody],
        ),
        ("### POST /v1/messages/count_tokens", "Takes", [CountBody]),
    ],
)
def test_the_smaller_bodies_are_told_in_full(heading: str, begin: str, bodies: list[type[BaseModel]]) -> None:
    text = section(heading)
    listed = text[text.index(begin) : text.index("above")]
    assert set(ticked(listed)) == fields(*bodies)


def test_token_endpoints_name_their_fields() -> None:
    told = {row[0]: row[1] for row in rows(section("## Models, tokens, status"), "Endpoint")}
    assert set(ticked(told["`POST /tokenize`"])) == fields(TokenizeBody) | {"tokens"}
    assert set(ticked(told["`POST /detokenize`"])) == fields(DetokenizeBody) | {"content"}


def test_every_path_is_there() -> None:
    served = {
        f"{method} {openapi.shown(entry)}"
        for entry in TABLE
        for method in entry.operations
        if method != "HEAD"
    }
    assert {name for row in rows(PAGE, "Endpoint") for name in ticked(row[0])} == served


def test_links_lead_to_headings_of_the_page() -> None:
    anchors = {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        for title in re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
    }
    links = re.findall(r"\(#([^)]+)\)", PAGE)
    assert links
    assert set(links) <= anchors


ERRORS: list[Ds4Error] = [
    core.BadRequest("x"),
    errors.Unauthorized("x"),
    errors.Forbidden("x"),
    core.NotFound("x"),
    errors.WrongMethod("GET", "/", ()),
    errors.SlowBody("x"),
    core.TooLarge("x"),
    core.Overloaded("x", retry_after=1),
    core.ServerError("x"),
    core.Unavailable("x"),
]


def test_statuses_and_types_are_those_of_the_errors() -> None:
    told = [[row[0], *ticked(row[2]), *ticked(row[3])] for row in rows(section("## Errors"), "Status")]
    kind = re.compile(r'"type":"(\w+)"')
    made = [
        [
            str(errors.status_of(error)),
            kind.findall(errors.openai().body(error).decode())[0],
            kind.findall(anthropic.dialect().body(error).decode())[1],
        ]
        for error in ERRORS
    ]
    assert told == made


def test_limits_are_those_of_the_code() -> None:
    limits = Limits()
    assert dict(rows(section("## Limits"), "What")) == {
        "body": f"{limits.body_bytes // MIB} MiB",
        "head of a request": f"{protocol.HEAD_BYTES // 1024} KiB",
        "silence while a body is sent": f"{limits.body_patience:g} s",
        "JSON: levels": f"{limits.json_depth}",
        "JSON: commas and brackets": f"{limits.json_marks:,}",
        "answers of one request": f"{generation.MAX_CHOICES}",
        "stop strings": f"{generation.MAX_STOPS}",
        "characters of all stop strings": f"{generation.MAX_STOP_CHARS:,}",
        "sealed reasoning of one request, unpacked": f"{sealed.MAX_BYTES // MIB} MiB",
    }
    assert f"nothing for {limits.heartbeat:g} seconds" in PAGE
    memory, disk = section("### What is kept").split("with `--kv-disk-dir`")
    assert f"{store.MAX_RESPONSES:,} and\n{store.MAX_BYTES // MIB} MiB" in memory
    assert f"{durable.MAX_RESPONSES:,} and {durable.MAX_BYTES // MIB} MiB" in disk
