"""Users report: stop strings leak into the stream, swallow text before them, or lose what was held back."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from ds4.testing.inside import Setting, chat_body, inside, streamed_text, text_of

letters = st.text("ab ", min_size=1, max_size=40)
stops = st.lists(st.text("ab ", min_size=1, max_size=6), min_size=1, max_size=3)


def cut(text: str, among: list[str]) -> str:
    """Up to the stop string that is complete first; of several, the longest."""
    ends = [(text.find(stop) + len(stop), -len(stop)) for stop in among if stop in text]
    end, size = min(ends, default=(len(text), 0))
    return text[: end + size]


@given(letters, stops)
def test_text_ends_right_before_the_stop_string(said: str, among: list[str]) -> None:
    async def body() -> None:
        desk = inside(lambda prompt: said, Setting(n_slots=1))  # noqa: ARG005
        whole = await desk.chat(("user", "go"), stop=among)
        assert text_of(whole) == cut(said, among)
        reply = await desk.client.post(
            "/v1/chat/completions", chat_body(("user", "go"), stop=among, stream=True)
        )
        assert streamed_text(reply.body) == (cut(said, among), "stop")

    asyncio.run(body())
