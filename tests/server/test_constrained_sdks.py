"""The official SDKs demand forms and calls of a model that would say anything: they always get them.

The demo model at a temperature of 1.5 knows nothing of JSON, tools or patches; what is right here is the
constraint's doing.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Literal

import anthropic
import openai
import pytest
from pydantic import BaseModel, ConfigDict

from ds4.testing.process import ServerProcess, server_process

pytestmark = [pytest.mark.server, pytest.mark.engine]

FAMILIES = ("deepseek-v4", "glm-5.2", "qwen3.8", "chatml")
QUESTION: Any = [{"role": "user", "content": "How is the weather in Rome?"}]
WARM: dict[str, Any] = {"temperature": 1.5, "model": "any"}
# Reasoning is exempt, and at such a temperature hardly ends.
CHAT = WARM | {"extra_body": {"thinking": False}}
RESPONSES = WARM | {"reasoning": {"effort": "none"}}
TOKENS = 400


class Weather(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sky: Literal["clear", "cloudy"]
    windy: bool
    degrees: Literal[10, 20, 30]


SCHEMA = Weather.model_json_schema()
TOOLS: Any = [
    {"type": "function", "function": {"name": name, "parameters": SCHEMA, "strict": True}}
    for name in ("report", "file")
]
FLAT: Any = [{"type": "function", **tool["function"]} for tool in TOOLS]
THEIRS: Any = [{"name": name, "input_schema": SCHEMA, "strict": True} for name in ("report", "file")]
CODE = {"type": "grammar", "syntax": "regex", "definition": "[A-F]{3}-[0-9]{2}"}


@pytest.fixture(scope="module", params=FAMILIES)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp(request.param)
    options = ["--ctx", "2048", "--batched-session", "2", "--model-family", request.param]
    with server_process(folder, *options) as running:
        yield running


@pytest.fixture
def client(server: ServerProcess) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as made:
        yield made


@pytest.fixture
def theirs(server: ServerProcess) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0) as made:
        yield made


def test_chat_parses(client: openai.OpenAI) -> None:
    answer = client.chat.completions.parse(
        messages=QUESTION, response_format=Weather, max_tokens=TOKENS, seed=1, n=2, **CHAT
    )
    assert [choice.finish_reason for choice in answer.choices] == ["stop"] * 2
    assert all(isinstance(choice.message.parsed, Weather) for choice in answer.choices)


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        ("required", {"report", "file"}),
        ({"type": "function", "function": {"name": "file"}}, {"file"}),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [TOOLS[0]]}},
            {"report"},
        ),
    ],
)
def test_chat_calls(client: openai.OpenAI, choice: Any, names: set[str]) -> None:
    asked: dict[str, Any] = {
        "messages": QUESTION,
        "tools": TOOLS,
        "tool_choice": choice,
        "parallel_tool_calls": False,
        "max_tokens": TOKENS,
        "seed": 3,
        **CHAT,
    }
    (whole,) = client.chat.completions.create(**asked).choices
    assert whole.finish_reason == "tool_calls"
    calls: Any = whole.message.tool_calls
    (call,) = calls
    assert call.function.name in names
    Weather.model_validate_json(call.function.arguments)
    with client.chat.completions.stream(**asked) as stream:
        (streamed,) = stream.get_final_completion().choices
    calls = streamed.message.tool_calls
    (same,) = calls
    Weather.model_validate_json(same.function.arguments)


def test_chat_calls_custom_tools(client: openai.OpenAI) -> None:
    custom: Any = {"name": "code", "format": {"type": "grammar", "grammar": CODE}}
    answer = client.chat.completions.create(
        messages=QUESTION,
        tools=[{"type": "custom", "custom": custom}],
        tool_choice="required",
        parallel_tool_calls=False,
        max_tokens=TOKENS,
        seed=1,
        **CHAT,
    )
    assert answer.choices[0].finish_reason == "tool_calls"
    calls: Any = answer.choices[0].message.tool_calls
    (call,) = calls
    assert call.type == "custom"
    assert re.fullmatch(r"[A-F]{3}-[0-9]{2}", call.custom.input)


@pytest.mark.parametrize(
    ("fields", "pattern"),
    [
        ({"guided_choice": ["yes", "no"]}, "yes|no"),
        ({"guided_regex": "[ab]{4}"}, "[ab]{4}"),
        ({"grammar": 'root ::= "x" [yz]'}, "x[yz]"),
        ({"structured_outputs": {"grammar": 'start: "x" /[yz]/'}}, "x[yz]"),
    ],
)
def test_forms_of_other_servers(client: openai.OpenAI, fields: dict[str, Any], pattern: str) -> None:
    chat = client.chat.completions.create(
        messages=QUESTION, extra_body={"thinking": False, **fields}, max_tokens=TOKENS, **WARM
    )
    assert re.fullmatch(pattern, chat.choices[0].message.content or "")
    raw = client.completions.create(prompt="Say it: ", extra_body=fields, max_tokens=20, **WARM)
    assert re.fullmatch(pattern, raw.choices[0].text)


def test_responses_parse_and_call(client: openai.OpenAI) -> None:
    parsed = client.responses.parse(input="Rome?", text_format=Weather, max_output_tokens=TOKENS, **RESPONSES)
    assert parsed.status == "completed"
    assert isinstance(parsed.output_parsed, Weather)
    custom: Any = {"type": "custom", "name": "code", "format": CODE}
    choices: Any = (("required", None), ({"type": "custom", "name": "code"}, "custom_tool_call"))
    for choice, kind in choices:
        answer = client.responses.create(
            input="Rome?",
            tools=[*FLAT, custom],
            tool_choice=choice,
            parallel_tool_calls=False,
            max_output_tokens=TOKENS,
            **RESPONSES,
        )
        assert answer.status == "completed"
        (call,) = [item for item in answer.output if item.type in ("function_call", "custom_tool_call")]
        assert kind in (None, call.type)
        if call.type == "function_call":
            Weather.model_validate_json(call.arguments)
        elif call.type == "custom_tool_call":
            assert re.fullmatch(r"[A-F]{3}-[0-9]{2}", call.input)


THEIRS_ASKED: dict[str, Any] = {
    "messages": QUESTION,
    "max_tokens": TOKENS,
    "model": "any",
    "thinking": {"type": "disabled"},
    # The SDK knows no temperature any more.
    "extra_body": {"temperature": 1.5},
}


def test_messages_parse(theirs: anthropic.Anthropic) -> None:
    said = theirs.messages.parse(**THEIRS_ASKED, output_format=Weather)
    assert said.stop_reason == "end_turn"
    assert isinstance(said.parsed_output, Weather)
    form: Any = {"format": {"type": "json_schema", "schema": SCHEMA}}
    with theirs.messages.stream(**THEIRS_ASKED, output_config=form) as stream:
        message = stream.get_final_message()
    (text,) = [block.text for block in message.content if block.type == "text"]
    Weather.model_validate_json(text)


@pytest.mark.parametrize("choice", [{"type": "any"}, {"type": "tool", "name": "file"}])
def test_messages_call(theirs: anthropic.Anthropic, choice: Any) -> None:
    choice |= {"disable_parallel_tool_use": True}
    asked = THEIRS_ASKED | {"tools": THEIRS, "tool_choice": choice}
    with theirs.messages.stream(**asked) as stream:
        streamed = stream.get_final_message()
    for message in (theirs.messages.create(**asked), streamed):
        assert message.stop_reason == "tool_use"
        blocks: Any = message.content
        (call,) = [block for block in blocks if block.type == "tool_use"]
        assert call.name == choice.get("name", call.name)
        Weather.model_validate(call.input)


def test_thinking_that_takes_all_tokens_leaves_no_half_form(theirs: anthropic.Anthropic) -> None:
    """Reasoning is exempt, and this model does not end it."""
    thinking: Any = {"type": "enabled", "budget_tokens": 1024}
    form: Any = {"format": {"type": "json_schema", "schema": SCHEMA}}
    asked = THEIRS_ASKED | {"thinking": thinking, "max_tokens": 100}
    said = theirs.messages.create(**asked, output_config=form)
    if said.stop_reason == "end_turn":
        (text,) = [block.text for block in said.content if block.type == "text"]
        Weather.model_validate_json(text)
    else:
        assert said.stop_reason == "max_tokens"
        assert [block.text for block in said.content if block.type == "text"] in ([], [""])


def test_what_cannot_be_kept_is_refused_by_its_place(client: openai.OpenAI) -> None:
    schema = {"type": "object", "properties": {"a": {"not": {"type": "string"}}}}
    form: Any = {"type": "json_schema", "json_schema": {"name": "A", "schema": schema}}
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(messages=QUESTION, response_format=form, model="any")
    assert caught.value.param == "response_format.json_schema.schema.properties.a.not"
    assert json.dumps(caught.value.body)
