"""pydantic-ai with its own loop, streamed and then whole."""

import asyncio

import task
from pydantic_ai import Agent


def model():
    if task.API == "messages":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(task.MODEL, provider=AnthropicProvider(base_url=task.URL, api_key=task.KEY))
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    kind = OpenAIChatModel if task.API == "chat" else OpenAIResponsesModel
    return kind(task.MODEL, provider=OpenAIProvider(base_url=f"{task.URL}/v1", api_key=task.KEY))


async def loop(streamed):
    agent = Agent(
        model(),
        instructions="You are helpful.",
        tools=[task.write_file],
        model_settings={"max_tokens": task.MAX_TOKENS},
    )
    # Its run_stream ends with the first text, so a handler of events makes it stream.
    handler = drained if streamed else None
    return (await agent.run(task.PROMPT, event_stream_handler=handler)).output


async def drained(_context, events):
    async for _event in events:
        pass


task.drive(lambda streamed: asyncio.run(loop(streamed)))
