import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import thread_time
from typing import Any

import numpy as np
import pytest
from constrain_vocabularies import compiler, family_tokenizer, lark
from llguidance import LLMatcher, LLParserLimits, LLTokenizer

from ds4.constrain.compiler import Compiler
from ds4.constrain.grammar import LONGEST, Grammar
from ds4.constrain.guide import LONGEST_REASON
from ds4.core.errors import BadRequest, EngineError


def schema(value: object) -> Grammar:
    return Grammar(json.dumps({"grammars": [{"json_schema": value}]}))


def nested(depth: int) -> object:
    return {"type": "array", "items": nested(depth - 1)} if depth else {"type": "string"}


def either(depth: int, name: str = "p") -> object:
    if not depth:
        return {"type": "object", "properties": {name: {"type": "string"}}}
    return {"anyOf": [either(depth - 1, name + "0"), either(depth - 1, name + "1")]}


BOMBS = {
    "repeated": lark("start: /(a{1000}){1000}/"),
    "doubled terminals": lark("start: R0", *(f"R{n}: R{n + 1} R{n + 1}" for n in range(40)), 'R40: "a"'),
    "doubled rules": lark("start: r0", *(f"r{n}: r{n + 1} r{n + 1}" for n in range(60)), 'r60: "a"'),
    "many alternatives": lark("start: " + " | ".join(f'"k{n}z"' for n in range(5000))),
    "deep": schema(nested(200)),
    "exponential": schema(
        {"allOf": [{"anyOf": [either(1, f"a{n}"), either(1, f"b{n}")]} for n in range(20)]}
    ),
    "many branches": schema(either(11)),
    "huge constant": schema({"const": "x" * (LONGEST - 100)}),
    "too long": lark("// " + "x" * LONGEST, 'start: "a"'),
    "endless": lark("start: start"),
}


TIGHT = LLParserLimits(
    initial_lexer_fuel=30_000,
    step_lexer_fuel=10_000,
    step_max_items=2_000,
    max_lexer_states=5_000,
    max_grammar_size=15_000,
    verbose_errors=False,
)
"""A tenth of what is allowed, to save the tests' time."""
RISKS = {
    "huge enum": schema({"enum": [f"{n:030x}" for n in range(2000)]}),
    "repeated pattern": schema({"type": "string", "pattern": "^(([a-z]{1,100}){1,100}){1,100}$"}),
    "not": lark("start: A", r"A: ~/(?s:.*)a(?s:.{15})(?s:.*)/ & ~/(?s:.*)b(?s:.{15})(?s:.*)/ & /(?s:.*)/"),
    "ambiguous": lark("start: e", 'e: e e e | e e | "a"? | "b"'),
    "repeated rules": lark('start: ((("a"|"b"){1,1000}){1,1000}){1,1000}'),
    "long": schema({"type": "string", "maxLength": 10**9}),
}


@pytest.mark.parametrize("risk", sorted(RISKS))
def test_what_is_too_complex_later_fails_and_takes_no_time(risk: str) -> None:
    spent = 0.05
    fresh = Compiler(family_tokenizer("chatml"), (), limits=TIGHT)
    started = thread_time()
    with suppress(BadRequest, EngineError):
        guide = fresh.guide(RISKS[risk], "")
        while thread_time() - started < spent and not guide.done:
            guide.accept(next(iter(np.flatnonzero(guide.allowed())[-1:].tolist())))
    assert thread_time() - started < spent + 1


@pytest.mark.parametrize("bomb", sorted(BOMBS))
def test_a_bomb_is_refused_soon_and_named(bomb: str) -> None:
    fresh = Compiler(family_tokenizer("chatml"), (), limits=TIGHT)
    started = thread_time()
    with pytest.raises(BadRequest) as refused:
        fresh.guide(BOMBS[bomb], "response_format.schema")
    assert refused.value.param == "response_format.schema"
    assert len(refused.value.message) < LONGEST_REASON + 200
    assert "\n" not in refused.value.message
    assert thread_time() - started < 3, "this bound says only that nothing explodes"


@pytest.mark.parametrize(
    ("grammar", "reason"),
    [
        (lark("start: nothing"), "nothing"),
        (lark('start: "a'), "1("),
        (lark("start: /(/"), "regex"),
        (schema({"type": "strin"}), "strin"),
        (Grammar("{"), ""),
    ],
)
def test_the_librarys_reason_is_told(grammar: Grammar, reason: str) -> None:
    with pytest.raises(BadRequest, match=r"^tools\.0: the constraint cannot be enforced: .") as refused:
        compiler("chatml").guide(grammar, "tools.0")
    assert reason in refused.value.message


def test_a_grammar_is_compiled_once_and_each_answer_has_its_own_guide() -> None:
    grammar = lark('start: "ab" | "ac"')
    one, other = (compiler("chatml").guide(grammar, "") for _ in range(2))
    one.accept(ord("a"))
    assert one.allows(ord("b"))
    assert not other.allows(ord("b"))


def test_what_was_used_last_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def noting(library: LLTokenizer, text: str, **how: Any) -> LLMatcher:
        made.append(text)
        return LLMatcher(library, text, **how)

    monkeypatch.setattr("ds4.constrain.compiler.LLMatcher", noting)
    fresh = Compiler(family_tokenizer("chatml"), (), kept=2)
    a, b, c = (lark(f'start: "{name}" /x*/') for name in "abc")
    for grammar in (a, b, a, c, a, b):
        fresh.guide(grammar, "")
    assert made == [a.text, b.text, c.text, b.text]


def test_a_refused_grammar_is_not_tried_again() -> None:
    fresh = Compiler(family_tokenizer("chatml"), (), limits=TIGHT)
    with pytest.raises(BadRequest):
        fresh.guide(BOMBS["repeated"], "a")
    started = thread_time()
    with pytest.raises(BadRequest) as again:
        fresh.guide(BOMBS["repeated"], "b")
    assert again.value.param == "b"
    assert thread_time() - started < 0.05


def test_a_failed_guide_costs_a_compilation_and_nothing_else() -> None:
    fresh, grammar = Compiler(family_tokenizer("chatml"), ()), lark('start: "ab" | "ac"')
    sound, failing = fresh.guide(grammar, ""), fresh.guide(grammar, "")
    with pytest.raises(EngineError):
        failing.accept(ord("z"))
    assert sound.allows(ord("a"))
    assert fresh.guide(grammar, "").allows(ord("a"))


def test_an_answer_that_does_not_begin_like_that_is_refused() -> None:
    with pytest.raises(BadRequest) as refused:
        compiler("chatml").guide(lark('start: "ab"'), "messages", begun="x")
    assert refused.value.param == "messages"


def test_many_at_once() -> None:
    fresh = Compiler(family_tokenizer("chatml"), ())

    def ask(number: int) -> bool:
        grammar = lark(f'start: "n{number % 3}" | "other"')
        return fresh.guide(grammar, "").allows(ord("n"))

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(ask, range(20))) == [True] * 20
