"""Guides over the vocabularies of model files: what is forced spells what the grammar says, and a model that
is held to one finishes it, whatever its memory is."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_driver import Driver

from ds4.constrain.compiler import Compiler
from ds4.constrain.grammar import Grammar
from ds4.core.events import Event, Finish, FinishReason, Text
from ds4.core.sampling import Sampling
from ds4.engine.llama import LlamaTokenizer
from ds4.parsing.reader import text_reader
from ds4.schedule.scheduler import Delivery, Limits, Scheduler
from ds4.testing.backend import ignore
from ds4.testing.clock import FakeClock
from ds4.testing.jobs import make_job
from ds4.testing.tiny import tiny_model

pytest_plugins = ("llama_fixtures",)
pytestmark = pytest.mark.engine

TEXTS = (
    '<tool_call>\n{"name": "stock", "arguments": {"item": "',
    "\n\n  Grüße, 日本 🙂\t",
    "  x",
    "<think>",
    "12 34",
)
SIDES = 'start: /[ab]/ "{}" /[ab]/'


@pytest.fixture(scope="module", params=["llama", "gemma3", "deepseek4", "glm-dsa", "qwen35moe", "demo"])
def real(request: pytest.FixtureRequest, demo_path: Path) -> tuple[LlamaTokenizer, Compiler]:
    path = demo_path if request.param == "demo" else tiny_model(request.param)
    tokenizer = LlamaTokenizer.open(path)
    return tokenizer, Compiler(tokenizer, ("<think>", "</think>", "<tool_call>", "<｜DSML｜invoke"))


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_forced_spells_the_text(real: tuple[LlamaTokenizer, Compiler], text: str) -> None:
    tokenizer, compiler = real
    guide = compiler.guide(grammar(lark_grammar=SIDES.format(escaped(text))), "")
    guide.accept(tokenizer.encode_plain("a")[0])
    forced = guide.forced()
    spelled = b"".join(map(tokenizer.piece, forced))
    assert len(spelled) >= len(text.encode()) - 4, "but for what may become one token with what follows"
    assert text.encode().startswith(spelled)
    assert not set(forced) & set(compiler.words.ids.values())
    canonical = tokenizer.encode_plain(text)
    assert list(forced[:-2]) == canonical[: max(0, len(forced) - 2)]


@given(st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn", "Co")), min_size=1, max_size=20))
def test_any_text_can_be_forced(real: tuple[LlamaTokenizer, Compiler], text: str) -> None:
    tokenizer, compiler = real
    guide = compiler.guide(grammar(lark_grammar=SIDES.format(escaped(text))), "", begun="a")
    said = b""
    while not guide.done:
        allowed = np.flatnonzero(guide.allowed()).tolist()
        token = (*guide.forced(), *allowed)[0]
        guide.accept(token)
        said += tokenizer.piece(token)
    assert said[:-1].decode() == text


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")


TREES, HEIGHTS = ("oak", "elm"), (1, 20)
RECORD = {
    "type": "object",
    "properties": {"name_of_the_tree": {"enum": TREES}, "its_height_in_meters": {"enum": HEIGHTS}},
    "required": ["name_of_the_tree", "its_height_in_meters"],
    "additionalProperties": False,
    "x-guidance": {"whitespace_flexible": False},
}


def grammar(**of: object) -> Grammar:
    return Grammar(json.dumps({"grammars": [of]}))


@pytest.mark.parametrize("arch", ["llama", "gemma3", "deepseek4", "qwen35moe"])
def test_a_model_is_held_to_it_whatever_its_memory_is(tiny: Callable[[str], Driver], arch: str) -> None:
    engine = tiny(arch).engine
    compiler = Compiler(engine.tokenizer, ())
    events: dict[str, list[Event]] = {"a": [], "b": []}

    def deliver(out: Sequence[Delivery]) -> None:
        for name, more in out:
            events[name] += more

    scheduler = Scheduler(engine, Limits(quantum=8, chunk=32), FakeClock(), ignore, deliver)
    for name in events:
        ids = engine.tokenizer.encode_plain("Which tree stands by the river? " * 4)
        sampling = Sampling(temperature=1.5, seed=7)
        job = make_job(name, ids, max_tokens=80, reader=text_reader(), sampling=sampling)
        job = replace(job, guide=compiler.guide(grammar(json_schema=RECORD), "") if name == "a" else None)
        scheduler.submit(job, 80)
    steps = 0
    while scheduler.turn():
        steps += 1
        assert scheduler.faults() == []
    text = "".join(event.text for event in events["a"] if isinstance(event, Text))
    end = events["a"][-1]
    assert isinstance(end, Finish)
    assert end.reason is FinishReason.STOP
    found = json.loads(text)
    assert found["name_of_the_tree"] in TREES
    assert found["its_height_in_meters"] in HEIGHTS
    assert isinstance(events["b"][-1], Finish)
