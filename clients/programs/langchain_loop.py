"""A tool loop over LangChain's chat models, streamed and then whole."""

import task
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool


def model():
    if task.API == "messages":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(
            model=task.MODEL, base_url=task.URL, api_key=task.KEY, max_tokens=task.MAX_TOKENS, max_retries=0
        )
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(
        model=task.MODEL,
        base_url=f"{task.URL}/v1",
        api_key=task.KEY,
        use_responses_api=task.API == "responses",
        stream_usage=True,
        max_retries=0,
    )


def loop(streamed):
    write_file = tool(task.write_file)
    bound = model().bind_tools([write_file])
    messages = [HumanMessage(task.PROMPT)]
    for _ in range(task.ROUNDS):
        if streamed:
            pieces = iter(bound.stream(messages))
            answer = next(pieces)
            for piece in pieces:
                answer = answer + piece
        else:
            answer = bound.invoke(messages)
        assert answer.usage_metadata["output_tokens"]
        messages.append(answer)
        if not answer.tool_calls:
            return answer.text
        messages += [
            ToolMessage(write_file.invoke(call["args"]), tool_call_id=call["id"])
            for call in answer.tool_calls
        ]
    return None


task.drive(loop)
