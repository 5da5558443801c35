"""Constrained answers in a trace: what their guides forced, and why there was none."""

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from reruns import lines_of, traced, verdict, without_texts

from ds4.api.services import Wished
from ds4.constrain.compiler import Compiler
from ds4.constrain.grammar import Grammar
from ds4.core.errors import BadRequest, EngineError
from ds4.core.ports import Guide
from ds4.engine.scripted.bpe import packaged_bpe
from ds4.engine.scripted.tokenizer import ScriptedTokenizer
from ds4.formats.registry import family_named
from ds4.observe.trace.reading import Run
from ds4.replay_command import told
from ds4.testing.inside import Inside, Setting, chat_body

GRAMMAR = 'start: "the old oak stands by the river, " /[ab]/ " and the gate is closed" /[ab]/'
TALK = ("user", "Say it.")
FORM = {"type": "json_object"}


@cache
def compiler() -> Compiler:
    return Compiler(ScriptedTokenizer(family_named("chatml"), packaged_bpe()), ())


@dataclass
class Guides:
    """What is asked for as JSON follows GRAMMAR. `broken`: after so many tokens the guide fails."""

    broken: int | None = None

    def __call__(self, wished: Wished) -> Guide | None:
        if wished.constraint is None:
            return None
        if "refuse" in wished.plan.text:
            raise BadRequest("this cannot be enforced", param="response_format.schema", code="too_hard")
        guide = compiler().guide(Grammar(json.dumps({"grammars": [{"lark_grammar": GRAMMAR}]})), "")
        return guide if self.broken is None else Breaking(guide, self.broken)


class Breaking:
    def __init__(self, guide: Guide, left: int) -> None:
        self._guide = guide
        self._left = left
        self.allows, self.allowed, self.forced = guide.allows, guide.allowed, guide.forced
        self.mark, self.rollback = guide.mark, guide.rollback

    @property
    def done(self) -> bool:
        return self._guide.done

    def accept(self, token: int) -> None:
        self._left -= 1
        if not self._left:
            raise EngineError("the constraint grew too complex")
        self._guide.accept(token)


async def play(server: Inside) -> None:
    ask = server.client.post
    for body in (
        chat_body(TALK, response_format=FORM),
        chat_body(TALK),
        chat_body(TALK, response_format=FORM, stream=True),
        chat_body(("user", "refuse"), response_format=FORM),
    ):
        await ask("/v1/chat/completions", body)


def run_with(guides: Guides) -> Run:
    return traced(play, setting=Setting(guide=guides))


def said(run: Run) -> list[Any]:
    return [words for line in lines_of(run) if line["at"] == "turn" for words in line.get("guide", ())]


def same(run: Run) -> None:
    found = verdict(run)
    assert found.same, "\n".join(told(found, verbose=False))


def test_what_was_forced_is_forced_again() -> None:
    run = run_with(Guides())
    guided = [line for line in lines_of(run) if line["at"] == "guided"]
    assert [line["guide"] for line in guided] == [True, True, False]
    assert any(words[0] == "forced" and len(words) > 5 for words in said(run))
    statuses = [line["status"] for line in lines_of(run) if line["at"] == "sent" and "status" in line]
    assert statuses == [200, 200, 200, 400]
    same(run)
    same(without_texts(run))


def test_a_guide_that_failed_fails_again() -> None:
    run = run_with(Guides(broken=3))
    assert any("failed" in words for words in said(run))
    same(run)
    same(without_texts(run))


def test_without_its_guides_a_trace_is_not_the_same() -> None:
    run = run_with(Guides())
    lines = [{name: value for name, value in line.items() if name != "guide"} for line in run.lines]
    assert not verdict(Run(run.head, list(lines))).same
