import json

import pytest
from bench.amplification import Saved, unique
from bench.desk import Cost
from bench.listening import Counts, Listener
from bench.shapes import Api, filler, folded, shapes
from bench.talk import Answer, Call, Json, Results, Turn, User, body


def cost(prompt: int, kept: int, computed: int) -> Cost:
    return Cost("A", "turn", prompt, computed, 10, kept, 0.1)


@pytest.mark.parametrize(
    ("prompt", "kept", "computed", "new", "excess"),
    [
        (100, 0, 100, 100, 0),
        (150, 110, 45, 40, 5),
        (100, 110, 1, 1, 0),  # asked once more: one token is always computed
        (150, 110, 20, 40, 0),  # another agent has computed some of it
    ],
)
def test_excess_is_what_the_client_did_not_add(
    prompt: int, kept: int, computed: int, new: int, excess: int
) -> None:
    found = cost(prompt, kept, computed)
    assert (found.new, found.excess) == (new, excess)


def test_rows_are_unique_once() -> None:
    saves = [Saved(100, False, 1.0, 1.0), Saved(200, False, 2.0, 1.0), Saved(300, False, 3.0, 1.0)]
    assert unique(saves) == pytest.approx(3.0)


def test_a_window_is_new_wherever_it_is_saved() -> None:
    whole = [Saved(100, False, 1.5, 1.5), Saved(300, False, 3.5, 2.5)]
    window = Saved(200, True, 0.5, 0.5)
    assert unique(whole) == pytest.approx(3.0 + 2 * 0.5)
    assert unique([*whole, window]) == pytest.approx(3.0 + 3 * 0.5)


CHAT = [
    {"choices": [{"delta": {"role": "assistant", "content": ""}}]},
    {"choices": [{"delta": {"content": "I "}}]},
    {"choices": [{"delta": {"content": "go.", "reasoning_content": "hm"}}]},
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "bash"}}]}}]},
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": '{"command":'}}]}}]},
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": ' "ls"}'}}]}}]},
    {
        "choices": [],
        "usage": {
            "prompt_tokens": 9,
            "completion_tokens": 4,
            "prompt_tokens_details": {"cached_tokens": 7},
        },
    },
]
MESSAGES = [
    {
        "type": "message_start",
        "message": {"usage": {"input_tokens": 2, "cache_read_input_tokens": 7, "output_tokens": 0}},
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "I go."}},
    {
        "type": "content_block_start",
        "index": 2,
        "content_block": {"type": "tool_use", "id": "c1", "name": "bash"},
    },
    {
        "type": "content_block_delta",
        "index": 2,
        "delta": {"type": "input_json_delta", "partial_json": '{"command": "ls"}'},
    },
    {"type": "message_delta", "usage": {"output_tokens": 4}},
]
RESPONSES = [
    {"type": "response.created", "response": {}},
    {"type": "response.output_text.delta", "delta": "I go."},
    {
        "type": "response.output_item.done",
        "item": {
            "type": "function_call",
            "call_id": "c1",
            "name": "bash",
            "arguments": '{"command": "ls"}',
        },
    },
    {
        "type": "response.completed",
        "response": {
            "usage": {
                "input_tokens": 9,
                "output_tokens": 4,
                "input_tokens_details": {"cached_tokens": 7},
            }
        },
    },
]


@pytest.mark.parametrize(
    ("api", "events"), [(Api.CHAT, CHAT), (Api.MESSAGES, MESSAGES), (Api.RESPONSES, RESPONSES)]
)
def test_each_api_tells_the_call_and_the_counts(api: Api, events: list[dict[str, object]]) -> None:
    listener = Listener(api)
    begun = []
    for event in events:
        listener.heard(event)
        begun.append(listener.begun)
    assert (begun[0], begun[-1]) == (False, True)
    assert listener.counts() == Counts(9, 7, 4)
    (call,) = listener.answer().calls
    assert (call.id, call.name, json.loads(call.arguments)) == ("c1", "bash", {"command": "ls"})


def test_an_error_in_a_stream_is_not_an_answer() -> None:
    with pytest.raises(AssertionError, match="too long"):
        Listener(Api.CHAT).heard({"error": {"message": "too long"}})


@pytest.mark.parametrize("name", shapes())
def test_a_turn_only_adds_to_what_was_sent_before(name: str) -> None:
    """Else the figures would blame the server for what the client changed."""
    shape = shapes()[name]
    call = Call("c1", "bash", '{"command": "ls"}')
    item: Json = {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": call.arguments}
    turns: list[Turn] = [
        User("one"),
        Answer("I go.", calls=(call,), items=(item,)),
        Results((("c1", "a file"),)),
    ]
    first, later = body(shape, turns[:1], 9), body(shape, turns, 9)
    key = "input" if shape.api is Api.RESPONSES else "messages"
    before, after = first.pop(key), later.pop(key)
    assert isinstance(before, list)
    assert isinstance(after, list)
    assert first == later
    assert after[: len(before)] == before
    assert len(after) == len(before) + 2


def test_a_folded_shape_is_as_long() -> None:
    shape = shapes()["pi"]
    assert sum(folded(shape).system) == sum(shape.system) + sum(tool.size for tool in shape.tools)
    assert len(filler("a", 500)) in (499, 500)
