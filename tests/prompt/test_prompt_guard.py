"""The exchange of client characters, by itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.errors import BadRequest
from ds4.prompt import guard as guard_module
from ds4.prompt.guard import Guard, GuardRules
from ds4.prompt.json_text import MAX_DEPTH
from ds4.prompt.marks import Arguments, Client, Option, mark, parse

FRAMED = ["<|end|>", "<think>", "</think>", "[INST]", "｜DSML｜"]
RARE = ["madeup1", " a b", '"q"']


def guard_for(spellings: list[str], *texts: str, template: str = "") -> Guard:
    return GuardRules(spellings, template).guard({"texts": [Client(text) for text in texts]})


@given(st.lists(st.sampled_from([*FRAMED, *RARE, "<", "|end|", "think", "x", " a", "\n"])).map("".join))
def test_no_spelling_is_left_and_all_comes_back(text: str) -> None:
    guard = guard_for(FRAMED + RARE, text)
    hidden = guard.text(text, whole=True)
    assert not [spelling for spelling in FRAMED + RARE if spelling in hidden]
    assert guard.restore(hidden) == text
    assert len(hidden) == len(text)


@pytest.mark.parametrize("spelling", FRAMED + RARE)
def test_a_spelling_in_two_neighbouring_strings(spelling: str) -> None:
    guard = guard_for(FRAMED + RARE)
    for cut in range(len(spelling) + 1):
        joined = guard.text(spelling[:cut], whole=True) + guard.text(spelling[cut:], whole=True)
        assert spelling not in joined


@pytest.mark.parametrize("spelling", FRAMED)
@pytest.mark.parametrize("left", range(4))
@pytest.mark.parametrize("right", range(4))
def test_the_template_cannot_be_made_to_complete_one(spelling: str, left: int, right: int) -> None:
    middle = spelling[left : len(spelling) - right]
    guard = guard_for(FRAMED)
    if (left or right) and "".join(filter(str.isalnum, spelling)) in middle:
        assert guard.text(middle, whole=True) != middle


def test_options_keep_the_words_templates_compare_with() -> None:
    guard = guard_for(FRAMED)
    assert guard.protect(Option("think")) == "think"
    assert guard.protect(Client("think")) != "think"
    assert "<" not in str(guard.protect(Option("<think>")))


@pytest.mark.parametrize("template", ["{{ tool.think }}", "{{ tool['think'] }}", '{{ x == "think" }}'])
def test_words_the_template_looks_up_are_left_alone(template: str) -> None:
    assert guard_for(FRAMED, template=template).text("think", whole=True) == "think"
    assert guard_for(FRAMED, template="{{ '<think>' }}").text("think", whole=True) != "think"


def test_only_marked_strings_change() -> None:
    guard = guard_for(FRAMED)
    assert guard.protect({"<": ["<", None, 1, Client("a")]}) == {"<": ["<", None, 1, "a"]}
    assert type(guard.protect(Client("a"))) is str


def test_stand_ins_are_used_by_nobody() -> None:
    usual = guard_for(FRAMED)
    taken = usual.sentinel + "".join(usual.stand_ins.values())
    guard = guard_for(FRAMED, taken[:2], template=taken[2:])
    assert not set(taken) & {guard.sentinel, *guard.stand_ins.values()}
    assert guard.restore(guard.text(taken)) == taken


def test_stand_ins_survive_repr_and_case() -> None:
    hidden = guard_for(FRAMED).text("<[｜>")
    assert repr(hidden) == f"'{hidden}'"
    assert hidden.upper() == hidden.lower() == hidden.strip() == hidden


def test_a_client_that_uses_every_stand_in_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_module, "_POOLS", (range(0xA000, 0xA003),))
    with pytest.raises(BadRequest, match="too many different characters"):
        guard_for(FRAMED, "\ua000\ua001")


def test_a_vocabulary_without_controls_changes_nothing() -> None:
    assert guard_for([]).text("<|im_end|>", whole=True) == "<|im_end|>"


def test_arguments_print_as_the_clients_text() -> None:
    arguments = Arguments({"a": 1}, '{ "a":1 }')
    assert f"{arguments}" == "" + arguments == arguments + "" == '{ "a":1 }'
    assert arguments["a"] == 1


def test_arguments_are_protected_in_both_shapes() -> None:
    hidden = guard_for(FRAMED).protect(Arguments({Client("<"): Client("[")}, '{"<": "["}'))
    assert isinstance(hidden, Arguments)
    assert not {"<", "["} & set(str(hidden)) | {"<"} & set(hidden)


def test_deep_json_is_a_value_error() -> None:
    for depth in (MAX_DEPTH + 2, 100_000):
        with pytest.raises(ValueError, match="nested too deeply"):
            parse("[" * depth + "]" * depth)
    assert mark({"a": ["b"]}) == {"a": ["b"]}
