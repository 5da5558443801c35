"""Users report: emoji arrive as broken characters, cut by token borders or by max_tokens, and the
streamed text differs from the whole one."""

import asyncio

import pytest

from ds4.testing.inside import Setting, chat_body, inside, streamed_text, text_of
from thorough import some_of

FAMILY = "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}"
TEXT = f"so: {FAMILY} \N{WAVING HAND SIGN} \N{HEBREW LETTER SHIN}\N{HEBREW LETTER LAMED} caf\N{BULLET}"


@pytest.mark.parametrize("limit", some_of(range(1, 60), 3))
def test_every_cut_of_an_emoji(limit: int) -> None:
    async def body() -> None:
        desk = inside(lambda prompt: TEXT, Setting(n_slots=1))  # noqa: ARG005
        whole = text_of(await desk.chat(("user", "go"), max_tokens=limit))
        value = chat_body(("user", "go"), max_tokens=limit, stream=True)
        reply = await desk.client.post("/v1/chat/completions", value)
        streamed, _ = streamed_text(reply.body)
        assert streamed == whole
        complete = whole.rstrip("\N{REPLACEMENT CHARACTER}")
        assert TEXT.startswith(complete)
        assert "\N{REPLACEMENT CHARACTER}" not in complete

    asyncio.run(body())
