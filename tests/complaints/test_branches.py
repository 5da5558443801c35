"""Users report: what one slot has computed the others compute again: 8 branches, 8 prefills of one prompt."""

import asyncio

import pytest

from ds4.core.step import Trim
from ds4.observe.records import PrefillChunk
from ds4.testing.inside import Setting, inside

PREFIX = ("system", "You are a careful agent and know all of this: " + "some fact " * 1700)
BRANCHES = 8


@pytest.mark.parametrize("trim", list(Trim))
def test_branches_from_one_prefix_prefill_it_once(trim: Trim) -> None:
    async def body() -> None:
        desk = inside(lambda prompt: "ok", Setting(n_slots=BRANCHES, n_ctx=10_000, trim=trim))  # noqa: ARG005
        asked = [desk.chat(PREFIX, ("user", f"branch {n}")) for n in range(BRANCHES)]
        answers = await asyncio.gather(*asked)
        prompt = max(answer["usage"]["prompt_tokens"] for answer in answers)
        computed = sum(record.rows for record in desk.records if isinstance(record, PrefillChunk))
        assert prompt > 8000
        assert computed <= prompt + BRANCHES * 32

    asyncio.run(body())
