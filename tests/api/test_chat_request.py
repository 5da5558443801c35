from dataclasses import replace
from typing import Any

import pytest
from api_fakes import CARD

from ds4.api.openai.chat import ChatRequest, chat_request
from ds4.api.openai.messages import NO_IMAGES
from ds4.api.services import ModelCard
from ds4.core.errors import BadRequest, Unsupported
from ds4.core.messages import Message, Role, TextPart, Thinking, Tool, ToolCall
from ds4.core.sampling import Sampling

HELLO = [{"role": "user", "content": "hi"}]


def ask(card: ModelCard = CARD, **fields: Any) -> ChatRequest:
    return chat_request({"messages": HELLO, **fields}, card, n_vocab=257)


def message(**fields: object) -> Message:
    return ask(messages=[fields]).conversation.messages[0]


def refused(**fields: Any) -> BadRequest:
    with pytest.raises(BadRequest) as caught:
        ask(**fields)
    return caught.value


def test_the_smallest_request_has_the_documented_defaults() -> None:
    request = ask()
    assert request.conversation.messages == (Message(Role.USER, (TextPart("hi"),)),)
    assert request.conversation.thinking == Thinking()
    assert request.wanted.sampling == Sampling(temperature=1.0, top_p=1.0, min_p=0.05, top_k=0)
    assert (request.wanted.model, request.wanted.max_tokens) == ("tiny-model", 1000)
    assert not request.wanted.stream


FIELDS = (
    *("model", "stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature", "top_p"),
    *("min_p", "top_k", "seed", "presence_penalty", "frequency_penalty", "repeat_penalty"),
    *("repetition_penalty", "ignore_eos", "logit_bias", "stop", "tools", "tool_choice", "thinking", "think"),
    *("enable_thinking", "reasoning"),
    *("reasoning_effort", "chat_template_kwargs", "n", "logprobs", "top_logprobs", "response_format"),
    *("modalities", "audio", "functions", "function_call", "web_search_options", "prompt_logprobs"),
    "parallel_tool_calls",
)


@pytest.mark.parametrize("name", FIELDS)
def test_null_is_absent(name: str) -> None:
    absent: dict[str, Any] = {name: None}
    assert ask(**absent) == ask()


def test_null_is_absent_inside_messages_and_options() -> None:
    nothing: dict[str, Any] = dict.fromkeys(
        ("reasoning_content", "tool_calls", "tool_call_id", "name", "function_call")
    )
    assert message(role=None, content=None, **nothing) == Message(Role.USER)
    assert not ask(stream_options={"include_usage": None}).wanted.include_usage


def test_unknown_fields_are_skipped_at_every_level() -> None:
    messages = [{"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {}}], "x": 1}]
    assert ask(store=True, service_tier="auto", messages=messages) == ask()


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("system", Role.SYSTEM),
        ("developer", Role.DEVELOPER),
        ("user", Role.USER),
        ("assistant", Role.ASSISTANT),
        ("tool", Role.TOOL),
        ("function", Role.TOOL),
    ],
)
def test_roles(role: str, expected: Role) -> None:
    assert message(role=role, content="x").role is expected


def test_an_unknown_role_is_named() -> None:
    error = refused(messages=[*HELLO, {"role": "narrator", "content": "x"}])
    assert error.param == "messages.1.role"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        ("", ""),
        ([], ""),
        (["bare", {"type": "text", "text": " part"}], "bare part"),
        ([{"type": "input_text", "text": "a"}, {"type": "output_text", "text": "b"}], "ab"),
        ([{"type": "refusal", "refusal": "no"}], "no"),
        ([{"type": "hologram", "text": "kept"}, {"type": "text"}], "kept"),
    ],
)
def test_content_forms(content: object, text: str) -> None:
    assert message(role="user", content=content).text == text


@pytest.mark.parametrize("kind", ["image_url", "input_image", "image"])
def test_images_are_refused_with_the_way_out(kind: str) -> None:
    error = refused(messages=[{"content": ["x", {"type": kind, "image_url": {"url": "data:,"}}]}])
    assert error.message == NO_IMAGES
    assert error.param == "messages.0.content.1"


def test_audio_input_is_refused_by_name() -> None:
    error = refused(messages=[{"content": [{"type": "input_audio", "input_audio": {}}]}])
    assert isinstance(error, Unsupported)
    assert error.param == "messages.0.content.0"


def test_an_assistant_turn_with_calls_and_reasoning() -> None:
    calls = [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
        {"id": "b", "function": {"name": "g", "arguments": {"y": [2]}}},
        {"id": "c", "function": {"name": "h"}},
        {"id": "d", "function": {"arguments": "{}"}},
        {"id": "e", "type": "custom", "custom": {"name": "i", "input": "raw"}},
        {"id": "f", "type": "custom", "custom": {"name": "j"}},
    ]
    found = message(role="assistant", reasoning_content="because", tool_calls=calls)
    assert found.content == ()
    assert found.reasoning == "because"
    assert found.tool_calls == (
        ToolCall("a", "f", '{"x": 1}'),
        ToolCall("b", "g", '{"y":[2]}'),
        ToolCall("c", "h", "{}"),
        ToolCall("e", "i", '{"input":"raw"}'),
        ToolCall("f", "j", '{"input":""}'),
    )


def test_the_old_function_call_form() -> None:
    found = message(role="assistant", function_call={"name": "f", "arguments": "{}"})
    assert found.tool_calls == (ToolCall("", "f", "{}"),)


def test_a_tool_result_keeps_its_call_id_and_name() -> None:
    found = message(role="tool", tool_call_id="a", name="f", content=["1", "2"])
    assert (found.tool_call_id, found.name, found.text) == ("a", "f", "12")


@pytest.mark.parametrize(
    ("fields", "reasoning"),
    [
        ({"reasoning_content": [{"type": "text", "text": "a"}, "b"]}, "ab"),
        ({"reasoning": "other spelling"}, "other spelling"),
        ({"reasoning_content": "first", "reasoning": "second"}, "first"),
        ({"reasoning_content": "\n"}, "\n"),
        ({"reasoning_content": ""}, None),
        ({"reasoning": {"effort": "high"}}, None),
    ],
)
def test_reasoning_forms(fields: dict[str, Any], reasoning: str | None) -> None:
    assert message(role="assistant", content="x", **fields).reasoning == reasoning


def test_tools_wrapped_and_flat_keep_the_clients_key_order() -> None:
    wrapped = {"type": "function", "function": {"parameters": {"b": 1, "a": 2}, "name": "f"}}
    flat = {"name": "g", "description": None}
    search = {"type": "web_search", "external_web_access": True}
    assert ask(tools=[wrapped, search, flat]).conversation.tools == (
        Tool("f", '{"parameters":{"b":1,"a":2},"name":"f"}'),
        Tool("g", '{"name":"g","description":null}'),
    )


@pytest.mark.parametrize("choice", ["none", {"type": "none"}])
def test_tool_choice_none_hides_the_tools(choice: object) -> None:
    assert ask(tools=[{"name": "g"}], tool_choice=choice).conversation.tools == ()


def test_tool_choice_auto_keeps_them() -> None:
    assert ask(tools=[{"name": "g"}], tool_choice="auto").conversation.tools == (Tool("g", '{"name":"g"}'),)


@pytest.mark.parametrize(
    ("tools", "param"),
    [
        ("f", "tools"),
        (["f"], "tools.0"),
        ([{"type": "function"}], "tools.0.name"),
        ([{"name": "a"}, {"function": {"name": ""}}], "tools.1.function.name"),
        ([{"function": 3}], "tools.0.function"),
    ],
)
def test_broken_tools_are_named(tools: object, param: str) -> None:
    assert refused(tools=tools).param == param


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("response_format", {"type": "xml"}),
        ("tool_choice", {"type": "web_search"}),
        ("modalities", ["text", "audio"]),
        ("audio", {"voice": "x"}),
        ("web_search_options", {}),
        ("prompt_logprobs", 0),
    ],
)
def test_what_would_change_the_answer_is_refused_by_name(name: str, value: object) -> None:
    error = refused(**{name: value})
    assert isinstance(error, Unsupported)
    assert error.param == name
    assert name in error.message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n", 1),
        ("logprobs", False),
        ("top_logprobs", 0),
        ("response_format", {"type": "text"}),
        ("modalities", ["text"]),
        ("functions", []),
    ],
)
def test_what_asks_for_the_ordinary_is_fine(name: str, value: object) -> None:
    fields: dict[str, Any] = {name: value}
    assert ask(**fields) == ask()


@pytest.mark.parametrize(
    ("fields", "tokens"),
    [
        ({"max_tokens": 5}, 5),
        ({"max_tokens": 5.0}, 5),
        ({"max_tokens": 0}, 0),
        ({"max_tokens": -3}, 0),
        ({"max_tokens": 10**30}, 2**31 - 1),
        ({"max_completion_tokens": 7}, 7),
        ({"max_tokens": 5, "max_completion_tokens": 7}, 7),
        ({"max_tokens": 5, "max_completion_tokens": None}, 5),
    ],
)
def test_max_tokens(fields: dict[str, Any], tokens: int) -> None:
    assert ask(**fields).wanted.max_tokens == tokens


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"temperature": 0}, Sampling(temperature=0)),
        ({"temperature": -1}, Sampling(temperature=-1)),
        ({"top_p": 0.5}, Sampling(top_p=0.5)),
        ({"top_p": 0}, Sampling()),
        ({"top_p": 7}, Sampling()),
        ({"min_p": -1}, Sampling(min_p=0)),
        ({"min_p": 3}, Sampling(min_p=1)),
        ({"top_k": 40}, Sampling(top_k=40)),
        ({"top_k": -1}, Sampling(top_k=0)),
        ({"top_k": 5000}, Sampling(top_k=1024)),
        ({"seed": 9}, Sampling(seed=9)),
        ({"seed": 2**63 + 9}, Sampling(seed=9)),
        ({"seed": 0}, Sampling(seed=None)),
        ({"seed": -1}, Sampling(seed=None)),
        (
            {"presence_penalty": 0.5, "frequency_penalty": -1},
            Sampling(presence_penalty=0.5, frequency_penalty=-1),
        ),
        (
            {"presence_penalty": -2, "frequency_penalty": 2.0},
            Sampling(presence_penalty=-2, frequency_penalty=2),
        ),
        ({"repeat_penalty": 1.1}, Sampling(repeat_penalty=1.1)),
        ({"repetition_penalty": 1.2}, Sampling(repeat_penalty=1.2)),
        ({"logit_bias": {"5": -100, "256": 1.5}}, Sampling(logit_bias=((5, -100.0), (256, 1.5)))),
        ({"ignore_eos": True, "temperature": 0}, Sampling(temperature=0, ignore_eos=True)),
        ({"logprobs": True}, Sampling(logprobs=0)),
        ({"logprobs": True, "top_logprobs": 20.0}, Sampling(logprobs=20)),
        ({"logprobs": False, "top_logprobs": 0}, Sampling(logprobs=None)),
    ],
)
def test_sampling(fields: dict[str, Any], expected: Sampling) -> None:
    assert ask(**fields).wanted.sampling == expected


def test_several_choices() -> None:
    assert ask(n=3).wanted == replace(ask().wanted, n=3)
    assert ask().wanted.n == 1


@pytest.mark.parametrize(
    ("stop", "stops"),
    [("end", ("end",)), (["a", "", "b", None], ("a", "b")), ("", ()), ([], ())],
)
def test_stop_strings(stop: object, stops: tuple[str, ...]) -> None:
    assert ask(stop=stop).wanted.stops == stops


def test_template_arguments_are_passed_on_as_json() -> None:
    found = ask(chat_template_kwargs={"enable_thinking": False, "b": None}).conversation.template_args
    assert found == (("enable_thinking", "false"), ("b", "null"))


@pytest.mark.parametrize(
    ("fields", "param", "message"),
    [
        ({"messages": None}, "messages", "missing messages"),
        ({"messages": []}, "messages", "messages must not be empty"),
        ({"messages": "hi"}, "messages", "messages must be an array"),
        ({"messages": ["hi"]}, "messages.0", "messages.0 must be an object"),
        ({"messages": [{"role": 1}]}, "messages.0.role", "messages.0.role must be a string"),
        ({"messages": [{"content": 1}]}, "messages.0.content", None),
        ({"messages": [{"content": [1]}]}, "messages.0.content.0", "messages.0.content.0 must be an object"),
        ({"messages": [{"tool_calls": {}}]}, "messages.0.tool_calls", None),
        ({"temperature": "hot"}, "temperature", "temperature must be a number"),
        ({"temperature": True}, "temperature", "temperature must be a number"),
        ({"max_tokens": 1.5}, "max_tokens", "max_tokens must be an integer"),
        ({"max_tokens": "9"}, "max_tokens", "max_tokens must be an integer"),
        ({"top_k": True}, "top_k", "top_k must be an integer"),
        ({"stream": 1}, "stream", "stream must be true or false"),
        ({"stream_options": []}, "stream_options", "stream_options must be an object"),
        ({"stream_options": {"include_usage": 1}}, "stream_options.include_usage", None),
        ({"stop": 3}, "stop", "stop must be a string"),
        ({"stop": ["a", 3]}, "stop.1", "stop.1 must be a string"),
        ({"stop": ["a"] * 129}, "stop", None),
        ({"stop": "a" * 20_000}, "stop", None),
        ({"repeat_penalty": 0}, "repeat_penalty", "repeat_penalty must be at least 0.01"),
        ({"repetition_penalty": 1e300}, "repetition_penalty", "repetition_penalty must be at most 100"),
        ({"presence_penalty": 2.1}, "presence_penalty", "presence_penalty must be at most 2"),
        ({"frequency_penalty": -3}, "frequency_penalty", "frequency_penalty must be at least -2"),
        ({"n": 0}, "n", "n must be at least 1"),
        ({"n": 33}, "n", "n must be at most 32"),
        ({"n": 1.5}, "n", "n must be an integer"),
        ({"logprobs": 5}, "logprobs", "logprobs must be true or false"),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs", "top_logprobs must be at most 20"),
        ({"logprobs": True, "top_logprobs": -1}, "top_logprobs", None),
        ({"top_logprobs": 3}, "top_logprobs", "top_logprobs needs logprobs: true"),
        ({"logit_bias": {"x": 1}}, "logit_bias", None),
        ({"logit_bias": {"257": 1}}, "logit_bias", None),
        ({"logit_bias": {"²": 1}}, "logit_bias", None),
        ({"logit_bias": {"9" * 5000: 1}}, "logit_bias", None),
        ({"logit_bias": {"5": 101}}, "logit_bias.5", None),
        ({"logit_bias": []}, "logit_bias", "logit_bias must be an object"),
        ({"ignore_eos": True}, "ignore_eos", "ignore_eos requires an explicit temperature of 0"),
        ({"ignore_eos": True, "temperature": 0.5}, "ignore_eos", None),
        ({"thinking": "yes"}, "thinking", None),
        ({"reasoning_effort": []}, "reasoning_effort", None),
        ({"chat_template_kwargs": []}, "chat_template_kwargs", None),
        ({"model": 5}, "model", "model must be a string"),
        ({"model": "m" * 300}, "model", None),
    ],
)
def test_what_is_wrong_is_named(fields: dict[str, Any], param: str, message: str | None) -> None:
    error = refused(**fields)
    assert error.param == param
    assert error.message == message if message else error.message.startswith(param.partition(".")[0])
