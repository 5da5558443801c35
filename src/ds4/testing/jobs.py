"""Jobs for tests that do not care about prompts or output."""

import numpy as np

from ds4.core.events import Fed
from ds4.core.job import Job, JobKind
from ds4.core.plan import PromptPlan
from ds4.core.ports import Piece, Reader
from ds4.core.sampling import Sampling

GREEDY = Sampling(temperature=0.0)


class SilentReader:
    """Makes nothing of anything."""

    def feed(self, piece: Piece) -> Fed:  # noqa: ARG002  (the protocol's signature)
        return Fed(())

    def flush(self, *, cut: bool = False) -> Fed:  # noqa: ARG002
        return Fed(())


def make_plan(ids: list[int], namespace: str = "") -> PromptPlan:
    return PromptPlan((), (), namespace, "", np.array(ids, dtype=np.int32))


def make_job(
    name: str,
    ids: list[int],
    *,
    max_tokens: int = 5,
    reader: Reader | None = None,
    sampling: Sampling = GREEDY,
    namespace: str = "",
) -> Job:
    plan = make_plan(ids, namespace)
    return Job(name, JobKind.CHAT, plan, sampling, max_tokens, reader or SilentReader())
