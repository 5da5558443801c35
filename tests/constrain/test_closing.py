"""A custom tool's grammar that can take the tag which ends it would never let a call end."""

import pytest
from constrain_answers import MODELS, compiled, compiler, guide, may_call, must_call, read, sampled, signature

from ds4.core.constraint import Form, Signature, Syntax
from ds4.core.errors import Unsupported

PATH = "tools.0.format.definition"
WORDS = "start: /[a-z ]+/"
LINES = "start: /[a-z\\n]+/"
LAST_LINE = "start: /[a-z ]+\\n?/"
ANYTHING = "start: /(.|\\n)+/"
LATE = 'start: "x" rest?\nrest: /(.|\\n)*/'
PATCH = 'start: "*** Begin" LF ("+" /(.*)/ LF)+ "*** End" LF?\n%import common.LF'
NOTHING_TRIED = "start: " + " ".join(['"a"'] * 600)
READ_AS = signature("patch", {"properties": {"input": {"type": "string"}}})


def patch(grammar: str) -> Signature:
    return Signature("patch", path="tools.0", text=Form(Syntax.LARK, grammar, PATH))


def can_end(model: str, grammar: str) -> bool:
    parameters = MODELS[model].tool_format.written.by(compiler(model).words.ids).parameters
    assert parameters is not None
    return compiler(model).can_end(grammar, parameters.closes)


@pytest.mark.parametrize(
    ("model", "endless"),
    [
        # Its tag is one entry, which is no text.
        ("glm-5.2", ()),
        ("plain glm", (ANYTHING, LATE)),
        ("deepseek-v4.1", (ANYTHING, LATE)),
        # Its tag begins with the end of a line.
        ("qwen3.8", (LINES, ANYTHING, LATE)),
    ],
)
def test_what_can_end(model: str, endless: tuple[str, ...]) -> None:
    grammars = (WORDS, LINES, LAST_LINE, ANYTHING, LATE, PATCH)
    assert tuple(text for text in grammars if not can_end(model, text)) == endless


def test_what_no_walk_ends_is_believed_to_have_an_end() -> None:
    assert can_end("qwen3.8", NOTHING_TRIED)


def test_what_does_not_compile_is_left_to_whoever_says_why() -> None:
    assert can_end("qwen3.8", "start: nothing")


def test_a_demanded_call_is_refused_by_name() -> None:
    with pytest.raises(Unsupported) as caught:
        compiled("qwen3.8", must_call(patch(ANYTHING)))
    assert caught.value.param == PATH


def test_elsewhere_the_grammar_is_left_out_and_the_call_ends() -> None:
    found = compiled("qwen3.8", may_call(patch(ANYTHING)))
    assert found.dropped == (f"{PATH}: grammar",)
    assert compiled("glm-5.2", may_call(patch(ANYTHING))).dropped == ()


@pytest.mark.parametrize("model", ["glm-5.2", "qwen3.8", "deepseek-v4.1"])
def test_a_grammar_that_can_end_ends(model: str) -> None:
    for seed in range(3):
        ids = sampled(model, guide(model, must_call(patch(PATCH), single=True)), seed)
        ((_, arguments),) = read(model, ids, (READ_AS,)).calls
        assert arguments["input"].startswith("*** Begin\n+")
