"""Where an answer's constraint begins, what is said of what it drops, and whom a refusal blames."""

import json

import pytest

from ds4.api.services import Wished
from ds4.constrain.grammar import LONGEST
from ds4.core.constraint import Calls, Constraint, Form, Signature, Syntax
from ds4.core.errors import BadRequest
from ds4.core.job import JobKind
from ds4.core.plan import Origin, PromptPlan, Tokens
from ds4.core.ports import Guide
from ds4.engine.scripted.bpe import packaged_bpe
from ds4.engine.scripted.tokenizer import ScriptedTokenizer
from ds4.formats.registry import family_named
from ds4.formats.tools.harmony import HARMONY
from ds4.observe.records import Notice, Record
from ds4.wiring import AnswerStyle, guides

QWEN, GENERIC = family_named("qwen3.8"), family_named("generic")
FORM = Constraint(Form(Syntax.LARK, 'start: "yes" | "no"', "text.format"))


class Asked:
    """A guide factory of a family, and what it logged."""

    def __init__(self, family: str = "qwen3.8", style: AnswerStyle | None = None) -> None:
        known = family_named(family)
        self.tokenizer = ScriptedTokenizer(known, packaged_bpe())
        self.records: list[Record] = []
        self.guides = guides(
            style or AnswerStyle(known.reasoning, known.tool_format), self.tokenizer, self.records.append
        )

    def guide(
        self,
        prompt: str,
        constraint: Constraint | None = FORM,
        *,
        thinks: bool | None = None,
        begun: str = "",
        kind: JobKind = JobKind.CHAT,
    ) -> Guide | None:
        ids = tuple(self.tokenizer.encode_raw(prompt))
        plan = PromptPlan.of([Tokens(ids, Origin.CONTROL)], text=prompt)
        return self.guides(Wished(kind, plan, constraint=constraint, thinks=thinks, begun=begun))

    def allows(self, guide: Guide | None, text: str) -> bool:
        """Whether the answer may begin like that, cut as is forced where something is."""
        assert guide is not None
        mark, left = guide.mark(), text
        while left:
            token = (*guide.forced(), *self.tokenizer.encode_raw(left))[0]
            piece = self.tokenizer.piece(token).decode()
            if not (left.startswith(piece) and guide.allows(token)):
                break
            guide.accept(token)
            left = left[len(piece) :]
        guide.rollback(mark)
        return not left


def test_no_constraint_no_guide() -> None:
    assert Asked().guide("<|im_start|>assistant\n", None) is None


@pytest.mark.parametrize(
    ("prompt", "thinks", "begins"),
    [
        ("<|im_start|>assistant\n", None, {"yes": True, "hm</think>\n\nno": False, "<think>\nhm": False}),
        ("<|im_start|>assistant\n", True, {"yes": True, "hm</think>\n\nno": False, "<think>hm": True}),
        ("<|im_start|>assistant\n", False, {"yes": True, "<think>\nhm": False}),
        (
            "<|im_start|>assistant\n<think>\n",
            None,
            {"hm</think>\n\nno": True, "yes": True, "yes</think>\n\nhm": False},
        ),
        ("<|im_start|>assistant\n<think>\n\n</think>\n\n", None, {"yes": True, "hm": False}),
    ],
)
def test_the_constraint_starts_where_the_answer_does(
    prompt: str, thinks: bool | None, begins: dict[str, bool]
) -> None:
    asked = Asked()
    guide = asked.guide(prompt, thinks=thinks)
    assert {text: asked.allows(guide, text) for text in begins} == begins


@pytest.mark.parametrize(("thinks", "may"), [(None, True), (True, True), (False, False)])
def test_a_format_with_channels_may_reason_unless_told_not_to(thinks: bool | None, may: bool) -> None:
    asked = Asked("generic", AnswerStyle(GENERIC.reasoning, HARMONY))
    guide = asked.guide("<|start|>assistant", thinks=thinks)
    assert asked.allows(guide, "<|channel|>analysis<|message|>hm") is may
    assert asked.allows(guide, "<|channel|>final<|message|>yes")


@pytest.mark.parametrize(
    ("required", "thinks", "may"), [(False, None, True), (False, False, False), (True, None, False)]
)
def test_a_model_that_chooses_to_call_may_choose_to_reason(
    required: bool, thinks: bool | None, may: bool
) -> None:
    calls = Calls((Signature("stock", '{"type": "object"}', strict=True),), required=required)
    asked = Asked("chatml")
    guide = asked.guide("<|im_start|>assistant\n", Constraint(calls=calls), thinks=thinks)
    assert asked.allows(guide, "<think>\nhm") is may


def test_raw_completions_do_not_reason() -> None:
    asked = Asked()
    guide = asked.guide("<think>", kind=JobKind.COMPLETION, thinks=True)
    assert asked.allows(guide, "yes")
    assert not asked.allows(guide, "hm")


def test_raw_completions_have_no_headers() -> None:
    asked = Asked("generic", AnswerStyle(GENERIC.reasoning, HARMONY))
    guide = asked.guide("say", kind=JobKind.COMPLETION)
    assert asked.allows(guide, "yes")
    assert not asked.allows(guide, "<|channel|>")


def test_an_answer_that_is_continued_has_begun() -> None:
    asked = Asked()
    guide = asked.guide("<|im_start|>assistant\nye", begun="ye")
    assert asked.allows(guide, "s")
    assert not asked.allows(guide, "y")


def test_what_does_not_fit_blames_the_field() -> None:
    with pytest.raises(BadRequest) as refused:
        Asked().guide("<|im_start|>assistant\nhm", begun="hm")
    assert refused.value.param == "text.format"


def tool(name: str, path: str, schema: object) -> Signature:
    return Signature(name, json.dumps(schema), path=path)


@pytest.mark.parametrize(
    ("count", "param"), [(1, "tools.0.function.parameters"), (2, "tools")], ids=["its own", "all"]
)
def test_a_tool_that_is_too_large_is_named_where_it_is_the_only_one(count: int, param: str) -> None:
    schema = {"type": "object", "properties": {"a": {"const": "x" * LONGEST}}}
    tools = tuple(tool(f"t{n}", f"tools.{n}.function.parameters", schema) for n in range(count))
    with pytest.raises(BadRequest) as refused:
        Asked("chatml").guide("<|im_start|>assistant\n", Constraint(calls=Calls(tools, required=True)))
    assert refused.value.param == param


def test_what_is_dropped_is_logged_once() -> None:
    asked = Asked("chatml")
    schema = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}},
    }
    calls = Constraint(calls=Calls((tool("stock", "tools.0.function.parameters", schema),), required=True))
    for _ in range(3):
        asked.guide("<|im_start|>assistant\n", calls)
    texts = [record.text for record in asked.records if isinstance(record, Notice)]
    assert len(texts) == 1
    assert "uniqueItems" in texts[0]
    assert "tools.0.function.parameters" in texts[0]
