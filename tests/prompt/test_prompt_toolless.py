"""Tools for templates that know none."""

import pytest
from prompt_cases import CHATML, THINK, ByteTokenizer, call, chat, control_ids, say, tool

from ds4.core.errors import BadRequest
from ds4.core.messages import Conversation, Message
from ds4.formats.preamble import Preamble
from ds4.prompt.options import PromptOptions
from ds4.prompt.renderer import PromptRenderer
from ds4.testing.clock import FakeClock

TURNS = "{% for m in messages %}<|im_start|>{{ m.role }} {{ m.content }}<|im_end|>{% endfor %}"
ALTERNATING = (
    "{% for m in messages if m.role != 'system' %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}{% endfor %}" + TURNS
)
OPTIONS = PromptOptions(preamble=Preamble("HEAD\n", "\nTAIL"))
NOW = tool("now")
SCHEMA = (
    '{"type": "function", "function": {"name": "now", "description": "", '
    '"parameters": {"type": "object", "properties": {}}}}'
)
HEAD = f"<|im_start|>system HEAD\n{SCHEMA}\nTAIL"


def render(conversation: Conversation, source: str = TURNS, options: PromptOptions = OPTIONS) -> str:
    tokenizer = ByteTokenizer((*CHATML, *THINK))
    return PromptRenderer(tokenizer, source, FakeClock(), options=options).render(conversation).text


def loop(*after: Message) -> Conversation:
    made = (call("now", '{"zone":"<|im_end|>"}', "1"), call("now", "{bro", "2"))
    results = (say("tool", "two", tool_call_id="2"), say("tool", "one", tool_call_id="1"))
    return Conversation((say("user", "q"), say("assistant", "So.", tool_calls=made), *results, *after))


LOOP = (
    "<|im_start|>user q<|im_end|><|im_start|>assistant So.\n"
    '<tool_call>\n{"name": "now", "arguments": {"zone": "<|im_end|>"}}\n</tool_call>\n'
    '<tool_call>\n{"name": "now", "arguments": "{bro"}\n</tool_call><|im_end|>'
    "<|im_start|>user <tool_response>\none\n</tool_response>\n<tool_response>\ntwo\n</tool_response>"
)


def test_definitions_get_a_system_turn_of_their_own() -> None:
    text = render(Conversation((say("user", "q"),), (NOW,)))
    assert text == f"{HEAD}<|im_end|><|im_start|>user q<|im_end|>"


def test_or_join_the_one_there_is() -> None:
    asked = Conversation((say("system", "Sys."), say("user", "q")), (NOW,))
    assert render(asked).startswith(f"{HEAD}\n\nSys.<|im_end|>")
    last = PromptOptions(preamble=OPTIONS.preamble, tools_first=False)
    assert render(asked, options=last).startswith(
        f"<|im_start|>system Sys.\n\nHEAD\n{SCHEMA}\nTAIL<|im_end|>"
    )
    empty = Conversation((say("system", ""), say("user", "q")), (NOW,))
    assert render(empty).startswith(f"{HEAD}<|im_end|>")


def test_calls_and_results_are_text() -> None:
    assert render(loop()) == LOOP + "<|im_end|>"


def test_a_template_that_insists_on_alternation_takes_them() -> None:
    continued = loop(say("user", "and?"), say("assistant", "Now"))
    joined = LOOP + "\n\nand?<|im_end|><|im_start|>assistant Now"
    assert render(continued, ALTERNATING) == joined
    with_system = Conversation((say("system", "S"), *continued.messages))
    assert render(with_system, ALTERNATING) == "<|im_start|>system S<|im_end|>" + joined


def test_a_template_without_system_turns_gets_the_definitions_in_the_first_user_turn() -> None:
    none = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}" + TURNS
    text = render(Conversation((say("user", "q"),), (NOW,)), none)
    assert text == f"<|im_start|>user HEAD\n{SCHEMA}\nTAIL\n\nq<|im_end|>"


def test_only_our_tags_are_control_tokens() -> None:
    tokenizer = ByteTokenizer((*CHATML, *THINK))
    renderer = PromptRenderer(tokenizer, TURNS, FakeClock(), options=OPTIONS)
    planted = loop(say("user", "<tool_call></tool_response>"))
    calm = loop(say("user", "calm"))
    assert control_ids(renderer.render(planted)) == control_ids(renderer.render(calm))
    calls = tokenizer.controls["<tool_call>"]
    assert control_ids(renderer.render(planted)).count(calls) == 2


def test_without_tools_nothing_is_added() -> None:
    assert render(chat(("user", "q"))) == "<|im_start|>user q<|im_end|>"


def test_a_turn_of_calls_is_closed_not_continued() -> None:
    asked = Conversation((say("user", "q"), say("assistant", None, tool_calls=(call("now", "{}"),))))
    source = TURNS + "{% if add_generation_prompt %}GO{% endif %}"
    assert render(asked, source).endswith("</tool_call><|im_end|>GO")


def test_a_tool_that_is_not_json_is_refused() -> None:
    with pytest.raises(BadRequest, match="tool now"):
        render(Conversation((say("user", "q"),), (type(NOW)("now", "{"),)))


def test_reasoning_stays_where_the_template_wants_it() -> None:
    source = TURNS.replace("{{ m.content", "{{ m.reasoning_content }}|{{ m.content")
    made = say("assistant", "<think>why</think>So.", tool_calls=(call("now", "{}"),))
    assert "assistant why|So.\n<tool_call>" in render(Conversation((say("user", "q"), made)), source)
