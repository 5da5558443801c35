"""Where the tools begin and end in a prompt, whoever writes it."""

import json
from dataclasses import dataclass, replace
from functools import cache

import pytest
from prompt_cases import ALL_CASES, CHATML, ByteTokenizer, Case, say, tool

from ds4.core.messages import Conversation, Tool
from ds4.core.plan import BoundaryKind, PromptPlan
from ds4.prompt.options import PromptOptions
from ds4.prompt.renderer import PromptRenderer
from ds4.testing.clock import FakeClock

READ, WRITE = tool("read", "Reads a file", "path"), tool("write", "Writes a file", "path", "text")
ASKED = (say("user", "One"), say("assistant", "Two"), say("user", "Three"))
TALK = Conversation((say("system", "Be brief."), *ASKED), tools=(READ, WRITE))
OTHER_SYSTEM = replace(TALK, messages=(say("system", "Talk a lot."), *ASKED))
BARE = replace(TALK, messages=ASKED)
PICKY = ("mistral",)
"""The tools stand in front of the last question: they are not in the beginning."""
NO_PLACE_WITHOUT_SYSTEM = (*PICKY, "phi")
KEYLESS = ("command_r", "harmony")
"""Schemas are written in words of the template's own."""
OPEN = ("llama3",)
"""Nothing closes the list: one tool less shows where the question begins."""
SYSTEM_FIRST = ("chatml", "llama3", "qwen3", "harmony", "command_r", "phi")


@dataclass(frozen=True)
class Way:
    """A template or layout; `first`: it puts the tools before the system text."""

    case: Case
    first: bool

    def __str__(self) -> str:
        return f"{self.case.layout or self.case.name}-{'tools' if self.first else 'system'}"

    @cache  # noqa: B019 (a few frozen ways)
    def renderer(self) -> PromptRenderer:
        case = self.case
        return PromptRenderer(
            ByteTokenizer(case.controls, bos=case.bos or None),
            case.source,
            FakeClock(),
            bos_token=case.bos,
            eos_token=case.eos,
            options=PromptOptions(tools_first=self.first),
            min_boundary_chars=0,
        )

    @cache  # noqa: B019
    def render(self, conversation: Conversation) -> PromptPlan:
        return self.renderer().render(conversation)


def ways(*without: str) -> pytest.MarkDecorator:
    """Layouts, and the templates that get our words for tools, do as the operator says."""
    free = [Way(case, first) for case in ALL_CASES if case.layout or case.simple for first in (True, False)]
    fixed = [Way(c, c.name not in SYSTEM_FIRST) for c in ALL_CASES if not c.layout and not c.simple]
    kept = [way for way in (*free, *fixed) if way.case.name not in without]
    return pytest.mark.parametrize("way", kept, ids=str)


def rows_of(plan: PromptPlan) -> tuple[int, int, int]:
    """Where the tools begin and end, and the end of all that stands in front."""
    at = {boundary.kind: boundary.row for boundary in plan.boundaries}
    return at[BoundaryKind.TOOLS_START], at[BoundaryKind.TOOLS_END], at[BoundaryKind.SYSTEM_END]


def parts_at(one: PromptPlan, other: PromptPlan) -> int:
    pairs = enumerate(zip(one.ids, other.ids, strict=False))
    return next(row for row, (left, right) in pairs if left != right)


def reordered(given: Tool) -> Tool:
    return Tool(given.name, json.dumps(dict(reversed(json.loads(given.raw).items()))))


@ways(*PICKY)
def test_all_of_the_tools_and_nothing_else_lies_in_it(way: Way) -> None:
    plan = way.render(TALK)
    start, end, head = rows_of(plan)
    piece = ByteTokenizer(way.case.controls).piece
    before, tools, behind = (
        b"".join(map(piece, map(int, rows))).decode()
        for rows in (plan.ids[:start], plan.ids[start:end], plan.ids[end:head])
    )
    assert "Reads a file" in tools
    assert "Writes a file" in tools
    assert "Be brief." in (behind if way.first else before)
    assert start > 0


@ways(*PICKY)
@pytest.mark.parametrize(
    "tools",
    [
        (WRITE, READ),
        (READ,),
        (READ, WRITE, tool("list", "Lists files")),
        (READ, replace(WRITE, raw=WRITE.raw.replace("Writes", "Spoils"))),
        (reordered(READ), WRITE),
    ],
    ids=["order", "fewer", "more", "text", "keys"],
)
def test_other_tools_differ_within_it(way: Way, tools: tuple[Tool, ...]) -> None:
    plan, other = way.render(TALK), way.render(replace(TALK, tools=tools))
    if other.text == plan.text:
        assert way.case.name in KEYLESS
        return
    start, end, _ = rows_of(other)
    assert start <= parts_at(plan, other) < end + (way.case.name in OPEN)


@ways(*PICKY)
def test_other_system_text_differs_outside_of_it(way: Way) -> None:
    plan = way.render(TALK)
    start, end, head = rows_of(plan)
    row = parts_at(plan, way.render(OTHER_SYSTEM))
    assert (end <= row < head) if way.first else (row < start)


@ways(*PICKY)
def test_the_first_of_the_two_is_a_prefix_that_outlives_the_second(way: Way) -> None:
    plan = way.render(TALK)
    start, end, _ = rows_of(plan)
    kept, changed = (end, OTHER_SYSTEM) if way.first else (start, replace(TALK, tools=(WRITE,)))
    assert list(way.render(changed).ids[:kept]) == list(plan.ids[:kept])


@ways(*NO_PLACE_WITHOUT_SYSTEM)
def test_without_system_text_they_are_all_there_is(way: Way) -> None:
    plan = way.render(BARE)
    start, end, head = rows_of(plan)
    assert start <= parts_at(plan, way.render(replace(BARE, tools=(WRITE,)))) < end <= head


@ways()
def test_without_tools_there_is_no_place(way: Way) -> None:
    kinds = {boundary.kind for boundary in way.render(replace(TALK, tools=())).boundaries}
    assert not kinds & {BoundaryKind.TOOLS_START, BoundaryKind.TOOLS_END}


@pytest.mark.parametrize("case", [case for case in ALL_CASES if case.name in PICKY], ids=lambda c: c.name)
def test_tools_behind_the_beginning_have_no_place_in_it(case: Case) -> None:
    kinds = {boundary.kind for boundary in Way(case, first=True).render(TALK).boundaries}
    assert not kinds & {BoundaryKind.TOOLS_START, BoundaryKind.TOOLS_END}


@ways(*PICKY)
def test_it_is_named_with_the_message_that_follows(way: Way) -> None:
    """None where the template took another form than the client's own."""
    tools = [b for b in way.render(TALK).boundaries if b.kind is BoundaryKind.TOOLS_END]
    assert [b.message for b in tools] == [None if way.case.simple else 0 if way.first else 1]


@pytest.mark.parametrize(
    "change", ["messages[0].content[0] != 'B'", "tools and tools[0].function.name != 'read'"]
)
def test_better_no_place_than_a_wrong_one(change: str) -> None:
    """The template refuses to be rendered with a change."""
    source = (
        "{% if "
        + change
        + " %}{{ raise_exception('no') }}{% endif %}{{ tools | tojson }}"
        + "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>{% endfor %}"
    )
    renderer = PromptRenderer(ByteTokenizer(CHATML), source, FakeClock(), min_boundary_chars=0)
    kinds = {boundary.kind for boundary in renderer.render(TALK).boundaries}
    assert BoundaryKind.SYSTEM_END in kinds
    assert not kinds & {BoundaryKind.TOOLS_START, BoundaryKind.TOOLS_END}
