"""The official anthropic SDK against a running server, on the scripted engine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest
from anthropic.types import Message, ToolUseBlock

from ds4.testing.process import server_process

pytestmark = [pytest.mark.server]

SCRIPT = '''
CALL = """

<｜DSML｜tool_calls>
<｜DSML｜invoke name="stock">
<｜DSML｜parameter name="item" string="true">ITEM</｜DSML｜parameter>
<｜DSML｜parameter name="depth" string="false">2</｜DSML｜parameter>
</｜DSML｜invoke>
</｜DSML｜tool_calls>"""


def reply(prompt):
    thought = "Let me look.</think>" if prompt.endswith("<think>") else ""
    if "Count" in prompt:
        return thought + "one two three four five " * 20
    if "Recall" in prompt:
        return thought + ("kept" if "Let me look." in prompt else "lost")
    results = prompt.count("pieces in stock")
    if '"name": "stock"' not in prompt or results > 1:
        return thought + "A and B are in stock."
    return thought + "Looking." + CALL.replace("ITEM", "AB"[results])
'''
TOOL: Any = {
    "name": "stock",
    "description": "How many there are.",
    "input_schema": {
        "type": "object",
        "properties": {"item": {"type": "string"}, "depth": {"type": "integer"}},
    },
}
QUESTION: list[Any] = [{"role": "user", "content": "Are A and B there?"}]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[anthropic.Anthropic]:
    folder: Path = tmp_path_factory.mktemp("anthropic")
    script = folder / "stock.py"
    script.write_text(SCRIPT, encoding="utf-8")
    options = ("--engine", "scripted", "--script", str(script), "--model-family", "deepseek-v4")
    with (
        server_process(folder, *options, "--ctx", "2048") as server,
        anthropic.Anthropic(base_url=server.url, api_key="none", max_retries=0) as made,
    ):
        yield made


def whole(client: anthropic.Anthropic, messages: list[Any], **fields: Any) -> Message:
    made: Message = client.messages.create(model="any", max_tokens=500, messages=messages, **fields)
    return made


def streamed(client: anthropic.Anthropic, messages: list[Any], **fields: Any) -> Message:
    with client.messages.stream(model="any", max_tokens=500, messages=messages, **fields) as stream:
        return stream.get_final_message()


BOTH = pytest.mark.parametrize("ask", [whole, streamed])


def shown(message: Message) -> list[dict[str, Any]]:
    return [block.model_dump(exclude={"id", "parsed_output"}) for block in message.content]


def test_whole_and_streamed_answers_are_the_same(client: anthropic.Anthropic) -> None:
    whole(client, QUESTION, tools=[TOOL])
    one, other = whole(client, QUESTION, tools=[TOOL]), streamed(client, QUESTION, tools=[TOOL])
    assert shown(one) == shown(other)
    assert [block.type for block in one.content] == ["thinking", "text", "tool_use"]
    assert (one.stop_reason, one.model, one.role) == (other.stop_reason, other.model, other.role)
    assert one.usage.model_dump() == other.usage.model_dump()


@BOTH
def test_two_calls_and_an_answer(client: anthropic.Anthropic, ask: Any) -> None:
    messages = list(QUESTION)
    for item in "AB":
        said: Message = ask(client, messages, tools=[TOOL])
        assert said.stop_reason == "tool_use"
        call = said.content[-1]
        assert isinstance(call, ToolUseBlock)
        assert (call.name, call.input) == ("stock", {"item": item, "depth": 2})
        messages.append(said.to_param())
        text = f"7 pieces in stock of {item}"
        result = {"type": "tool_result", "tool_use_id": call.id, "content": [{"type": "text", "text": text}]}
        messages.append({"role": "user", "content": [result]})
    last: Message = ask(client, messages, tools=[TOOL])
    assert last.stop_reason == "end_turn"
    assert shown(last)[-1]["text"] == "A and B are in stock."


@BOTH
@pytest.mark.parametrize("display", ["summarized", "omitted"])
def test_reasoning_survives_the_round_trip(client: anthropic.Anthropic, ask: Any, display: str) -> None:
    thinking = {"type": "adaptive", "display": display}
    said: Message = ask(client, QUESTION, tools=[TOOL], thinking=thinking)
    thought = said.content[0]
    assert thought.type == "thinking"
    assert thought.thinking == ("" if display == "omitted" else "Let me look.")
    result = {"type": "tool_result", "tool_use_id": said.content[-1].id, "content": "Recall."}  # type: ignore[union-attr]
    turns = [*QUESTION, said.to_param(), {"role": "user", "content": [result]}]
    assert shown(ask(client, turns, tools=[TOOL], thinking={"type": "enabled"}))[-1]["text"] == "kept"


@BOTH
def test_usage_adds_up_to_what_counting_says(client: anthropic.Anthropic, ask: Any) -> None:
    counted = client.messages.count_tokens(model="any", messages=QUESTION, tools=[TOOL]).input_tokens
    for fields in ({}, {"cache_control": {"type": "ephemeral"}}):
        usage = ask(client, QUESTION, tools=[TOOL], **fields).usage
        parts = (usage.input_tokens, usage.cache_read_input_tokens, usage.cache_creation_input_tokens)
        assert sum(parts) == counted
    assert parts == (1, counted - 1, 0), "the same prompt again"
    assert usage.output_tokens > usage.output_tokens_details.thinking_tokens > 0


@BOTH
def test_limits_and_stop_sequences(client: anthropic.Anthropic, ask: Any) -> None:
    count: list[Any] = [{"role": "user", "content": "Count."}]
    said: Message = ask(client, count, thinking={"type": "disabled"}, stop_sequences=["never", "three"])
    assert (said.stop_reason, said.stop_sequence) == ("stop_sequence", "three")
    assert shown(said)[0]["text"] == "one two "
    cut = client.messages.create(model="any", max_tokens=3, messages=count)
    assert (cut.stop_reason, cut.usage.output_tokens) == ("max_tokens", 3)


def test_at_most_one_call_when_asked(client: anthropic.Anthropic) -> None:
    choice: Any = {"type": "auto", "disable_parallel_tool_use": True}
    said = whole(client, QUESTION, tools=[TOOL], tool_choice=choice)
    assert said.stop_reason == "tool_use"
    assert [block.type for block in said.content].count("tool_use") == 1


@pytest.mark.parametrize("stream", [False, True])
def test_a_prompt_beyond_the_context_is_refused_before_the_stream(
    client: anthropic.Anthropic, stream: bool
) -> None:
    long: list[Any] = [{"role": "user", "content": "word " * 5000}]
    with pytest.raises(anthropic.BadRequestError, match=r"prompt is too long: \d+ tokens > 2047") as caught:
        client.messages.create(model="any", max_tokens=10, messages=long, stream=stream)
    assert caught.value.request_id
    assert isinstance(caught.value.body, dict)
    assert caught.value.body["request_id"] == caught.value.request_id


def test_errors_are_raised_as_what_they_are(client: anthropic.Anthropic) -> None:
    forced: Any = {"type": "tool", "name": "never_offered"}
    with pytest.raises(anthropic.BadRequestError, match=r"tool_choice\.name"):
        whole(client, QUESTION, tools=[TOOL], tool_choice=forced)
    with pytest.raises(anthropic.NotFoundError):
        client.models.retrieve("no-such-model")


def test_the_model_list(client: anthropic.Anthropic) -> None:
    model = client.models.list(limit=1000).data[0]
    assert client.models.retrieve(model.id).display_name == model.display_name
