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
from ds4.api.openai.chat import chat_request
from ds4.api.openai.completions import completion_request
from ds4.api.responses import durable, store
from ds4.api.responses.compact import CompactBody
from ds4.api.responses.refused import RESPONSES
from ds4.api.responses.request import InputBody, ResponseBody, response_request
from ds4.api.responses.resolve import Shelf
from ds4.api.services import Limits, ModelCard
from ds4.api.shapes import ChatBody, CompletionBody, DetokenizeBody
from ds4.api.table import TABLE
from ds4.api.tokens import TokenizeBody
from ds4.constrain.schema import limits
from ds4.constrain.schema.formats import FORMATS
from ds4.constrain.schema.keywords import KEYWORDS, Status
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
OF_FORMS = {
    "response_format": {"type": "xml"},
    "structured_outputs.structural_tag": "x",
    "structured_outputs.disable_additional_properties": True,
}
REFUSALS: dict[str, dict[str, object]] = {
    CHAT: {
        "tool_choice": {"type": "web_search"},
        "modalities": ["audio"],
        "audio": {"voice": "x"},
        "web_search_options": {},
        "prompt_logprobs": 0,
        **OF_FORMS,
    },
    COMPLETIONS: {"suffix": "x", "prompt_logprobs": 0, **OF_FORMS},
    RESPONSES_: {
        "background": True,
        "conversation": "c",
        "prompt": {"id": "p"},
        "n": 2,
        "text.format": {"type": "xml"},
        "tool_choice": {"type": "web_search"},
    },
    MESSAGES: {
        "tool_choice": {"type": "from_the_future"},
        "output_config.format": {"type": "xml"},
        "output_format": {"type": "xml"},
    },
}
"""By field, with a value that is refused."""


@pytest.mark.parametrize(
    ("heading", "body"),
    [
        (CHAT, ChatBody),
        (COMPLETIONS, CompletionBody),
        (RESPONSES_, ResponseBody),
        (MESSAGES, MessagesBody),
    ],
)
def test_every_field_that_counts_is_there(heading: str, body: type[BaseModel]) -> None:
    found = named(heading, "Field")
    assert set(found) == fields(body)
    assert len(found) == len(set(found))


@pytest.mark.parametrize("heading", REFUSALS)
def test_every_refusal_is_there(heading: str) -> None:
    assert set(named(heading, "Refused")) == set(REFUSALS[heading])


def test_fields_that_are_refused_without_a_look_are_all_among_them() -> None:
    for heading, table in (
        (CHAT, refused.CHAT),
        (COMPLETIONS, refused.COMPLETIONS),
        (RESPONSES_, RESPONSES),
    ):
        assert set(table) <= set(REFUSALS[heading])


def parse(heading: str, body: dict[str, object]) -> object:
    card, said = ModelCard("m", "m", 100, 100), {"messages": [{"role": "user", "content": "hi"}]}
    match heading:
        case "## POST /v1/chat/completions":
            return chat_request(said | body, card, 300)
        case "## POST /v1/completions":
            return completion_request({"prompt": "hi"} | body, card, 300)
        case "## POST /v1/responses":
            shelf = Shelf(store.MemoryStore(), "")
            return response_request({"model": "m", "input": "hi"} | body, card, 300, shelf)
        case _:
            return messages_request(said | body, card)


@pytest.mark.parametrize(
    ("heading", "path"), [(heading, path) for heading, table in REFUSALS.items() for path in table]
)
def test_the_refusals_happen(heading: str, path: str) -> None:
    value = REFUSALS[heading][path]
    for part in reversed(path.split(".")):
        value = {part: value}
    assert isinstance(value, dict)
    with pytest.raises(Unsupported) as error:
        parse(heading, value)
    assert error.value.param == path


def test_keywords_of_schemas_are_those_of_the_code() -> None:
    told = {
        name: row[1] for row in rows(section("## Constrained answers"), "Keywords") for name in ticked(row[0])
    }
    for name, keyword in KEYWORDS.items():
        word = {Status.ENFORCED: "enforced", Status.UNSUPPORTED: "unsupported"}.get(
            keyword.status, "annotations: skipped"
        )
        assert told.pop(name) == (f"{word}: {keyword.limit}" if keyword.limit else word)
    assert told == {}


def test_formats_and_bounds_of_schemas_are_those_of_the_code() -> None:
    text = section("## Constrained answers")
    listed = text[text.index("Enforced `format`s of strings:") :]
    formats, _, bounds = listed.partition(". ")
    assert set(ticked(formats)) == {"format", *FORMATS}
    for bound in (
        f"{limits.MAX_BYTES // MIB} MiB",
        f"{limits.MAX_DEPTH} levels",
        f"{limits.MAX_VALUES:,} values",
        f"{limits.MAX_ENUM:,} items",
        f"{limits.MAX_PROPERTIES:,} properties",
    ):
        assert bound in bounds


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
    of_api = Limits()
    assert dict(rows(section("## Limits"), "What")) == {
        "body": f"{of_api.body_bytes // MIB} MiB",
        "head of a request": f"{protocol.HEAD_BYTES // 1024} KiB",
        "silence while a body is sent": f"{of_api.body_patience:g} s",
        "JSON: levels": f"{of_api.json_depth}",
        "JSON: commas and brackets": f"{of_api.json_marks:,}",
        "answers of one request": f"{generation.MAX_CHOICES}",
        "stop strings": f"{generation.MAX_STOPS}",
        "characters of all stop strings": f"{generation.MAX_STOP_CHARS:,}",
        "sealed reasoning of one request, unpacked": f"{sealed.MAX_BYTES // MIB} MiB",
    }
    assert f"nothing for {of_api.heartbeat:g} seconds" in PAGE
    memory, disk = section("### What is kept").split("with `--kv-disk-dir`")
    assert f"{store.MAX_RESPONSES:,} and\n{store.MAX_BYTES // MIB} MiB" in memory
    assert f"{durable.MAX_RESPONSES:,} and {durable.MAX_BYTES // MIB} MiB" in disk
