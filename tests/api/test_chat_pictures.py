"""Images and files in chat: the user is told, a tool's are left out with a word."""

import pytest

from ds4.api.openai.messages import IMAGE_LEFT_OUT, NO_IMAGES, MessageBody, messages_of
from ds4.core.errors import BadRequest

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
CALL = {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
READ = [
    {"role": "user", "content": "What does the picture show?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "a", "content": "Image read"},
]
ATTACHED = {"role": "user", "content": [{"type": "text", "text": "From the tool: "}, PICTURE]}


def texts(*messages: object) -> list[str]:
    return [message.text for message in messages_of([MessageBody.model_validate(body) for body in messages])]


@pytest.mark.parametrize("kind", ["image_url", "input_image", "image"])
def test_a_tools_image_behind_its_answer_is_left_out(kind: str) -> None:
    """So do Pi and OpenCode send what their read tool has found."""
    attached = {"role": "user", "content": ["From the tool: ", {"type": kind}]}
    assert texts(*READ, attached)[3] == "From the tool: " + IMAGE_LEFT_OUT


def test_it_stays_left_out_in_every_later_turn() -> None:
    later = [{"role": "assistant", "content": "I cannot see it."}, {"role": "user", "content": "Go on."}]
    assert texts(*READ, ATTACHED, *later)[3:] == [
        "From the tool: " + IMAGE_LEFT_OUT,
        "I cannot see it.",
        "Go on.",
    ]


@pytest.mark.parametrize("role", ["tool", "function"])
def test_an_image_in_a_tools_answer_is_left_out(role: str) -> None:
    assert texts(*READ[:2], {"role": role, "tool_call_id": "a", "content": [PICTURE]})[2] == IMAGE_LEFT_OUT


@pytest.mark.parametrize(
    ("messages", "path"),
    [
        ([ATTACHED], "messages.0.content.1"),
        ([*READ[:2], ATTACHED], "messages.2.content.1"),
        ([*READ, {"role": "assistant", "content": "A cat."}, ATTACHED], "messages.4.content.1"),
        ([*READ, ATTACHED, ATTACHED], "messages.4.content.1"),
    ],
)
def test_elsewhere_it_is_refused(messages: list[object], path: str) -> None:
    with pytest.raises(BadRequest, match=NO_IMAGES) as caught:
        texts(*messages)
    assert caught.value.param == path


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ({"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="}, "file a.pdf left out"),
        ({}, "file left out"),
        (None, "file left out"),
    ],
)
def test_a_file_is_left_out_with_a_word(file: object, text: str) -> None:
    part = {"type": "file", "file": file}
    assert texts({"role": "user", "content": [part]})[0].startswith(f"[{text}:")
