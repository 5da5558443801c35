"""The official openai SDK speaks Responses with a running server, in three families' prompt formats."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseCustomToolCall,
    ResponseCustomToolCallInputDeltaEvent,
    ResponseFunctionCallArgumentsDeltaEvent,
    ResponseFunctionToolCall,
    ResponseReasoningItem,
    ResponseReasoningSummaryTextDeltaEvent,
    ResponseTextDeltaEvent,
)

from ds4.testing.process import ServerProcess, server_process

pytestmark = [pytest.mark.server]

SCRIPT = """
PATCH = {patch!r}
BEFORE, BETWEEN, AFTER = {call!r}


def call(name, **texts):
    middle = "".join(BETWEEN.replace("KEY", key).replace("VALUE", text) for key, text in texts.items())
    return BEFORE.replace("NAME", name) + middle + AFTER


def reply(prompt):
    thought = "Let me think.</think>" if prompt.rstrip().endswith("<think>") else ""
    if "What did I say?" in prompt:
        return thought + ("You said Ada." if "My name is Ada." in prompt else "Nothing.")
    if "Repeat the thought." in prompt:
        return thought + ("Seen." if "Let me think." in prompt else "Not seen.")
    if "team__stock" in prompt and "7 pieces" not in prompt:
        return thought + "Looking." + call("team__stock", item="A")
    if "apply_patch" in prompt and "patched" not in prompt:
        return thought + call("apply_patch", input=PATCH)
    return thought + "All done: A is there."
"""
DSML = "｜DSML｜"
CALLS = {
    "deepseek-v4": (
        f'<{DSML}tool_calls>\n<{DSML}invoke name="NAME">\n',
        f'<{DSML}parameter name="KEY" string="true">VALUE</{DSML}parameter>\n',
        f"</{DSML}invoke>\n</{DSML}tool_calls>",
    ),
    "qwen3.8": (
        "<tool_call>\n<function=NAME>\n",
        "<parameter=KEY>\nVALUE\n</parameter>\n",
        "</function>\n</tool_call>",
    ),
    "glm-5.2": ("<tool_call>NAME", "<arg_key>KEY</arg_key><arg_value>VALUE</arg_value>", "</tool_call>"),
}
PATCH = '*** Begin Patch\n*** Add File: a.txt\n+"quoted" \\ <tag> é\n\n*** End Patch\n'
SCHEMA = {"type": "object", "properties": {"item": {"type": "string"}}}
STOCK = {"type": "function", "name": "stock", "parameters": SCHEMA, "strict": False}
TOOLS: Any = [
    {"type": "namespace", "name": "team", "description": "The team's.", "tools": [STOCK]},
    {
        "type": "custom",
        "name": "apply_patch",
        "description": "Edits files.",
        "format": {"type": "text"},
    },
    {"type": "web_search"},
]
SUMMARY: Any = {"summary": "auto"}


@pytest.fixture(scope="module", params=sorted(CALLS))
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    folder: Path = tmp_path_factory.mktemp("responses")
    script = folder / "script.py"
    script.write_text(SCRIPT.format(patch=PATCH, call=CALLS[request.param]), encoding="utf-8")
    options = ["--engine", "scripted", "--script", str(script), "--model-family", request.param]
    with server_process(folder, *options, "--ctx", "4096") as running:
        yield running


@pytest.fixture
def client(server: ServerProcess) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as made:
        yield made


def whole(client: openai.OpenAI, **fields: Any) -> Response:
    answer: Response = client.responses.create(model="any", **fields)
    return answer


def streamed(client: openai.OpenAI, **fields: Any) -> Response:
    """The last event's response, once its deltas have been added up."""
    text = arguments = raw = ""
    last = None
    for event in client.responses.create(model="any", stream=True, **fields):
        match event:
            case ResponseTextDeltaEvent():
                text += event.delta
            case ResponseFunctionCallArgumentsDeltaEvent():
                arguments += event.delta
            case ResponseCustomToolCallInputDeltaEvent():
                raw += event.delta
            case ResponseCompletedEvent():
                last = event.response
    assert last is not None
    assert last.output_text == text
    assert (
        "".join(item.arguments for item in last.output if isinstance(item, ResponseFunctionToolCall))
        == arguments
    )
    assert "".join(item.input for item in last.output if isinstance(item, ResponseCustomToolCall)) == raw
    return last


def reasoning_of(answer: Response) -> ResponseReasoningItem:
    (item,) = [item for item in answer.output if isinstance(item, ResponseReasoningItem)]
    return item


@pytest.mark.parametrize("ask", [whole, streamed])
def test_an_answer_with_reasoning_and_usage(client: openai.OpenAI, ask: Any) -> None:
    answer: Response = ask(client, input="Hello.", reasoning=SUMMARY)
    assert answer.output_text == "All done: A is there."
    assert reasoning_of(answer).summary[0].text == "Let me think."
    assert answer.usage is not None
    assert answer.usage.output_tokens_details.reasoning_tokens > 0
    assert answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens


def test_the_streamed_answer_is_the_whole_one(client: openai.OpenAI) -> None:
    answers = [ask(client, input="Hello.", tools=TOOLS, reasoning=SUMMARY) for ask in (whole, streamed)]
    one, other = (
        [item.model_dump(exclude={"id", "call_id"}) for item in answer.output] for answer in answers
    )
    assert one == other


def test_reasoning_is_streamed_when_it_is_asked_for(client: openai.OpenAI) -> None:
    events = list(client.responses.create(model="any", input="Hello.", reasoning=SUMMARY, stream=True))
    shown = [event.delta for event in events if isinstance(event, ResponseReasoningSummaryTextDeltaEvent)]
    assert "".join(shown) == "Let me think."


def answered(call: Any, output: str) -> Any:
    kind = "function_call_output" if call.type == "function_call" else "custom_tool_call_output"
    return {"type": kind, "call_id": call.call_id, "output": output}


@pytest.mark.parametrize("ask", [whole, streamed])
@pytest.mark.parametrize("how", ["replay", "previous"])
def test_a_loop_of_a_namespaced_and_a_custom_call(client: openai.OpenAI, ask: Any, how: str) -> None:
    history: list[Any] = [{"role": "user", "content": "Is A there? Then patch it."}]
    fields: dict[str, Any] = {"tools": TOOLS}
    for name, output in (("stock", "7 pieces"), ("apply_patch", "patched")):
        answer: Response = ask(client, input=history, **fields)
        call: Any = answer.output[-1]
        assert call.name == name
        if isinstance(call, ResponseFunctionToolCall):
            assert (call.namespace, json.loads(call.arguments)) == ("team", {"item": "A"})
        else:
            assert call.input == PATCH
        if how == "previous":
            history, fields = [], {"tools": TOOLS, "previous_response_id": answer.id}
        else:
            history += [item.model_dump(exclude_none=True) for item in answer.output]
        history.append(answered(call, output))
    answer = ask(client, input=history, **fields)
    assert (answer.output_text, answer.status) == ("All done: A is there.", "completed")


def test_a_response_goes_on_from_the_previous_one(client: openai.OpenAI) -> None:
    first = whole(client, input="My name is Ada.")
    assert (
        whole(client, input="What did I say?", previous_response_id=first.id).output_text == "You said Ada."
    )
    assert whole(client, input="What did I say?").output_text == "Nothing."


def test_sealed_reasoning_is_restored(client: openai.OpenAI) -> None:
    first = whole(client, input="Hello.", tools=TOOLS, store=False, include=["reasoning.encrypted_content"])
    item = reasoning_of(first)
    assert (item.summary, bool(item.encrypted_content)) == ([], True)
    call: Any = first.output[-1]
    history: list[Any] = [
        {"role": "user", "content": "Repeat the thought."},
        *(made.model_dump(exclude_none=True) for made in first.output),
        answered(call, "7 pieces"),
    ]
    assert whole(client, input=history, tools=TOOLS, store=False).output_text == "Seen."
    without: Any = [made for made in history if made.get("type") != "reasoning"]
    assert whole(client, input=without, tools=TOOLS, store=False).output_text == "Not seen."


def test_a_stored_response_can_be_had_and_forgotten(client: openai.OpenAI) -> None:
    answer = whole(client, input="Hello.")
    assert client.responses.retrieve(answer.id).output_text == answer.output_text
    (item,) = client.responses.input_items.list(answer.id)
    assert item.type == "message"
    client.responses.delete(answer.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(answer.id)


def test_input_tokens_are_those_of_the_answer(client: openai.OpenAI) -> None:
    counted = client.responses.input_tokens.count(model="any", input="Hello.", tools=TOOLS)
    usage = whole(client, input="Hello.", tools=TOOLS).usage
    assert usage is not None
    assert counted.input_tokens == usage.input_tokens


def test_a_compaction_is_taken_back(client: openai.OpenAI) -> None:
    short = client.responses.compact(model="any", input="Hello.")
    items: Any = [item.model_dump(exclude_none=True) for item in short.output]
    assert items[-1]["type"] == "compaction"
    assert whole(client, input=[*items, {"role": "user", "content": "Go on."}]).status == "completed"


def test_a_prompt_beyond_the_context_is_refused_before_the_stream(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.responses.create(model="any", input="word " * 9000, stream=True)
    assert (caught.value.code, caught.value.param) == ("context_length_exceeded", "input")


def test_an_offer_of_a_web_socket_is_refused_and_the_connection_lives_on(server: ServerProcess) -> None:
    offer = {"connection": "Upgrade", "upgrade": "websocket", "sec-websocket-version": "13"}
    with httpx.Client(base_url=server.url) as client:
        assert client.get("/v1/responses", headers=offer).status_code == 405
        assert client.post("/v1/responses", json={"model": "m", "input": "Hello."}).status_code == 200
