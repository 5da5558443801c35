"""Plans: segments, BOS, boundaries, retries, raw prompts."""

import pytest
from prompt_cases import CASES, CHATML, ByteTokenizer, Case, call, chat, origins, say, tool

from ds4.core.errors import BadRequest, TemplateError
from ds4.core.messages import Conversation
from ds4.core.plan import Boundary, BoundaryKind, Origin, PromptPlan, Tokens
from ds4.prompt.boundaries import find_marks
from ds4.prompt.prefix import common_prefix
from ds4.prompt.renderer import PromptRenderer
from ds4.prompt.segments import Segmenter
from ds4.testing.clock import FakeClock

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
START, END = "<|im_start|>", "<|im_end|>"
TURNS = "{% for m in messages %}<|im_start|>{{ m.role }} {{ m.content }}<|im_end|>{% endfor %}"


def render(source: str, conversation: Conversation, tokenizer: ByteTokenizer | None = None) -> str:
    return PromptRenderer(tokenizer or ByteTokenizer(CHATML), source, FakeClock()).render(conversation).text


def test_text_between_controls_is_encoded_in_one_piece() -> None:
    tokenizer = ByteTokenizer(CHATML)
    plan = PromptRenderer(tokenizer, TURNS, FakeClock()).render(chat(("user", "a<|im_end|>b")))
    assert tokenizer.encoded == ["user a<|im_end|>b"]
    assert origins(plan) == [Origin.CONTROL, Origin.PLAIN, Origin.CONTROL]
    assert plan.text == "<|im_start|>user a<|im_end|>b<|im_end|>"


def test_the_longest_spelling_wins() -> None:
    tokenizer = ByteTokenizer(["<a", "<a>", "<a>b", "<b>"])
    segments = Segmenter(tokenizer).cut("<a>b<a>c<ab<b><", "<a>b<a>c<ab<b><")
    found = [tokenizer.piece(s.ids[0]).decode() for s in segments if s.origin is Origin.CONTROL]
    assert found == ["<a>b", "<a>", "<a", "<b>"]


def test_a_control_of_one_character_is_text() -> None:
    plan = PromptRenderer(ByteTokenizer(["x"]), "xx", FakeClock()).render(chat(("user", "u")))
    assert origins(plan) == [Origin.PLAIN]


@pytest.mark.parametrize("source", ["{{ bos_token }}hi", "hi"])
def test_bos_stands_first_once(source: str) -> None:
    tokenizer = ByteTokenizer(["<s>"], bos="<s>")
    plan = PromptRenderer(tokenizer, source, FakeClock(), bos_token="<s>").render(chat(("user", "u")))
    assert list(plan.ids) == [tokenizer.bos, *b"hi"]
    assert plan.items[0] == Tokens((tokenizer.bos or 0,), Origin.CONTROL)


def test_an_empty_render_is_still_a_plan() -> None:
    plan = PromptRenderer(ByteTokenizer([]), "", FakeClock()).render(chat(("user", "u")))
    assert plan.rows == 0
    assert plan.boundaries == (Boundary(0, BoundaryKind.PROMPT_END, 1),)


def test_an_empty_conversation_is_refused() -> None:
    with pytest.raises(BadRequest, match="messages"):
        render(TURNS, Conversation(()))


def test_namespace_is_carried() -> None:
    renderer = PromptRenderer(ByteTokenizer([]), "x", FakeClock())
    assert renderer.render(chat(("user", "u"), namespace="mine")).namespace == "mine"
    assert renderer.raw("x", namespace="mine").namespace == "mine"


LATE = chat(("system", "s"), ("user", "u"), ("assistant", "a"), ("system", "NOTE"), ("user", "v"))


def test_a_template_that_refuses_late_system_text_gets_it_folded() -> None:
    strict = (
        "{% for m in messages %}{% if m.role == 'system' and not loop.first %}"
        "{{ raise_exception('System message must be at the beginning') }}{% endif %}{% endfor %}" + TURNS
    )
    assert render(strict, LATE).endswith("<|im_start|>user NOTE\n\nv<|im_end|>")


def test_a_template_that_skips_late_system_text_gets_it_folded() -> None:
    skipping = TURNS.replace("%}<|im_start|>", " if m.role != 'system' or m == messages[0] %}<|im_start|>", 1)
    assert render(skipping, LATE).endswith("<|im_start|>user NOTE\n\nv<|im_end|>")
    continued = Conversation((*LATE.messages, say("assistant", "So")))
    assert render(skipping, continued).endswith("user NOTE\n\nv<|im_end|><|im_start|>assistant So")


def test_hidden_system_text_is_better_than_no_answer() -> None:
    only = "{% if messages[1].content | length > 1 %}{{ nothing.at.all }}{% endif %}{{ messages[1].content }}"
    assert render(only, chat(("system", "s"), ("user", "u"), ("system", "NOTE"))) == "u"


def test_a_template_that_shows_it_in_its_own_way_is_left_alone() -> None:
    shouting = TURNS.replace("m.content", "m.content | upper")
    assert render(shouting, chat(("user", "u"), ("system", "note"))).endswith("system NOTE<|im_end|>")


def test_a_template_that_takes_no_system_text_at_all_gets_it_in_the_user_turn() -> None:
    none = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}" + TURNS
    assert render(none, chat(("system", "s"), ("user", "u"))) == "<|im_start|>user s\n\nu<|im_end|>"


def test_a_refusal_of_every_form_is_quoted() -> None:
    with pytest.raises(BadRequest, match="never"):
        render("{{ raise_exception('never') }}", LATE)


KNOWS_TOOLS = "{% if tools %}{% endif %}"
CALLED = Conversation((say("user", "u"), say("assistant", None, tool_calls=(call("f", '{"a": 1}'),))))


@pytest.mark.parametrize(
    ("use", "shown"),
    [
        ("{{ x | tojson }}", '{"a": 1}'),
        ("{{ x }}", '{"a": 1}'),
        ("{{ 'args ' + x }}", 'args {"a": 1}'),
        ("{{ 'args ' ~ x }}", 'args {"a": 1}'),
        ("{{ x | trim }}", '{"a": 1}'),
        ("{{ x.strip() }}", '{"a": 1}'),
        ("{% for k, v in x.items() %}{{ k }}={{ v }}{% endfor %}", "a=1"),
    ],
)
def test_arguments_reach_every_kind_of_template(use: str, shown: str) -> None:
    arguments = "messages[1].tool_calls[0].function.arguments"
    assert render(KNOWS_TOOLS + use.replace("x", arguments), CALLED) == shown


def test_a_template_that_refuses_text_gets_a_mapping() -> None:
    strict = KNOWS_TOOLS + "{% set x = messages[1].tool_calls[0].function.arguments %}{% if x is string %}"
    strict += "{{ raise_exception('arguments must be a mapping') }}{% endif %}{{ x.arguments }}"
    broken = Conversation((say("user", "u"), say("assistant", None, tool_calls=(call("f", "{bro"),))))
    assert render(strict, broken) == "{bro"


def test_when_no_style_helps_the_first_failure_is_told() -> None:
    with pytest.raises(TemplateError, match="nothing"):
        render("{{ nothing.at.all }}", CALLED)


def test_a_last_turn_of_calls_is_closed_not_continued() -> None:
    assert render(TURNS + "{% if add_generation_prompt %}GO{% endif %}", CALLED).endswith("<|im_end|>GO")


def test_a_template_that_drops_the_last_assistant_message_cannot_continue_it() -> None:
    with pytest.raises(BadRequest, match="continue"):
        render("{{ messages[0].content }}", chat(("user", "u"), ("assistant", "a")))


# Boundaries

LONG = Conversation(
    (
        say("system", "Be brief. " * 9),
        say("user", "One"),
        say("assistant", "Two", reasoning="Hm."),
        say("user", "Three"),
        say("assistant", "Four"),
    ),
    tools=(tool("f", "d", "a"),),
)
NO_TOOLS = Conversation(LONG.messages)


def _of_turns(plan: PromptPlan) -> list[Boundary]:
    """Those of the tools are in test_tool_place.py."""
    tools = (BoundaryKind.TOOLS_START, BoundaryKind.TOOLS_END)
    return [boundary for boundary in plan.boundaries if boundary.kind not in tools]


@every_case
def test_boundaries_are_true_prefixes(case: Case) -> None:
    """Every boundary's rows are also the first rows of a conversation that goes on differently there."""
    conversation = NO_TOOLS if case.simple else LONG
    plan = case.renderer(0).render(conversation)
    assert plan.boundaries[-1] == Boundary(plan.rows, BoundaryKind.PROMPT_END, 5)
    assert [b.row for b in plan.boundaries] == sorted(b.row for b in plan.boundaries)
    for boundary in _of_turns(plan)[:-1]:
        kept = conversation.messages[: boundary.message]
        other = Conversation((*kept, say("user", "Something else")), conversation.tools)
        rows = case.renderer().render(other).ids
        assert list(rows[: boundary.row]) == list(plan.ids[: boundary.row])


@pytest.mark.parametrize("name", ["smollm2", "chatml", "llama3", "qwen3", "glm", "harmony", "command_r"])
def test_boundaries_reach_as_far_as_they_can(name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    conversation = NO_TOOLS if case.simple or name == "llama3" else LONG
    plan = case.renderer(0).render(conversation)
    found = _of_turns(plan)
    system_end, last_user, _ = found
    assert (system_end.kind, system_end.message) == (BoundaryKind.SYSTEM_END, 1)
    assert (last_user.kind, last_user.message) == (BoundaryKind.LAST_USER_START, 3)
    tokenizer = ByteTokenizer(case.controls)
    text = [b"".join(map(tokenizer.piece, map(int, plan.ids[b.row :]))).decode() for b in found]
    assert text[0].startswith("One")
    assert text[1].startswith("Three")


def test_a_boundary_inside_a_token_moves_before_it() -> None:
    source = "{% for m in messages %}{{ m.role }}\n{{ m.content }}{% endfor %}"
    tokenizer = ByteTokenizer(CHATML, merges=["\n\n", "er"])
    renderer = PromptRenderer(tokenizer, source, FakeClock(), min_boundary_chars=0)
    within = renderer.render(chat(("system", "s"), ("user", "\nx")))
    assert [b.row for b in within.boundaries[:2]] == [len("system\ns") + len("us") + 1] * 2
    between = renderer.render(chat(("system", "s"), ("user", "x")))
    assert [b.row for b in between.boundaries[:2]] == [len("system\ns") + len("us") + 2] * 2


def test_a_short_prompt_has_only_its_end_and_where_the_answer_begins() -> None:
    plan = PromptRenderer(ByteTokenizer(CHATML), TURNS, FakeClock()).render(LATE)
    assert [b.kind for b in plan.boundaries] == [BoundaryKind.ANSWER_START, BoundaryKind.PROMPT_END]


def test_folded_messages_have_no_index() -> None:
    source = "{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}" + TURNS
    renderer = PromptRenderer(ByteTokenizer(CHATML), source, FakeClock(), min_boundary_chars=0)
    plan = renderer.render(chat(("system", "s"), ("user", "u"), ("assistant", "a"), ("user", "v")))
    assert [(b.kind, b.message) for b in plan.boundaries[:-1]] == [
        (BoundaryKind.LAST_USER_START, None),
        (BoundaryKind.ANSWER_START, None),
    ]


def test_two_extra_renders_at_most_and_one_where_the_places_are_one() -> None:
    asked: list[int] = []

    def again(messages: list[dict[str, object]]) -> str:
        asked.append(len(messages))
        return "x" * len(messages)

    roles = ["system", *["user", "assistant"] * 50, "user"]
    find_marks("x" * 500, [{"role": role, "content": ""} for role in roles], True, "#", again)
    assert asked == [2, 102]
    asked.clear()
    find_marks("x" * 500, [{"role": role, "content": ""} for role in roles[:2]], True, "#", again)
    assert asked == [2]


def test_a_template_that_refuses_the_extra_render_gives_no_boundary() -> None:
    picky = "{% if messages | length < 3 %}{{ raise_exception('too short') }}{% endif %}" + TURNS
    renderer = PromptRenderer(ByteTokenizer(CHATML), picky, FakeClock(), min_boundary_chars=0)
    plan = renderer.render(chat(("system", "s"), ("user", "u"), ("assistant", "a")))
    assert [b.kind for b in plan.boundaries] == [BoundaryKind.PROMPT_END]


@pytest.mark.parametrize(
    ("left", "right", "size"), [("", "", 0), ("abc", "abd", 2), ("ab", "abc", 2), ("x", "y", 0)]
)
def test_common_prefix(left: str, right: str, size: int) -> None:
    assert common_prefix(left, right) == common_prefix(right, left) == size


# Raw prompts


def raw_renderer(bos: str | None) -> tuple[PromptRenderer, ByteTokenizer]:
    tokenizer = ByteTokenizer(["<s>", "<x>"], bos=bos)
    return PromptRenderer(tokenizer, "", FakeClock()), tokenizer


def test_raw_control_spellings_are_the_callers() -> None:
    renderer, tokenizer = raw_renderer(None)
    plan = renderer.raw("a<x>b")
    assert list(plan.ids) == [97, tokenizer.controls["<x>"], 98]
    assert origins(plan) == [Origin.PLAIN, Origin.CONTROL, Origin.PLAIN]
    assert plan.text == "a<x>b"
    assert plan.boundaries == (Boundary(3, BoundaryKind.PROMPT_END),)


@pytest.mark.parametrize("prompt", ["a", "<s>a", (97,), (256, 97)])
def test_raw_bos_stands_first_once(prompt: str | tuple[int, ...]) -> None:
    renderer, tokenizer = raw_renderer("<s>")
    assert list(renderer.raw(prompt).ids) == [tokenizer.bos, 97]


def test_raw_ids_have_a_text() -> None:
    renderer, _ = raw_renderer(None)
    assert renderer.raw((0xC3, 0xA9, 256)).text == "é<s>"


@pytest.mark.parametrize("ids", [(-1,), (258,), (97, 1 << 40)])
def test_raw_ids_outside_the_vocabulary_are_refused(ids: tuple[int, ...]) -> None:
    renderer, _ = raw_renderer(None)
    with pytest.raises(BadRequest, match=str(ids[-1])) as caught:
        renderer.raw(ids)
    assert caught.value.param == "prompt"


@pytest.mark.parametrize("prompt", ["", ()])
def test_an_empty_raw_prompt_needs_a_bos(prompt: str | tuple[int, ...]) -> None:
    with pytest.raises(BadRequest, match="prompt"):
        raw_renderer(None)[0].raw(prompt)
    renderer, tokenizer = raw_renderer("<s>")
    assert list(renderer.raw(prompt).ids) == [tokenizer.bos]
