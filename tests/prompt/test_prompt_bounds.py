"""What a hostile or broken template may do."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from prompt_cases import CHATML, ByteTokenizer, chat, origins

from ds4.core.errors import BadRequest, ModelError, TemplateError
from ds4.core.messages import Conversation
from ds4.prompt import template as template_module
from ds4.prompt.renderer import PromptRenderer
from ds4.testing.clock import FakeClock

HI = chat(("user", "Hi <|im_end|>"))
NESTED = "{% for a in range(99999) %}" * 4 + "{% endfor %}" * 4


class RacingClock(FakeClock):
    """Every look at it costs a second."""

    def now(self) -> float:
        self.advance(1.0)
        return super().now()


def renderer(source: str, clock: FakeClock | None = None) -> PromptRenderer:
    return PromptRenderer(ByteTokenizer(CHATML), source, clock or FakeClock())


def text(source: str, conversation: Conversation = HI) -> str:
    return renderer(source).render(conversation).text


@pytest.mark.parametrize(
    "source",
    [
        NESTED,
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
        "{% for a in [1] recursive %}" + NESTED + "{% endfor %}",
    ],
)
def test_a_template_that_never_ends_is_stopped_by_the_clock(source: str) -> None:
    with pytest.raises(TemplateError, match="ran for more than 10 seconds"):
        renderer(source, RacingClock()).render(HI)


def test_and_by_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_module, "STEPS", 1000)
    with pytest.raises(TemplateError, match="more than 1000 steps"):
        text(NESTED)


@pytest.mark.parametrize(
    "source",
    [
        "{% for a in range(9999) %}{{ 'x' * 1000 }}{% endfor %}",
        "{{ 'x' * 9999999999 }}",
        "{{ ([1] * 9999999999) | length }}",
        "{{ 9999999999 * 'x' }}",
        "{% set ns = namespace(s='xx') %}{% for a in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
        "{{ 2 ** 9999999 }}",
        "{% set ns = namespace(n=9) %}{% for a in range(99) %}{% set ns.n = ns.n * ns.n %}{% endfor %}",
    ],
)
def test_a_template_that_writes_too_much_is_stopped(source: str) -> None:
    with pytest.raises(TemplateError, match=r"(made more than \d+ characters|too large a number)"):
        text(source)


def test_arithmetic_still_works() -> None:
    assert text("{{ 2 * 3 + 4 }} {{ 2 ** 10 }} {{ 'ab' * 2 }} {{ [1] + [2] }}") == "10 1024 abab [1, 2]"


def test_a_refusal_is_the_callers_error_in_the_templates_words() -> None:
    with pytest.raises(BadRequest, match=r"No: Hi <\|im_end\|>") as caught:
        text("{{ raise_exception('No: ' + messages[0].content) }}")
    assert caught.value.param == "messages"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("\n\n{{ missing.field.more }}", "line 3: .*undefined"),
        ("{{ 'a' + 1 }}", "line 1: can only concatenate str"),
        ("{{ 1 / 0 }}", "line 1: division by zero"),
        ("{{ messages | tojson | int + [] }}", "line 1: unsupported operand"),
        ("{% include 'x' %}", "no loader"),
        ("{{ messages.append(1) }}", "unsafe|not safely callable"),
        ("{{ ''.__class__.__mro__ }}", "unsafe"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "recursion"),
    ],
)
def test_a_failure_is_ours_and_names_the_line(source: str, words: str) -> None:
    with pytest.raises(TemplateError, match=f"(?s)the chat template failed.*({words})"):
        text(source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("ok\n{% for %}", "line 2"),
        ("{{ 'a' | no_such_filter }}", "no_such_filter"),
        ("{{ " + "(" * 9999 + ")" * 9999 + " }}", "cannot be compiled"),
    ],
)
def test_a_template_that_does_not_compile_fails_at_start(source: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        renderer(source)


def test_the_helpers_of_real_templates() -> None:
    assert text("{{ strftime_now('%Y') }}") == "2023"
    assert text("{{ {'b': '<é>', 'a': 1} | tojson }}") == '{"b": "<é>", "a": 1}'
    assert (
        text("{{ {'b': 1, 'a': '\\n\"'} | tojson(sort_keys=true, separators=(',', ':')) }}")
        == '{"a":"\\n\\"","b":1}'
    )
    assert text("{{ ['é', '𠮷'] | tojson(ensure_ascii=true) }}") == '["\\u00e9", "\\ud842\\udfb7"]'
    assert text("{% for a in [1, 2, 3] %}{% if a == 2 %}{% break %}{% endif %}{{ a }}{% endfor %}") == "1"
    assert text("{% generation %}a{% endgeneration %}b") == "ab"
    assert text("{% for a in 'xyz' %}{{ loop.index }}/{{ loop.length }}{{ loop.last }} {% endfor %}") == (
        "1/3False 2/3False 3/3True "
    )


def test_tojson_keeps_client_text_whatever_its_options() -> None:
    tokenizer = ByteTokenizer(["｜DSML｜", '"q"', "<a>", "\\n"])
    source = "{% for m in messages %}{{ m.content | tojson(ensure_ascii=ascii) }}{% endfor %}"
    sent = chat(("user", '｜DSML｜ "q" <a> \\n é'))
    for ascii_only, expected in (
        (True, '"\\uff5cDSML\\uff5c \\"q\\" <a> \\\\n \\u00e9"'),
        (False, '"｜DSML｜ \\"q\\" <a> \\\\n é"'),
    ):
        flag = "true" if ascii_only else "false"
        plan = PromptRenderer(tokenizer, source.replace("ascii)", f"{flag})"), FakeClock()).render(sent)
        assert plan.text == expected
        assert origins(plan) == ["plain"]


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    sent = chat(("user", "u"), template_args=(("x", '"a\\ud800b"'),))
    assert text("{{ x }}", sent) == "a\ufffdb"


def test_threads_do_not_share_what_belongs_to_a_render() -> None:
    # Each text takes the other's stand-ins, so a shared guard would show.
    ours = renderer("{% for a in range(300) %}{{ messages[0].content | tojson }}{% endfor %}")
    sent = [chat(("user", f"<{chr(0xA000 + i)}>" * 3)) for i in range(8)]
    alone = [ours.render(conversation).text for conversation in sent]
    with ThreadPoolExecutor(4) as pool:
        assert [plan.text for plan in pool.map(ours.render, sent)] == alone
