"""A guide's answers agree with one another, and with the grammar, wherever in an answer it is asked."""

import json
import re

import numpy as np
import pytest
from constrain_vocabularies import compiler, lark, tokenizer
from hypothesis import given
from hypothesis import strategies as st

from ds4.constrain.grammar import Grammar
from ds4.constrain.guide import Spending
from ds4.core.errors import EngineError
from ds4.core.ports import Guide, Mark

CALL = {
    "type": "object",
    "properties": {
        "name": {"const": "stock"},
        "item": {"type": "string", "maxLength": 6},
        "depth": {"enum": [1, 20]},
    },
    "required": ["name", "item"],
    "additionalProperties": False,
    "x-guidance": {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "},
}
JSON = Grammar(json.dumps({"grammars": [{"json_schema": CALL}]}))
TAGGED = lark(
    'start: "<a>\\n" F "</a>" ("\\n<a>\\n" F "</a>")? ', "F: /(?s:.{0,8})/ & ~/(?s:.*)<\\/a>(?s:.*)/"
)
CHOICE = lark('start: "yes" | "no" | "yesterday" "!"')
GRAMMARS = {"json": JSON, "tagged": TAGGED, "choice": CHOICE}
NAMES = ("chatml", "deepseek-v4.1", "spaced")


def guide_of(name: str, grammar: str = "json", begun: str = "") -> Guide:
    return compiler(name).guide(GRAMMARS[grammar], "tools", begun)


def choose(guide: Guide, draw: st.DataObject, ends: tuple[int, ...]) -> int:
    """Any allowed token, now and then an end."""
    allowed = np.flatnonzero(guide.allowed())
    inner = [token for token in allowed.tolist() if token not in ends]
    if not inner:
        return int(allowed[0])
    return draw.draw(st.sampled_from(inner))


@given(st.data(), st.sampled_from(NAMES), st.sampled_from(sorted(GRAMMARS)), st.booleans())
def test_a_walk_over_allowed_tokens_ends_in_what_was_asked_for(
    draw: st.DataObject, name: str, grammar: str, jump: bool
) -> None:
    guide, words, model = guide_of(name, grammar), compiler(name).words, tokenizer(name)
    said: list[int] = []
    while not guide.done and len(said) < 60:
        ahead = guide.forced()
        token = ahead[0] if jump and ahead else choose(guide, draw, words.ends)
        assert guide.allows(token)
        if ahead:
            assert np.flatnonzero(guide.allowed()).tolist() == [ahead[0]]
        guide.accept(token)
        said.append(token)
    if guide.done:
        text = b"".join(map(model.piece, said)).decode("utf-8", "replace")
        assert fits(grammar, text), text
        assert set(np.flatnonzero(guide.allowed()).tolist()) == set(words.ends)
        assert all(map(guide.allows, words.ends))
        assert guide.forced() == ()


def fits(grammar: str, text: str) -> bool:
    if grammar == "choice":
        return text in ("yes", "no", "yesterday!")
    if grammar == "tagged":
        return re.fullmatch(r"(?s)<a>\n.*?</a>(\n<a>\n.*?</a>)?", text) is not None
    found = json.loads(text)
    return found["name"] == "stock" and len(found["item"]) <= 6 and found.get("depth", 1) in (1, 20)


@given(st.data(), st.sampled_from(NAMES), st.sampled_from(sorted(GRAMMARS)))
def test_one_token_asked_for_says_the_same_as_the_mask(draw: st.DataObject, name: str, grammar: str) -> None:
    guide, words = guide_of(name, grammar), compiler(name).words
    for _ in range(draw.draw(st.integers(0, 12))):
        if guide.done:
            break
        guide.accept(choose(guide, draw, words.ends))
    allowed = guide.allowed()
    assert allowed.dtype == np.bool_
    asked = draw.draw(st.lists(st.integers(0, len(allowed) - 1), max_size=60))
    for token in {*asked, *words.ends, *np.flatnonzero(allowed)[:40].tolist()}:
        assert guide.allows(token) == allowed[token], token


@given(st.data(), st.sampled_from(NAMES), st.sampled_from(sorted(GRAMMARS)))
def test_after_a_rollback_it_is_as_if_nothing_had_come(draw: st.DataObject, name: str, grammar: str) -> None:
    guide, words = guide_of(name, grammar), compiler(name).words
    before: list[tuple[Mark, tuple[int, ...], list[int]]] = []
    for _ in range(20):
        before.append((guide.mark(), guide.forced(), np.flatnonzero(guide.allowed()).tolist()))
        if guide.done:
            break
        guide.accept(choose(guide, draw, words.ends))
    mark, forced, allowed = draw.draw(st.sampled_from(before))
    guide.rollback(mark)
    assert np.flatnonzero(guide.allowed()).tolist() == allowed
    assert b"".join(map(tokenizer(name).piece, guide.forced())) == b"".join(
        map(tokenizer(name).piece, forced)
    )


@pytest.mark.parametrize("name", NAMES)
def test_what_is_forced_is_the_text_and_comes_the_same_one_by_one(name: str) -> None:
    guide, model = guide_of(name), tokenizer(name)
    ahead = guide.forced()
    assert b"".join(map(model.piece, ahead)).decode().startswith('{"name": "stock", "item"')
    for place, token in enumerate(ahead):
        assert guide.forced() == ahead[place:]
        guide.accept(token)


def test_end_tokens_only_where_the_answer_can_end() -> None:
    guide, end = guide_of("chatml", "choice"), compiler("chatml").words.ends[0]
    assert not guide.allows(end)
    for byte in b"yes":
        assert guide.allows(byte)
        guide.accept(byte)
    assert (guide.allows(end), guide.done) == (True, False)
    for byte in b"terday!":
        guide.accept(byte)
    assert (guide.allows(end), guide.done) == (True, True)
    assert not guide.allows(ord("x"))


def test_an_answer_that_has_begun_goes_on() -> None:
    guide = guide_of("chatml", begun='{"name": "stock", "item": "x')
    guide.accept(ord('"'))
    assert guide.allows(compiler("chatml").words.ends[0]) is False
    assert guide.allows(ord(","))


@pytest.mark.parametrize("token", [ord("x"), 10**6])
def test_a_token_that_is_not_allowed_is_refused_and_so_is_all_that_follows(token: int) -> None:
    guide = guide_of("chatml", "choice")
    with pytest.raises(EngineError):
        guide.accept(token)
    with pytest.raises(EngineError):
        guide.allowed()
    assert guide_of("chatml", "choice").allows(ord("y")), "others of the grammar are not touched"


def test_an_end_token_cannot_be_accepted() -> None:
    with pytest.raises(EngineError):
        guide_of("chatml", "choice").accept(compiler("chatml").words.ends[0])


def test_a_mark_ahead_is_refused() -> None:
    guide = guide_of("chatml", "choice")
    guide.accept(ord("n"))
    ahead = guide.mark()
    with pytest.raises(EngineError):
        guide_of("chatml", "choice").rollback(ahead)


def test_a_constraint_that_takes_too_long_fails() -> None:
    times = iter([0.0, 0.5, 1.0, 1.5, 2.0, 2.5])
    spending = Spending(lambda: next(times), most=1.0, each=0.1)
    for _ in range(2):
        with spending:
            pass
    with pytest.raises(EngineError, match="too complex"), spending:
        pass


def test_time_that_was_not_needed_is_not_saved_for_ever() -> None:
    times = iter([0.0] * 100 + [0.0, 1.1])
    spending = Spending(lambda: next(times), most=1.0, each=0.05)
    for _ in range(50):
        with spending:
            pass
    with pytest.raises(EngineError, match="too complex"), spending:
        pass
