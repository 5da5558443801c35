"""The writer of grammars: what it quotes comes back as it was, and equal rules are one."""

import json

import pytest
from constrain_answers import compiler, tokenizer
from hypothesis import given
from hypothesis import strategies as st

from ds4.constrain.grammar import Grammar
from ds4.constrain.lark import Lark, literal, plain, regex, tokens
from ds4.constrain.lark import json as json_value
from ds4.constrain.style import Words
from ds4.core.errors import EngineError
from ds4.formats.written import MINIFIED

MODEL = "chatml"
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


def taken(start: str, text: str, *, raw: bool = False) -> bool:
    """Whether the grammar takes just this text."""
    lark = Lark(compiler(MODEL).words)
    guide = compiler(MODEL).guide(Grammar(lark.text(start)), "grammar")
    encode = tokenizer(MODEL).encode_raw if raw else tokenizer(MODEL).encode_plain
    try:
        for token in encode(text):
            if not guide.allows(token):
                return False
            guide.accept(token)
    except EngineError:
        return False
    return any(guide.allows(end) for end in compiler(MODEL).words.ends)


@given(texts)
def test_a_literal_is_just_its_text(text: str) -> None:
    assert taken(literal(text), text)
    assert not taken(literal(text), text + "x")


@given(texts)
def test_a_plain_regex_is_just_its_text(text: str) -> None:
    assert taken(regex(plain(text)), text)
    assert not taken(regex(plain(text)), text + "x")


@pytest.mark.parametrize(
    ("pattern", "text"), [("a/b", "a/b"), ("a\nb", "a\nb"), (r"\/\\", "/\\"), ("", ""), ("[/]", "/")]
)
def test_a_regex_may_hold_what_ends_one(pattern: str, text: str) -> None:
    assert taken(regex(pattern) if text else f'"x"? {regex(pattern)}', text)


def test_markup_is_entries_and_the_clients_text_is_not() -> None:
    lark = Lark(compiler(MODEL).words)
    start = lark.markup("<tool_call>\n", "<think>", "</tool_call>")
    assert start == '<[1261]> "\\n<think>" <[1262]>'
    assert lark.markup("") == ""
    assert lark.markup("a", "b", "c") == '"abc"'


def test_runs_of_tokens_are_short() -> None:
    assert tokens([7, 3, 4, 5, 9]) == "<[3-5,7,9]>"


def test_equal_rules_are_one_and_others_get_names_of_their_own() -> None:
    lark = Lark(Words({}, (0,)))
    assert lark.rule("Päth/1", '"a"') == lark.rule("other", '"a"') == "p_th_1"
    assert lark.rule("p_th_1", '"b"') == "p_th_1_2"
    assert lark.rule("start", '"c"') == "start_2"
    assert lark.terminal("p_th_1", '"a"') == "P_TH_1"
    assert lark.lazy("1", '"a"') == "x_1"
    (grammar,) = json.loads(lark.text("p_th_1"))["grammars"]
    assert grammar["lark_grammar"].splitlines()[0] == "start: p_th_1"


def test_an_end_in_ordinary_tokens_is_part_of_the_text() -> None:
    lark = Lark(compiler(MODEL).words)
    assert lark.ended("value", "/[a-z]*/", "<end>") == "value"
    assert lark.ended("value", "/[a-z]*/", "<a></think>!") == 'VALUE_2 <[1260]> "!"'
    assert lark.ended("value", "/[a-z]*/", "</think>!") == 'VALUE_3 <[1260]> "!"'


def test_json_has_no_blanks_but_its_separators() -> None:
    wanted = json_value({"type": "array", "items": {"type": "integer"}}, MINIFIED)
    assert taken(wanted, "[1,2]")
    assert not taken(wanted, "[1, 2]")
    assert taken(json_value(True, MINIFIED), '{"a":null}')
