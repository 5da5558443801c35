"""Drives the scripted engine as a scheduler would."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ds4.core.plan import Ids
from ds4.core.ports import Engine, Sampler
from ds4.core.sampling import Sampled, Sampling
from ds4.core.step import Outcome, StepPlan, Trim, Work
from ds4.engine.scripted.bpe import packaged_bpe
from ds4.engine.scripted.cost import Cost
from ds4.engine.scripted.engine import ScriptedEngine, ScriptedOptions
from ds4.engine.scripted.tokenizer import ScriptedTokenizer
from ds4.formats.registry import family_named

TOKENIZER = ScriptedTokenizer(family_named("chatml"), packaged_bpe())
GREEDY = Sampling(temperature=0.0)


def echo(prompt: str) -> str:
    """The whole prompt, without the end tokens, which would end the answer."""
    return "You said: " + prompt.replace("<|im_end|>", ".")


OPTIONS = ScriptedOptions(
    script=echo,
    family=family_named("chatml"),
    n_ctx=512,
    n_slots=3,
    n_batch=64,
    window=8,
    tokenizer=TOKENIZER,
)


def opened(
    script: Callable[[str], str] | None = None, *, trim: Trim = Trim.ANY, cost: Cost | None = None
) -> ScriptedEngine:
    return ScriptedEngine.open(replace(OPTIONS, script=script or OPTIONS.script, trim=trim, cost=cost))


@dataclass
class Run:
    """A job in a slot, as a scheduler would drive it."""

    engine: Engine
    slot: int
    ids: list[int]
    sampling: Sampling = GREEDY
    said: list[Sampled] = field(default_factory=list)
    sampler: Sampler = field(init=False)

    def __post_init__(self) -> None:
        self.sampler = self.engine.sampler(self.sampling, self.ids)

    def prefill(self, reused: int = 0, chunk: int = 64) -> None:
        for at in range(reused, len(self.ids), chunk):
            rows = self.ids[at : at + chunk]
            last = at + len(rows) == len(self.ids)
            self.take(self.engine.step(StepPlan((self.work(rows, at, last),))).outcomes[0])

    def work(self, rows: Sequence[int], pos: int, sample: bool) -> Work:
        return Work(self.slot, pos, np.array(rows, np.int32), self.sampler if sample else None)

    def next(self) -> Work:
        return self.work([self.ids[-1]], len(self.ids) - 1, True)

    def take(self, outcome: Outcome) -> None:
        if outcome.error is not None:
            raise outcome.error
        for sampled in outcome.tokens:
            self.sampler.accept(sampled.id)
            self.said.append(sampled)
            self.ids.append(sampled.id)

    def force(self, text: str) -> None:
        """Replaces the last sample by `text`."""
        self.ids.pop()
        self.said.pop()
        start = len(self.ids)
        self.ids.extend(TOKENIZER.encode_raw(text))
        self.take(self.engine.step(StepPlan((self.work(self.ids[start:], start, True),))).outcomes[0])

    def decode(self, limit: int = 200) -> str:
        while not TOKENIZER.is_eog(self.said[-1].id) and len(self.said) < limit:
            self.take(self.engine.step(StepPlan((self.next(),))).outcomes[0])
        return self.text

    @property
    def text(self) -> str:
        said = [sampled.id for sampled in self.said if not TOKENIZER.is_eog(sampled.id)]
        return b"".join(map(TOKENIZER.piece, said)).decode("utf-8", "replace")


def answer(engine: Engine, prompt: str, slot: int = 0, sampling: Sampling = GREEDY) -> Run:
    run = Run(engine, slot, TOKENIZER.encode_raw(prompt), sampling)
    run.prefill()
    run.decode()
    return run


def chat(question: str) -> str:
    return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"


def rows(*ids: int) -> Ids:
    return np.array(ids, np.int32)
