"""A request as jobs: one for each choice of each prompt.

Choices stand prompt by prompt: choice k of prompt p is number p * n + k, here and on the wire.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from ds4.api.openai.generation import MAX_SEED, Wanted
from ds4.api.openai.logprobs import Pieces
from ds4.api.services import GuideFactory, ReaderFactory, Wished
from ds4.core.job import Job
from ds4.core.sampling import Sampling


@dataclass(frozen=True, slots=True)
class Shape:
    """What the answer consists of. `pieces` spells tokens, when logprobs are wanted. `old_words`: a call is
    told as `function_call`. Calls of `custom` tools are told with their raw text."""

    prompts: int = 1
    n: int = 1
    include_usage: bool = False
    pieces: Pieces | None = None
    old_words: bool = False
    custom: frozenset[str] = frozenset()

    @property
    def choices(self) -> range:
        return range(self.prompts * self.n)


def jobs_of(
    request_id: str,
    wishes: Sequence[Wished],
    want: Wanted,
    reader: ReaderFactory,
    guide: GuideFactory,
    flags: tuple[str, ...] = (),
) -> tuple[Job, ...]:
    """Of one wish for each prompt, whose choices share it. The first job has the request's id, others add a
    number. Raises BadRequest."""
    return tuple(
        Job(
            id=f"{request_id}-{number}" if number else request_id,
            kind=wished.kind,
            plan=wished.plan,
            sampling=_varied(want.sampling, choice),
            max_tokens=want.max_tokens,
            reader=reader(wished),
            flags=flags,
            guide=guide(wished),
        )
        for number, (wished, choice) in enumerate(product(wishes, range(want.n)))
    )


def _varied(sampling: Sampling, choice: int) -> Sampling:
    """Choices differ also when a seed is given; the first is what n = 1 would give."""
    if sampling.seed is None or not choice:
        return sampling
    # Stays positive: only positive seeds count.
    return replace(sampling, seed=(sampling.seed + choice - 1) % MAX_SEED + 1)
