"""Users report: a prompt that is too long is cut silently, or refused in words their client does not
know, so that it never compacts."""

import asyncio

from ds4.testing.inside import Setting, chat_body, inside


def test_overflow_is_a_400_before_the_stream_in_words_clients_know() -> None:
    async def body() -> None:
        desk = inside(lambda prompt: "ok", Setting(n_ctx=256))  # noqa: ARG005
        value = chat_body(("user", "word " * 1000), stream=True)
        reply = await desk.client.post("/v1/chat/completions", value)
        error = reply.json()["error"]
        assert reply.status == 400
        assert error["code"] == "context_length_exceeded"
        assert error["param"] == "messages"
        assert error["message"].startswith("This model's maximum context length is 256 tokens. However, ")
        assert error["n_prompt_tokens"] > error["n_ctx"] == 256

    asyncio.run(body())


def test_a_context_that_fills_up_ends_with_length() -> None:
    async def body() -> None:
        desk = inside(lambda prompt: "word " * 1000, Setting(n_ctx=256))  # noqa: ARG005
        answer = await desk.chat(("user", "go"), max_tokens=64000)
        assert answer["choices"][0]["finish_reason"] == "length"
        assert answer["usage"]["total_tokens"] == 256

    asyncio.run(body())
