"""openai-agents with its own loop, streamed and then whole."""

import asyncio

import task
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

set_tracing_disabled(True)
KIND = OpenAIChatCompletionsModel if task.API == "chat" else OpenAIResponsesModel


async def loop(streamed):
    client = AsyncOpenAI(base_url=f"{task.URL}/v1", api_key=task.KEY, max_retries=0)
    agent = Agent(
        name="drive",
        instructions="You are helpful.",
        tools=[function_tool(task.write_file)],
        model=KIND(model=task.MODEL, openai_client=client),
    )
    if not streamed:
        return (await Runner.run(agent, task.PROMPT)).final_output
    run = Runner.run_streamed(agent, task.PROMPT)
    async for _event in run.stream_events():
        pass
    return run.final_output


task.drive(lambda streamed: asyncio.run(loop(streamed)))
