"""Conversations with a model of each family, as plans and records, without a server.

What the model samples is what the layout writes for an answer, cut into other tokens.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from ds4.api.services import Wished
from ds4.core.events import FinishReason, Stop
from ds4.core.job import JobKind
from ds4.core.messages import Conversation, Message, Role, TextPart, Tool, ToolCall
from ds4.core.plan import PromptPlan
from ds4.core.ports import Piece
from ds4.engine.scripted.bpe import packaged_bpe
from ds4.engine.scripted.reply import cut
from ds4.engine.scripted.tokenizer import ScriptedTokenizer
from ds4.formats.registry import family_named
from ds4.formats.spellings import Spellings
from ds4.kv.replay.meaning import Meaning
from ds4.kv.replay.notebook import Notebook, Options
from ds4.kv.replay.record import Record
from ds4.kv.replay.replayer import Replayer
from ds4.prompt.renderer import PromptRenderer
from ds4.schedule.transcript import Transcript
from ds4.testing.backend import ignore
from ds4.testing.clock import FakeClock
from ds4.testing.ids import SequentialIds
from ds4.wiring import AnswerStyle, readers

LOOK = Tool("look", '{"name": "look", "parameters": {"properties": {"path": {"type": "string"}}}}')
FAMILIES = ("deepseek-v4", "deepseek-v4.1", "glm-5.2", "qwen3.8", "chatml")


def say(role: Role, text: str) -> Message:
    return Message(role, (TextPart(text),))


class Model:
    """`template` is Jinja source; without one, the family's own layout writes the prompts."""

    def __init__(self, family: str, template: str = "") -> None:
        self.family = family_named(family)
        self.tokenizer = _tokenizer(family)
        self.renderer = _renderer(family, template or self.family.template)
        self._layout = _renderer(family, self.family.template)
        asked = self._layout.render(conversation([say(Role.USER, "q")]))
        marker = self.text(asked.ids[asked.answer_start :].tolist())
        self._marker = marker.removesuffix("<think>\n").removesuffix("<think>")
        style = AnswerStyle(self.family.reasoning, self.family.tool_format)
        self._readers = readers(style, self.tokenizer, SequentialIds(), ignore)

    def plan(self, messages: Sequence[Message]) -> PromptPlan:
        return self.renderer.render(conversation(messages))

    def replayed(self, messages: Sequence[Message], notebook: Notebook) -> PromptPlan:
        return Replayer(notebook, self.tokenizer).replay(self.plan(messages), conversation(messages))

    def record(self, messages: Sequence[Message], answer: Message, notebook: Notebook) -> Record | None:
        """What is remembered when the model answers `messages` with `answer`."""
        plan = self.replayed(messages, notebook)
        spellings = Spellings(self.tokenizer.controls)
        ids = cut(self.tokenizer, spellings, self.written(answer, plan.text), seed=len(messages))
        transcript = self.heard(plan, ids)
        return transcript.record(plan, Stop(FinishReason.STOP), self.tokenizer.is_eog)

    def written(self, answer: Message, prompt: str) -> str:
        """The answer as the model would write it, behind `prompt`."""
        said = replace(answer, reasoning=None)
        plan = self._layout.render(conversation((say(Role.USER, "q"), said, say(Role.TOOL, "r"))))
        turn = plan.turns[0]
        body = self.text(plan.ids[turn.start : turn.end].tolist()).removeprefix(self._marker)
        for nothing in ("<think>\n\n</think>\n\n", "<think></think>", "</think>"):
            body = body.removeprefix(nothing)
        thoughts = answer.reasoning or ""
        if prompt.endswith("<think>"):
            return f"{thoughts}</think>{body}"
        if prompt.endswith("<think>\n"):
            return f"{thoughts}\n</think>\n\n{body}"
        lines = "\n" if self.family.reasoning.after_open else ""
        return f"<think>{lines}{thoughts}{lines}</think>{2 * lines}{body}" if thoughts else body

    def heard(self, plan: PromptPlan, ids: Sequence[int]) -> Transcript:
        transcript = Transcript()
        reader = self._readers(Wished(JobKind.CHAT, plan, tools=(LOOK,)))
        for token in ids:
            piece = Piece(self.tokenizer.piece(token), token, self.tokenizer.is_control(token))
            transcript.sampled(token, reader.feed(piece).events)
        transcript.told(reader.flush().events)
        return transcript

    def said(self, ids: Sequence[int]) -> Meaning:
        """What a whole turn says, read as the model's own."""
        text = self.text(ids)
        assert text.startswith(self._marker)
        empty = PromptPlan.of(())
        return self.heard(empty, self.tokenizer.encode_raw(text.removeprefix(self._marker))).meaning

    def text(self, ids: Sequence[int]) -> str:
        return b"".join(map(self.tokenizer.piece, ids)).decode()


def notebook() -> Notebook:
    return Notebook(Options(), FakeClock())


def conversation(messages: Sequence[Message]) -> Conversation:
    return Conversation(tuple(messages), (LOOK,))


def answer(text: str, reasoning: str = "", paths: Sequence[str] = ()) -> Message:
    calls = tuple(ToolCall(f"c{n}", "look", _arguments(path)) for n, path in enumerate(paths))
    return Message(Role.ASSISTANT, (TextPart(text),) if text else (), reasoning or None, calls)


def _arguments(path: str) -> str:
    return f'{{"path": "{path}", "deep": {{"b": 1, "a": [true, null]}}}}'


@cache
def _tokenizer(family: str) -> ScriptedTokenizer:
    return ScriptedTokenizer(family_named(family), packaged_bpe())


@cache
def _renderer(family: str, template: str) -> PromptRenderer:
    return PromptRenderer(_tokenizer(family), template, FakeClock(), min_boundary_chars=0)
