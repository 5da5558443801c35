"""Real-world templates: with harmless text ours is Jinja's own; with planted spellings nothing changes."""

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prompt_cases import ALL_CASES, CASES, Case, call, chat, control_ids, plainly, say, tool

from ds4.core.messages import Conversation, Message, TextPart, Tool, ToolCall

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
every_way = pytest.mark.parametrize(
    "case", ALL_CASES, ids=lambda case: f"{case.name} layout" if case.layout else case.name
)
half = settings(max_examples=settings().max_examples // 2)

WEATHER = tool("weather", "Tells the weather", "city", "day")


def agent_conversation(case: Case) -> Conversation:
    """As much as the template knows: tools, a call, its result and reasoning."""
    opening = (say("system", "Be brief."), say("user", 'Is it warm in Łódź? a < b & "c"'))
    if case.simple:
        return Conversation((*opening, say("assistant", "It is."), say("user", "Sure?")))
    asked = say(
        "assistant", "", tool_calls=(call("weather", '{"city": "Łódź", "n": [1, null]}'),), reasoning="Hm."
    )
    result = say("tool", "12 °C\nrain", tool_call_id="abcdefgh1")
    closing = (say("assistant", "No."), say("user", "Thanks"))
    return Conversation((*opening, asked, result, *closing), tools=(WEATHER,))


@every_case
def test_harmless_text_renders_as_jinja_alone_would(case: Case) -> None:
    conversation = agent_conversation(case)
    plan = case.renderer().render(conversation)
    assert plan.text == plainly(case, conversation)
    assert len(control_ids(plan)) >= len(conversation.messages)


@every_way
def test_the_ids_spell_the_text(case: Case) -> None:
    plan = case.renderer().render(agent_conversation(case))
    tokenizer = case.renderer()._tokenizer  # noqa: SLF001
    assert b"".join(tokenizer.piece(int(token)) for token in plan.ids).decode() == plan.text


def harmless(text: str) -> str:
    """The same length and outline, with no control spelling left in it."""
    return text.translate({ord(char): "." for char in "<>|[]｜/▁"}).translate({ord("_"): "-"})


def harmless_json(value: Any) -> Any:
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, list):
        return [harmless_json(item) for item in value]
    if isinstance(value, dict):
        return {harmless(key): harmless_json(item) for key, item in value.items()}
    return value


def harmless_call(made: ToolCall) -> ToolCall:
    arguments = json.dumps(harmless_json(json.loads(made.arguments)), ensure_ascii=False)
    return ToolCall(harmless(made.id), harmless(made.name), arguments)


def harmless_message(message: Message) -> Message:
    return replace(
        message,
        content=tuple(
            TextPart(harmless(part.text)) for part in message.content if isinstance(part, TextPart)
        ),
        reasoning=message.reasoning and harmless(message.reasoning),
        tool_calls=tuple(map(harmless_call, message.tool_calls)),
        tool_call_id=message.tool_call_id and harmless(message.tool_call_id),
    )


def harmless_conversation(conversation: Conversation) -> Conversation:
    return replace(
        conversation,
        messages=tuple(map(harmless_message, conversation.messages)),
        tools=tuple(
            Tool(harmless(t.name), json.dumps(harmless_json(json.loads(t.raw)), ensure_ascii=False))
            for t in conversation.tools
        ),
    )


@cache
def planted(case: Case) -> st.SearchStrategy[str]:
    """Text with spellings whole, in halves, doubled, nested, or as bare words; never blank."""
    spelling = st.sampled_from(case.controls)
    half = st.tuples(spelling, st.integers(0, 24), st.booleans()).map(
        lambda drawn: drawn[0][: drawn[1]] if drawn[2] else drawn[0][drawn[1] :]
    )
    nested = st.tuples(spelling, spelling, st.integers(1, 8)).map(
        lambda drawn: drawn[0][: drawn[2]] + drawn[1] + drawn[0][drawn[2] :]
    )
    bare = spelling.map(lambda text: text.strip("<>|[]｜/"))
    filler = st.sampled_from(["word", " ", "\n", "é", "ꀀ", "\ue000", "𠀀", "{", '"', "\\", "a.b"])
    text = st.lists(st.one_of(spelling, half, nested, bare, filler), min_size=1, max_size=5).map("".join)
    return text.filter(lambda text: text.strip() != "" and not text.lstrip().startswith("<think>"))


@st.composite
def conversations(draw: st.DrawFn, case: Case) -> Conversation:
    # A few texts for all places: drawing is what takes the time here.
    text = st.sampled_from(draw(st.lists(planted(case), min_size=2, max_size=6)))
    messages = [say("system", draw(text))] if draw(st.booleans()) else []
    tools: tuple[Tool, ...] = ()
    if not case.simple and draw(st.booleans()):
        tools = (tool("t" + draw(text), "d" + draw(text), "p" + draw(text)),)
        if case.name == "phi" and not messages:
            messages = [say("system", draw(text))]
    for _ in range(draw(st.integers(1, 3))):
        messages.append(say("user", draw(text)))
        if not case.simple and draw(st.booleans()):
            values = {draw(text): draw(text), "list": [draw(text)]}
            made = call(draw(text), json.dumps(values, ensure_ascii=False))
            messages.append(say("assistant", "", tool_calls=(made,), reasoning=draw(st.none() | text)))
            messages.append(say("tool", draw(text), tool_call_id="abcdefgh1"))
        messages.append(say("assistant", draw(text), reasoning=draw(st.none() | text)))
    if draw(st.booleans()):
        messages.append(say("user", draw(text)))
    return Conversation(tuple(messages), tools=tools)


@every_way
@given(data=st.data())
def test_client_text_never_makes_a_control_token(case: Case, data: st.DataObject) -> None:
    conversation = data.draw(conversations(case))
    plan = case.renderer().render(conversation)
    calm = case.renderer().render(harmless_conversation(conversation))
    assert control_ids(plan) == control_ids(calm)
    if case.layout.startswith("deepseek"):
        return  # it writes some characters as entities
    # And nothing of it is lost. Sorted, because one template sorts keys and planting changes their order.
    assert sorted(harmless(plan.text)) == sorted(harmless(calm.text))


@every_case
@half
@given(data=st.data())
def test_planted_text_reads_as_jinja_alone_would(case: Case, data: st.DataObject) -> None:
    """Where the template does not look into the text, what it writes is unchanged to the character."""
    text = planted(case).filter(lambda text: "think>" not in text and "tool_response>" not in text)
    conversation = chat(("system", data.draw(text)), ("user", data.draw(text)))
    assert case.renderer().render(conversation).text == plainly(case, conversation)


@every_way
def test_a_last_assistant_message_is_continued(case: Case) -> None:
    plan = case.renderer().render(chat(("user", "Count"), ("assistant", "One, two, ")))
    assert plan.text.endswith("One, two, ")
    whole = case.renderer().render(chat(("user", "Count"), ("assistant", "One, two, three")))
    assert whole.text == plan.text + "three"


@every_way
def test_null_content_renders_as_empty(case: Case) -> None:
    null = Conversation((say("user"), say("assistant"), say("user", "and?")))
    empty = chat(("user", ""), ("assistant", ""), ("user", "and?"))
    assert case.renderer().render(null).text == case.renderer().render(empty).text


@every_way
def test_tools_are_always_shown(case: Case) -> None:
    plan = case.renderer().render(Conversation((say("system", "s"), say("user", "u")), tools=(WEATHER,)))
    assert "Tells the weather" in plan.text


@every_way
@pytest.mark.parametrize("arguments", ['{"a": 1}', '"{\\"a\\": 1}"', "{broken", "[1, 2]", "", "null"])
def test_arguments_of_every_kind_render(case: Case, arguments: str) -> None:
    conversation = Conversation(
        (
            say("user", "u"),
            say("assistant", None, tool_calls=(call("weather", arguments),)),
            say("tool", "r", tool_call_id="abcdefgh1"),
            say("assistant", "so"),
            say("user", "go on"),
        )
    )
    assert "go on" in case.renderer().render(conversation).text


@pytest.mark.parametrize(
    "case",
    [case for case in ALL_CASES if case.name != "llama3"],  # it takes one call at a time
    ids=lambda case: f"{case.name} layout" if case.layout else case.name,
)
def test_results_stand_in_the_order_of_their_calls(case: Case) -> None:
    """Most formats write no ids, so that results in the order of their coming would answer other calls."""
    asked = (call("weather", '{"city": "A"}', "abcdefgh1"), call("weather", '{"city": "B"}', "abcdefgh2"))
    talk = [say("user", "u"), say("assistant", "", tool_calls=asked)]
    results = [say("tool", f"in {city}", tool_call_id=one.id) for city, one in zip("AB", asked, strict=True)]
    plan = case.renderer(0).render(Conversation((*talk, *results), tools=(WEATHER,)))
    swapped = case.renderer(0).render(Conversation((*talk, *reversed(results)), tools=(WEATHER,)))
    assert plan.text.index("in A") < plan.text.index("in B")
    assert swapped.text == plan.text
    # Where each of them is a turn, its message is the one that the client sent.
    there = {b.row: b.message for b in plan.boundaries}
    sent = {b.row: b.message for b in swapped.boundaries}
    assert {2: 3, 3: 2}.items() >= {there[row]: sent[row] for row in there if there[row] in (2, 3)}.items()


@every_way
@pytest.mark.parametrize("role", ["system", "developer"])
def test_late_system_text_is_shown_and_never_hoisted(case: Case, role: str) -> None:
    turns = [("system", "s"), ("user", "first"), ("assistant", "answer"), (role, "NOTE"), ("user", "second")]
    text = case.renderer().render(chat(*turns)).text
    assert text.count("NOTE") == 1
    if case.layout or case.name != "deepseek":  # its template collects all system text at the top by itself
        assert text.index("answer") < text.index("NOTE") < text.index("second")


def test_system_is_shown_or_the_demo_models_own_stands_in() -> None:
    renderer = CASES[0].renderer()
    assert renderer.render(chat(("user", "Hi"))).text == (
        "<|im_start|>system\nYou help people.<|im_end|>\n"
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )
    assert renderer.render(chat(("system", "Rhyme."), ("user", "Hi"))).text == (
        "<|im_start|>system\nRhyme.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )
