"""What holds for every built-in layout."""

from dataclasses import dataclass, replace

import pytest
from golden_prompts import CONVERSATIONS, conversation, renderer, tokenizer
from prompt_cases import call, chat, runs, say, tool

from ds4.core.messages import Conversation, Message, Role, TextPart, Thinking
from ds4.core.plan import BoundaryKind, Origin, PromptPlan
from ds4.formats.registry import FAMILIES, family_named
from ds4.prompt.layouts.registry import layout_named
from ds4.prompt.layouts.writer import MASK, Writer
from ds4.prompt.options import PromptOptions
from ds4.prompt.prefix import common_prefix

NAMES = [family.name for family in FAMILIES]
every_family = pytest.mark.parametrize("family", NAMES)
THINKERS = ["deepseek-v4", "deepseek-v4.1", "glm-5.2", "glm-5.3", "qwen3.8"]
STOCK = tool("stock", "How many are left", "item")


def test_every_family_has_a_layout() -> None:
    assert all(layout_named(family_named(name).template) for name in NAMES)
    assert layout_named("{{ messages }}") is None


def test_client_text_is_masked_and_keeps_its_length() -> None:
    out = Writer()
    out.ours("<a>")
    out.client("<b>\ud800")
    rendered = out.rendered()
    assert (rendered.text, rendered.guarded) == ("<a><b>\ufffd", "<a>" + MASK * 4)


@every_family
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_parts_of_content_read_as_one_text(family: str, name: str) -> None:
    whole = conversation(name)
    cut = tuple(
        Message(
            m.role,
            tuple(TextPart(char) for char in m.text),
            m.reasoning,
            m.tool_calls,
            m.tool_call_id,
        )
        for m in whole.messages
    )
    parts = Conversation(cut, whole.tools, whole.thinking)
    left, right = renderer(family).render(whole), renderer(family).render(parts)
    assert left.text == right.text
    assert list(left.ids) == list(right.ids)
    assert left.boundaries == right.boundaries


@every_family
def test_a_developer_message_is_a_system_message(family: str) -> None:
    turns = [("system", "S"), ("user", "q"), ("assistant", "a"), ("system", "L"), ("user", "r")]
    developer = [("developer" if role == "system" else role, text) for role, text in turns]
    assert renderer(family).render(chat(*turns)).text == renderer(family).render(chat(*developer)).text


@every_family
def test_system_text_alone_can_be_answered(family: str) -> None:
    assert "only this" in renderer(family).render(chat(("system", "only this"))).text


# Append-only: what the next turn's prompt has to begin with for the KV cache to be of use.


@dataclass(frozen=True)
class Written:
    """A model's own way to end its reasoning, to call, and to end its answer. Written out, not computed."""

    end_think: str
    call: str
    end: str


HERMES = '\n<tool_call>\n{"name": "stock", "arguments": {"item": "A"}}\n</tool_call>'
GLM = Written("</think>", "<tool_call>stock<arg_key>item</arg_key><arg_value>A</arg_value></tool_call>", "")
WRITTEN = {
    "deepseek-v4": Written(
        "</think>",
        '\n\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name="stock">\n'
        '<｜DSML｜parameter name="item" string="true">A</｜DSML｜parameter>\n'
        "</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
        "<｜end▁of▁sentence｜>",
    ),
    "deepseek-v4.1": Written(
        "</think>",
        '\n\n<｜DSML｜ calls>\n<｜DSML｜ invoke name="stock">\n'
        '<｜DSML｜ parameter name="item" string="true">A</｜DSML｜ parameter>\n'
        "</｜DSML｜ invoke>\n</｜DSML｜ calls>",
        "<｜end▁of▁sentence｜>",
    ),
    "glm-5.2": GLM,
    "glm-5.3": GLM,
    "qwen3.8": Written(
        "\n</think>\n\n",
        "\n\n<tool_call>\n<function=stock>\n<parameter=item>\nA\n</parameter>\n</function>\n</tool_call>",
        "<|im_end|>\n",
    ),
    "chatml": Written("\n</think>\n\n", HERMES, "<|im_end|>\n"),
    "generic": Written("", HERMES, "\n\n"),
}


def sampled(family: str, answer: Message, *, thinks: bool = True) -> str:
    """What a model writes behind its prompt when it gives `answer`."""
    written = WRITTEN[family]
    head = f"{answer.reasoning or ''}{written.end_think}" if thinks and family in THINKERS else ""
    if family == "chatml" and answer.reasoning:  # its prompt does not open the block
        head = f"<think>\n{answer.reasoning}{written.end_think}"
    if family == "generic":
        head = " "
    return head + answer.text + (written.call if answer.tool_calls else "") + written.end


def extended(
    family: str, before: Conversation, answer: Message, *after: Message
) -> tuple[PromptPlan, PromptPlan]:
    later = Conversation((*before.messages, answer, *after), before.tools, before.thinking)
    return renderer(family).render(before), renderer(family).render(later)


LOOKED = say("assistant", "Let me look.", reasoning="Hm.", tool_calls=(call("stock", '{"item": "A"}', "1"),))
RESULT = say("tool", "7", tool_call_id="1")
QUESTION = (say("system", "Be brief."), say("user", "How many?"))


@every_family
@pytest.mark.parametrize("after", [(), (say("user", "Remember the time."),)], ids=["", "with a reminder"])
@pytest.mark.parametrize("thinks", [True, False])
def test_a_loop_of_calls_only_grows(family: str, after: tuple[Message, ...], thinks: bool) -> None:
    thinking = Thinking(enabled=None if thinks else False)
    reasoning = None if not thinks or family == "generic" else "Hm."
    looked = say("assistant", LOOKED.text, reasoning=reasoning, tool_calls=LOOKED.tool_calls)
    before = Conversation(QUESTION, (STOCK,), thinking)
    first, second = extended(family, before, looked, RESULT, *after)
    assert second.text.startswith(first.text + sampled(family, looked, thinks=thinks))
    again = Conversation((*QUESTION, looked, RESULT, *after), (STOCK,), thinking)
    second, third = extended(family, again, looked, RESULT)
    assert third.text.startswith(second.text + sampled(family, looked, thinks=thinks))
    if runs(second)[-1].origin is Origin.CONTROL:
        # Elsewhere the last token may grow together with what follows it.
        assert list(third.ids[: second.rows]) == list(second.ids)


@pytest.mark.parametrize("family", [name for name in NAMES if name != "qwen3.8"])
def test_a_chat_without_reasoning_only_grows(family: str) -> None:
    answer = say("assistant", "Seven.")
    before = Conversation(QUESTION, thinking=Thinking(enabled=False))
    first, second = extended(family, before, answer, say("user", "Sure?"))
    assert second.text.startswith(first.text + sampled(family, answer, thinks=False))


def test_qwen_drops_the_empty_block_of_thinking_off_like_any_other() -> None:
    before = Conversation(QUESTION, thinking=Thinking(enabled=False))
    first, second = extended("qwen3.8", before, say("assistant", "Seven."), say("user", "Sure?"))
    kept = common_prefix(first.text, second.text)
    assert first.text[kept:] == "<think>\n\n</think>\n\n"


@pytest.mark.parametrize("family", THINKERS)
def test_where_reasoning_is_dropped_the_last_generation_marker_is_kept(family: str) -> None:
    """So a checkpoint there is reached again: it is the boundary of the turn to generate."""
    answer = say("assistant", "Seven.", reasoning="Hm.")
    first, second = extended(family, Conversation(QUESTION), answer, say("user", "Sure?"))
    kept = common_prefix(first.text, second.text)
    assert first.text[kept:].strip("\n<") == "think>"
    turn = next(b for b in first.boundaries if b.kind is BoundaryKind.ANSWER_START)
    assert turn.message == len(QUESTION)
    shared = common_prefix(list(first.ids), list(second.ids))
    assert turn.row < shared
    assert shared - turn.row <= 12


@pytest.mark.parametrize("family", ["deepseek-v4", "deepseek-v4.1"])
def test_with_tools_deepseek_never_drops_anything(family: str) -> None:
    answer = say("assistant", "Seven.", reasoning="Hm.")
    first, second = extended(family, Conversation(QUESTION, (STOCK,)), answer, say("user", "Sure?"))
    assert second.text.startswith(first.text + sampled(family, answer))


@every_family
def test_changing_system_text_leaves_the_tools_alone(family: str) -> None:
    plans = [
        renderer(family).render(Conversation((say("system", text), say("user", "q")), (STOCK,)))
        for text in ("Monday", "Tuesday")
    ]
    kept = common_prefix(plans[0].text, plans[1].text)
    assert "How many are left" in plans[0].text[:kept]


@every_family
def test_the_switch_puts_tools_behind_the_system_text(family: str) -> None:
    asked = Conversation((say("system", "Monday"), say("user", "Why?")), (STOCK,))
    text = renderer(family, PromptOptions(tools_first=False)).render(asked).text
    assert text.index("Monday") < text.index("How many are left") < text.index("Why?")


# Boundaries


@every_family
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_boundaries_are_in_order_and_true_prefixes(family: str, name: str) -> None:
    whole = conversation(name)
    plan = renderer(family).render(whole)
    rows = [boundary.row for boundary in plan.boundaries]
    assert rows == sorted(rows)
    assert plan.boundaries[-1].kind is BoundaryKind.PROMPT_END
    assert rows[-1] == plan.rows
    for boundary in plan.boundaries[:-1]:
        assert boundary.message is not None
        later = tuple(
            replace(m, content=(TextPart("Something else"),), reasoning=m.reasoning and "Else")
            for m in whole.messages[boundary.message :]
        )
        changed = replace(whole, messages=(*whole.messages[: boundary.message], *later))
        other = renderer(family).render(changed)
        assert list(other.ids[: boundary.row]) == list(plan.ids[: boundary.row])
        assert later == () or list(other.ids) != list(plan.ids)


@pytest.mark.parametrize("family", [name for name in NAMES if name != "generic"])
def test_every_turn_has_a_boundary(family: str) -> None:
    turns = [("system", "S"), ("user", "one"), ("assistant", "two"), ("user", "three")]
    plan = renderer(family).render(chat(*turns))
    found = [(boundary.kind, boundary.message) for boundary in plan.boundaries]
    assert found == [
        (BoundaryKind.SYSTEM_END, 1),
        (BoundaryKind.TURN_START, 1),
        (BoundaryKind.TURN_START, 2),
        (BoundaryKind.TURN_START, 3),
        (BoundaryKind.LAST_USER_START, 3),
        (BoundaryKind.ANSWER_START, 4),
        (BoundaryKind.PROMPT_END, 4),
    ]
    pieces = tokenizer(family).piece
    texts = [b"".join(map(pieces, map(int, plan.ids[b.row :]))).decode() for b in plan.boundaries]
    assert [
        text.find(word) < 24
        for text, word in zip(texts, ["one", "one", "two", "three", "three"], strict=False)
    ]
    assert all(
        text.index(word) < 32 for text, word in zip(texts, ["one", "one", "two", "three"], strict=False)
    )


def test_without_a_head_there_is_no_end_of_it() -> None:
    plan = renderer("chatml").render(chat(("user", "q")))
    assert BoundaryKind.SYSTEM_END not in [boundary.kind for boundary in plan.boundaries]


def test_results_and_what_follows_them_are_one_turn_with_deepseek() -> None:
    messages = (*QUESTION, LOOKED, RESULT, say("user", "and?"))
    plan = renderer("deepseek-v4").render(Conversation(messages))
    last = next(b for b in plan.boundaries if b.kind is BoundaryKind.LAST_USER_START)
    assert last.message == 3


@every_family
def test_only_our_own_text_is_control(family: str) -> None:
    spelled = " ".join(family_named(family).spellings) or "none"
    turns = [("system", spelled), ("user", spelled), ("assistant", spelled), ("user", spelled)]
    plan = renderer(family).render(chat(*turns))
    calm = renderer(family).render(chat(*[(role, "calm") for role, _ in turns]))

    def controls(of: PromptPlan) -> list[object]:
        return [item for item in of.items if getattr(item, "origin", None) is Origin.CONTROL]

    assert controls(plan) == controls(calm)


@every_family
def test_think_tags_in_content_are_reasoning(family: str) -> None:
    asked = say(Role.USER, "q")
    tagged = Conversation((asked, say("assistant", "<think>why</think>so")), (STOCK,))
    apart = Conversation((asked, say("assistant", "so", reasoning="why")), (STOCK,))
    assert renderer(family).render(tagged).text == renderer(family).render(apart).text
