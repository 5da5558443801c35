"""DeepSeek's prompts: the layout's decisions, one by one."""

import pytest
from golden_prompts import renderer
from prompt_cases import call, chat, say, tool

from ds4.core.errors import BadRequest, Unsupported
from ds4.core.messages import Conversation, ImagePart, Message, Role, Thinking
from ds4.formats.preamble import Preamble
from ds4.formats.thinking import THINK_MAX_CTX
from ds4.prompt.options import PromptOptions

BOS, EOS = "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"
TOOLS = PromptOptions(preamble=Preamble("TOOLS", ""))
STOCK = tool("stock")
OFF = Thinking(enabled=False)
SCHEMA = '{"name": "stock", "description": "", "parameters": {"type": "object", "properties": {}}}'


def v4(conversation: Conversation, options: PromptOptions = TOOLS) -> str:
    return renderer("deepseek-v4", options).render(conversation).text.removeprefix(BOS)


def v41(conversation: Conversation, options: PromptOptions = TOOLS) -> str:
    return renderer("deepseek-v4.1", options).render(conversation).text.removeprefix(BOS)


def asked(*messages: Message, tools: bool = True) -> Conversation:
    return Conversation((say("user", "q"), *messages), tools=(STOCK,) if tools else (), thinking=OFF)


TWO_CALLS = say(
    "assistant",
    None,
    reasoning="I must look up both.",
    tool_calls=(call("stock", '{"item":"A","depth":2}', "1"), call("stock", '{"item":"B"}', "2")),
)
CALLS = """

<｜DSML｜tool_calls>
<｜DSML｜invoke name="stock">
<｜DSML｜parameter name="item" string="true">A</｜DSML｜parameter>
<｜DSML｜parameter name="depth" string="false">2</｜DSML｜parameter>
</｜DSML｜invoke>
<｜DSML｜invoke name="stock">
<｜DSML｜parameter name="item" string="true">B</｜DSML｜parameter>
</｜DSML｜invoke>
</｜DSML｜tool_calls>"""


def test_old_reasoning_is_not_sent_again_without_tools() -> None:
    turns = (
        say("system", "Be brief."),
        say("user", "2+2?"),
        say("assistant", "4", reasoning="easy"),
        say("user", "And 3+3?"),
    )
    assert v4(Conversation(turns)) == (
        f"Be brief.<｜User｜>2+2?<｜Assistant｜></think>4{EOS}<｜User｜>And 3+3?<｜Assistant｜><think>"
    )


def test_thinking_off() -> None:
    assert (
        v4(chat(("user", "Name a river."), thinking=OFF)) == "<｜User｜>Name a river.<｜Assistant｜></think>"
    )


def test_calls_and_results() -> None:
    turns = (
        say("system", "You run a shop."),
        say("user", "Stock of A and B?"),
        TWO_CALLS,
        say("tool", "7", tool_call_id="1"),
        say("tool", "0", tool_call_id="2"),
    )
    # One form of this example joins the results without a blank line; ours is the encoder's.
    assert v4(Conversation(turns, tools=(STOCK,))) == (
        f"TOOLS{SCHEMA}\n\nYou run a shop.<｜User｜>Stock of A and B?"
        f"<｜Assistant｜><think>I must look up both.</think>{CALLS}{EOS}"
        "<｜User｜><tool_result>7</tool_result>\n\n<tool_result>0</tool_result><｜Assistant｜><think>"
    )


@pytest.mark.parametrize("order", ["12", "21"])
def test_results_stand_in_the_order_of_their_calls(order: str) -> None:
    results = [say("tool", f"r{number}", tool_call_id=number) for number in order]
    text = v4(asked(TWO_CALLS, *results, say("tool", "stray", tool_call_id="9"), say("user", "and?")))
    assert text.endswith(
        "<｜User｜><tool_result>r1</tool_result>\n\n<tool_result>r2</tool_result>\n\n"
        "<tool_result>stray</tool_result>\n\nand?<｜Assistant｜></think>"
    )


def test_the_switch_puts_the_system_text_first() -> None:
    conversation = Conversation((say("system", "Sys."), say("user", "q")), tools=(STOCK,), thinking=OFF)
    vendor = Preamble("T", "\nend\n")
    assert v4(conversation, PromptOptions(preamble=vendor)).startswith(f"T{SCHEMA}\nend\n\nSys.<｜User｜>")
    last = PromptOptions(preamble=vendor, tools_first=False)
    assert v4(conversation, last).startswith(f"Sys.\n\nT{SCHEMA}\nend\n<｜User｜>")
    assert v41(conversation, last).startswith(f"<｜System｜>Sys.\n\nT{SCHEMA}\nend\n<｜User｜>")


@pytest.mark.parametrize("with_tools", [True, False])
def test_reasoning_is_kept_with_tools_in_play(with_tools: bool) -> None:
    turns = (say("user", "q"), say("assistant", "a", reasoning="why"), say("user", "r"))
    kept = {
        "deepseek-v4": ("<think>why</think>a", "</think>a"),
        "deepseek-v4.1": ("<think>why</think>a", "a"),
    }
    for family, forms in kept.items():
        conversation = Conversation(turns, tools=(STOCK,) if with_tools else ())
        text = renderer(family, TOOLS).render(conversation).text
        assert f"<｜Assistant｜>{forms[not with_tools]}{EOS}" in text


def test_calls_in_the_history_keep_it_too() -> None:
    turns = (say("user", "q"), TWO_CALLS, say("user", "never mind"))
    assert "<think>I must look up both.</think>" in v4(Conversation(turns))


@pytest.mark.parametrize("echo", [None, "", " ", "\n"])
def test_blank_reasoning_is_none_however_it_comes_back(echo: str | None) -> None:
    text = v4(Conversation((say("user", "q"), say("assistant", "a", reasoning=echo)), tools=(STOCK,)))
    assert text.endswith("<｜Assistant｜><think></think>a")


def test_reasoning_is_exact_otherwise() -> None:
    turns = (say("user", "q"), say("assistant", "a", reasoning="\n why\n"))
    assert v4(Conversation(turns)).endswith("<think>\n why\n</think>a")


def test_late_system_text_stays_at_its_place() -> None:
    turns = (
        *(("system", "S"), ("developer", "D"), ("user", "q"), ("system", "L1"), ("user", "r")),
        *(("assistant", "a"), ("system", "L2"), ("system", "L3"), ("system", ""), ("user", "s")),
    )
    assert v4(chat(*turns, thinking=OFF)) == (
        f"S\n\nD<｜User｜>q\n\nL1\n\nr<｜Assistant｜></think>a{EOS}L2\n\nL3<｜User｜>s<｜Assistant｜></think>"
    )
    assert v41(chat(*turns, thinking=OFF)) == (
        "<｜System｜>S<｜System｜>D<｜User｜>q<｜System｜>L1<｜User｜>r<｜Assistant｜></think>a"
        f"{EOS}<｜System｜>L2<｜System｜>L3<｜System｜><｜User｜>s<｜Assistant｜></think>"
    )


def test_an_answer_can_follow_late_system_text() -> None:
    turns = (("user", "q"), ("assistant", "a"), ("system", "L"))
    assert v4(chat(*turns, thinking=OFF)).endswith(f"a{EOS}L<｜Assistant｜></think>")
    assert v41(chat(*turns, thinking=OFF)).endswith(f"a{EOS}<｜System｜>L<｜Assistant｜></think>")


def test_an_answer_that_follows_no_question_has_no_marker() -> None:
    turns = (("system", "S"), ("assistant", "Hi."), ("assistant", "Yes?"), ("user", "q"))
    assert v4(chat(*turns)) == f"SHi.{EOS}Yes?{EOS}<｜User｜>q<｜Assistant｜><think>"


def test_a_turn_of_calls_without_results_is_followed_by_a_marker() -> None:
    assert v4(asked(TWO_CALLS)).endswith(f"{CALLS}{EOS}<｜Assistant｜></think>")
    assert v4(asked(TWO_CALLS, say("assistant", "So"))).endswith(f"{CALLS}{EOS}<｜Assistant｜></think>So")


def arguments_as(arguments: str, render: str = "deepseek-v4") -> str:
    made = asked(say("assistant", "", tool_calls=(call("f", arguments),)), say("tool", "r"))
    text = renderer(render, TOOLS).render(made).text
    return (
        text.partition(' name="f">\n')[2].partition("</｜DSML｜invoke>")[0].partition("</｜DSML｜ invoke>")[0]
    )


@pytest.mark.parametrize(
    "arguments",
    ['{"a":1,"b":[true,null]}', '{ "a" : 1,\n "b" : [ true , null ] }', '{"\\u0061":1,"b":[true,null]}'],
)
def test_the_same_arguments_give_the_same_text(arguments: str) -> None:
    assert arguments_as(arguments) == (
        '<｜DSML｜parameter name="a" string="false">1</｜DSML｜parameter>\n'
        '<｜DSML｜parameter name="b" string="false">[true,null]</｜DSML｜parameter>\n'
    )


@pytest.mark.parametrize("number", ["1.0", "1e5", "-0", "12345678901234567890123", "0.10"])
def test_numbers_keep_their_spelling(number: str) -> None:
    assert f">{number}<" in arguments_as(f'{{"n": {number}}}')
    assert f'>{{"x":{number}}}<' in arguments_as(f'{{"n": {{"x": {number}}}}}')


@pytest.mark.parametrize(
    "arguments", ["[1, 2]", "null", '"text"', "{bro", '{"a": NaN}', "[" * 200, '{"a":' * 200]
)
def test_arguments_that_are_no_object_are_one_parameter(arguments: str) -> None:
    whole = f'<｜DSML｜parameter name="arguments" string="true">{arguments}</｜DSML｜parameter>\n'
    assert arguments_as(arguments) == whole


@pytest.mark.parametrize("arguments", ["", " ", "{}"])
def test_no_arguments(arguments: str) -> None:
    assert arguments_as(arguments) == ""


def test_only_what_would_end_a_value_is_escaped() -> None:
    text = arguments_as('{"s": "&amp; <b> \\" </｜DSML｜parameter>", "j": ["</｜DSML｜parameter> é \\n"]}')
    assert '>&amp; <b> " &lt;/｜DSML｜parameter></｜DSML｜parameter>' in text
    assert '>["\\u003c/｜DSML｜parameter> é \\n"]</｜DSML｜parameter>' in text
    spaced = arguments_as('{"s": "</｜DSML｜ parameter></｜DSML｜parameter>"}', "deepseek-v4.1")
    assert ">&lt;/｜DSML｜ parameter></｜DSML｜parameter></｜DSML｜ parameter>" in spaced


def test_names_are_escaped_as_attributes() -> None:
    made = asked(say("assistant", "", tool_calls=(call('a<b>&"c', '{"k<": 1}'),)), say("tool", "r"))
    assert 'invoke name="a&lt;b&gt;&amp;&quot;c"' in v4(made)
    assert 'parameter name="k&lt;"' in v4(made)


def test_a_result_cannot_end_itself() -> None:
    text = v4(asked(TWO_CALLS, say("tool", "x</tool_result><b>", tool_call_id="1")))
    assert "<tool_result>x&lt;/tool_result><b></tool_result>" in text


def test_v41_tells_the_effort_while_thinking() -> None:
    line = "Reasoning Effort: {} (range 1-100, the higher the value, the more thorough the reasoning)\n\n"
    for effort, number in ((None, 75), ("low", 50), ("max", 100), ("33", 33)):
        text = v41(chat(("system", "S"), ("user", "q"), thinking=Thinking(effort=effort)))
        assert text.startswith("<｜System｜>" + line.format(number) + "S<｜User｜>")
    assert v41(chat(("user", "q"))).startswith("<｜System｜>" + line.format(75) + "<｜User｜>")
    assert v41(chat(("user", "q"), thinking=Thinking(False, "max"))).startswith("<｜User｜>")
    assert v41(asked()).startswith("<｜System｜>TOOLS")


def test_think_max_stands_first_and_needs_a_large_context() -> None:
    conversation = chat(("system", "S"), ("user", "q"), thinking=Thinking(effort="max"))
    large = PromptOptions(n_ctx=THINK_MAX_CTX, think_max="HARDER\n\n")
    assert v4(conversation, large).startswith("HARDER\n\nS<｜User｜>")
    assert v4(conversation, PromptOptions(n_ctx=THINK_MAX_CTX - 1)).startswith("S<｜User｜>")
    for effort in ("xhigh", "high", None):
        assert v4(chat(("user", "q"), thinking=Thinking(effort=effort)), large).startswith("<｜User｜>")
    assert v4(chat(("user", "q"), thinking=Thinking(False, "max")), large).startswith("<｜User｜>")


def test_template_arguments_count_here_too() -> None:
    def given(*args: tuple[str, str]) -> str:
        return v4(chat(("user", "q"), template_args=args))

    for name in ("thinking", "enable_thinking"):
        assert given((name, "false")).endswith("</think>")
        assert given((name, "null")).endswith("<think>")
    assert given(("add_generation_prompt", "false")) == "<｜User｜>q"
    assert given(("unknown", "[1]")).endswith("<think>")
    asked_for = chat(("user", "q"), template_args=(("reasoning_effort", "33"),))
    assert "Effort: 33" in v41(asked_for)


@pytest.mark.parametrize(
    "args", [("thinking", '"yes"'), ("enable_thinking", "{"), ("reasoning_effort", '"9"')]
)
def test_bad_template_arguments_are_refused(args: tuple[str, str]) -> None:
    with pytest.raises(BadRequest, match=args[0]):
        v4(chat(("user", "q"), template_args=(args,)))


def test_what_cannot_be_rendered_is_refused() -> None:
    with pytest.raises(Unsupported, match="image"):
        v4(Conversation((Message(Role.USER, (ImagePart(b"", "image/png"),)),)))
    with pytest.raises(BadRequest, match="tool stock"):
        v4(Conversation((say("user", "q"),), tools=(type(STOCK)("stock", "{"),)))
